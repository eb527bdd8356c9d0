#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <xxhash.h>

#include "engine/base/byte_reader.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/codec/stream_codec.h"

// A stream begins with its shape: a byte of dimensions, always 2, and the numbers of rows and of
// columns, 4 bytes each. Then it has the cells of 4x4 or 8x8 bytes, row by row. A cell is a token
// and the bytes that the token asks for. An offset has 2 bytes and is the distance from the token
// back to bytes of the stream that stand for rows of the cell. Cells that the border cuts are
// always literal.
namespace cairn::codec {

namespace {

constexpr uint8_t kLiteral = 0x00;    // all bytes of the cell
constexpr uint8_t kRun = 0x40;        // one byte, which fills the cell
constexpr uint8_t kCellMatch = 0xC0;  // an offset: all rows
constexpr size_t kMaxCell = 64;
constexpr size_t kHeader = 1 + 2 * sizeof(int32_t);

// A token for one offset, which gives some rows (bits of a mask, the first row lowest). The other
// rows follow.
struct RowMatch {
  uint8_t token;
  uint8_t rows;
};

// A token for two offsets, each for two rows.
struct DoublePair {
  uint8_t token;
  uint8_t first;
  uint8_t second;
};

constexpr RowMatch kTriples4[] = {{0xE8, 0b0111}, {0xF0, 0b1011}, {0xF8, 0b1101}, {0xE0, 0b1110}};
constexpr RowMatch kPairs4[] = {{0x88, 0b0011}, {0x90, 0b0101}, {0x98, 0b1001},
                                {0xB0, 0b0110}, {0xB8, 0b1010}, {0x80, 0b1100}};
constexpr DoublePair kDoublePairs4[] = {
    {0x28, 0b0011, 0b1100}, {0x30, 0b0101, 0b1010}, {0x38, 0b1001, 0b0110}};
constexpr RowMatch kTriples8[] = {{0xA8, 0x07}, {0xA9, 0x0E}, {0xAA, 0x1C},
                                  {0xAB, 0x38}, {0xAC, 0x70}, {0xAD, 0xE0}};
constexpr RowMatch kPairs8[] = {{0x88, 0x03}, {0x89, 0x06}, {0x8A, 0x0C}, {0x8B, 0x18},
                                {0x8C, 0x30}, {0x8D, 0x60}, {0x8E, 0xC0}};

// The matches of cells of one size, in the order in which an encoder tries them.
struct Form {
  size_t side;
  std::span<const DoublePair> double_pairs;
  std::span<const RowMatch> triples;
  std::span<const RowMatch> pairs;
  size_t cell_size() const { return side * side; }
};
constexpr Form kForm4 = {4, kDoublePairs4, kTriples4, kPairs4};
constexpr Form kForm8 = {8, {}, kTriples8, kPairs8};

const Form* FormOf(uint8_t meta) { return meta == 4 ? &kForm4 : (meta == 8 ? &kForm8 : nullptr); }

// Calls visit(row) for each row of the mask, or for each of the others.
template <typename Visit>
void ForEachRow(const Form& form, uint8_t rows, bool others, const Visit& visit) {
  for (size_t row = 0; row < form.side; ++row) {
    if (((rows >> row & 1) != 0) != others) visit(row);
  }
}

// The place of a cell in its block, and the part of it that the border leaves.
struct CellPlace {
  size_t begin, rows, columns;
  bool IsCut(const Form& form) const { return rows < form.side || columns < form.side; }
};

// Calls visit(place) for each cell of a block until a call returns false.
template <typename Visit>
bool ForEachCell(const Form& form, size_t rows, size_t columns, const Visit& visit) {
  for (size_t row = 0; row < rows; row += form.side) {
    for (size_t column = 0; column < columns; column += form.side) {
      if (!visit(CellPlace{.begin = row * columns + column,
                           .rows = std::min(form.side, rows - row),
                           .columns = std::min(form.side, columns - column)})) {
        return false;
      }
    }
  }
  return true;
}

// Maps hashes of bytes to their places in the stream, or to 0.
class HashTable {
 public:
  static uint32_t SlotOf(Bytes bytes) { return XXH32(bytes.data(), bytes.size(), 1) >> 20; }
  uint32_t& operator[](uint32_t slot) { return places_[slot]; }

 private:
  std::array<uint32_t, 1 << 12> places_{};
};

// The places of rows in cells that were stored literally.
class RowTable {
 public:
  explicit RowTable(size_t kinds) : kinds_(kinds) {}
  uint32_t operator[](uint32_t slot) { return table_[slot]; }
  void ForgetNew() {
    for (Entry& entry : new_) entry.place = 0;
  }
  void SetNew(size_t row, uint32_t slot, size_t place) {
    new_[row] = {.slot = slot, .place = static_cast<uint32_t>(place)};
  }
  // The format's encoder adds rows only together with those from row 0 on. It then also clears the
  // slots that it used last for rows which are known already.
  void AddNew() {
    if (new_[0].place == 0) return;
    for (size_t row = 0; row < kinds_; ++row) table_[new_[row].slot] = new_[row].place;
  }

 private:
  struct Entry {
    uint32_t slot = 0;
    uint32_t place = 0;
  };
  HashTable table_;
  std::array<Entry, 8> new_{};  // by the first row
  size_t kinds_;
};

struct Tables {
  explicit Tables(const Form& form) : triples(form.side - 2), pairs(form.side - 1) {}
  HashTable cells;
  RowTable triples;
  RowTable pairs;
};

// Codes one block; the bytes are those that C-Blosc2 writes.
class Encoder {
 public:
  Encoder(const Form& form, Bytes src, MutableBytes dst)
      : form_(form), src_(src), dst_(dst), tables_(std::make_unique<Tables>(form)) {}

  // Returns the size, or 0 if the stream does not fit.
  size_t Run(int32_t rows, int32_t columns) {
    const size_t least = kHeader + 8 + (src_.size() / form_.cell_size() - 1) * 2;
    if (src_.size() < form_.cell_size() || dst_.size() < least) return 0;
    Put(2);
    for (const int32_t extent : {rows, columns}) {
      StoreLe(dst_.data() + end_, extent);
      end_ += sizeof(extent);
    }
    const bool fits = ForEachCell(form_, static_cast<size_t>(rows), static_cast<size_t>(columns),
                                  [&](const CellPlace& place) {
                                    if (end_ + 1 + form_.cell_size() > dst_.size()) return false;
                                    EncodeCell(place, static_cast<size_t>(columns));
                                    return true;
                                  });
    return fits ? end_ : 0;
  }

 private:
  static constexpr size_t kMaxDistance = 65534;

  void Put(uint8_t byte) { dst_[end_++] = std::byte{byte}; }
  void Put(Bytes bytes) {
    CopyBytes(bytes, dst_.subspan(end_));
    end_ += bytes.size();
  }
  void PutOffset(size_t token, size_t place) {
    StoreLe(dst_.data() + end_, static_cast<uint16_t>(token - place));
    end_ += sizeof(uint16_t);
  }
  Bytes Row(size_t row) const { return Bytes(cell_).subspan(row * form_.side, form_.side); }
  bool Repeats(uint32_t place, Bytes bytes) const {
    return place != 0 && std::ranges::equal(bytes, dst_.subspan(place, bytes.size()));
  }

  void EncodeCell(const CellPlace& place, size_t columns) {
    const auto row_of_block = [&](size_t row) {
      return src_.subspan(place.begin + row * columns, place.columns);
    };
    if (place.IsCut(form_)) {
      Put(kLiteral);
      for (size_t row = 0; row < place.rows; ++row) Put(row_of_block(row));
      return;
    }
    const MutableBytes cell = MutableBytes(cell_).first(form_.cell_size());
    for (size_t row = 0; row < form_.side; ++row) {
      CopyBytes(row_of_block(row), cell.subspan(row * form_.side));
    }
    if (IsRun(cell)) {
      Put(kRun);
      Put(cell.first(1));
      return;
    }
    uint32_t& known = tables_->cells[HashTable::SlotOf(cell)];
    if (Repeats(known, cell) && end_ - known <= kMaxDistance) {
      Put(kCellMatch);
      PutOffset(end_ - 1, known);
      return;
    }
    if (EncodeDoublePair() || EncodeRows(form_.triples, tables_->triples) ||
        EncodeRows(form_.pairs, tables_->pairs)) {
      return;
    }
    known = static_cast<uint32_t>(end_ + 1);
    tables_->triples.AddNew();
    tables_->pairs.AddNew();
    Put(kLiteral);
    Put(cell);
  }

  // Copies the rows of a mask side by side.
  Bytes Gather(uint8_t rows) {
    size_t done = 0;
    ForEachRow(form_, rows, false, [&](size_t row) {
      CopyBytes(Row(row), MutableBytes(gathered_).subspan(done));
      done += form_.side;
    });
    return Bytes(gathered_).first(done);
  }

  // Returns true if a match can lead to `place`. `first` is its first row. C-Blosc2 adds the bytes
  // of a match to the offsets of small cells, in 16 bits, so offsets that it could not read back
  // are left out.
  bool IsNear(uint32_t place, size_t first, size_t match_size) const {
    const size_t most =
        form_.side == 4 ? std::numeric_limits<uint16_t>::max() - match_size : kMaxDistance;
    return end_ + first * form_.side - place <= kMaxDistance && end_ - place <= most;
  }

  std::optional<uint32_t> FindPair(uint8_t rows, size_t first) {
    const Bytes bytes = Gather(rows);
    const uint32_t place = tables_->pairs[HashTable::SlotOf(bytes)];
    constexpr size_t kMatchSize = 5;
    if (!Repeats(place, bytes) || !IsNear(place, first, kMatchSize)) return std::nullopt;
    return place;
  }

  bool EncodeDoublePair() {
    for (const DoublePair& match : form_.double_pairs) {
      const auto first = FindPair(match.first, 0);
      if (!first.has_value()) continue;
      const auto second =
          FindPair(match.second, static_cast<size_t>(std::countr_zero(match.second)));
      if (!second.has_value()) continue;
      const size_t token = end_;
      Put(match.token);
      PutOffset(token, *first);
      PutOffset(token, *second);
      return true;
    }
    return false;
  }

  bool EncodeRows(std::span<const RowMatch> matches, RowTable& table) {
    table.ForgetNew();
    for (const RowMatch& match : matches) {
      const Bytes bytes = Gather(match.rows);
      const uint32_t slot = HashTable::SlotOf(bytes);
      const uint32_t place = table[slot];
      const auto first = static_cast<size_t>(std::countr_zero(match.rows));
      const bool adjacent = std::has_single_bit((unsigned{match.rows} >> first) + 1);
      if (place == 0 && adjacent) table.SetNew(first, slot, end_ + 1 + first * form_.side);
      constexpr size_t kMatchSize = 3;
      if (!Repeats(place, bytes) || !IsNear(place, first, kMatchSize)) continue;
      const size_t token = end_;
      Put(match.token);
      PutOffset(token, place);
      ForEachRow(form_, match.rows, true, [&](size_t row) { Put(Row(row)); });
      return true;
    }
    return false;
  }

  const Form& form_;
  const Bytes src_;
  const MutableBytes dst_;
  const std::unique_ptr<Tables> tables_;
  size_t end_ = 0;
  std::array<std::byte, kMaxCell> cell_;
  std::array<std::byte, kMaxCell> gathered_;
};

// Decodes one stream. Reads it only inside its bounds.
class NdlzDecoder {
 public:
  NdlzDecoder(const Form& form, Bytes src, MutableBytes dst)
      : form_(form), src_(src), dst_(dst), reader_(src, "NDLZ stream") {}

  absl::Status Run() {
    reader_.Expect(2, "dimensions");
    const auto rows = reader_.Le<int32_t>("rows");
    const auto columns = reader_.Le<int32_t>("columns");
    if (reader_.ok() && (rows <= 0 || columns <= 0 ||
                         int64_t{rows} * columns != static_cast<int64_t>(dst_.size()))) {
      reader_.Fail("shape", "%d x %d is not a block of %d bytes", rows, columns, dst_.size());
    }
    CAIRN_RETURN_IF_ERROR(reader_.status());
    ForEachCell(form_, static_cast<size_t>(rows), static_cast<size_t>(columns),
                [&](const CellPlace& place) {
                  const Bytes cell = ReadCell(place);
                  if (!reader_.ok()) return false;
                  for (size_t row = 0; row < place.rows; ++row) {
                    CopyBytes(cell.subspan(row * place.columns, place.columns),
                              dst_.subspan(place.begin + row * static_cast<size_t>(columns)));
                  }
                  return true;
                });
    if (reader_.ok() && reader_.remaining() > 0) {
      reader_.Fail("end", "%d bytes follow the last cell", reader_.remaining());
    }
    return reader_.status();
  }

 private:
  // Returns the cell's rows without a gap, or anything if the reader has failed.
  Bytes ReadCell(const CellPlace& place) {
    const size_t begin = reader_.offset();
    const uint8_t token = reader_.U8("token");
    if (token == kLiteral) return reader_.Take(place.rows * place.columns, "literal cell");
    if (place.IsCut(form_)) {
      reader_.Fail("token", "%d for a cell at the border", token);
      return {};
    }
    const MutableBytes cell = MutableBytes(cell_).first(form_.cell_size());
    if (token == kRun) {
      FillBytes(cell, static_cast<std::byte>(reader_.U8("value")));
      return cell;
    }
    if (token == kCellMatch) return Reference(begin, cell.size());
    for (const auto matches : {form_.triples, form_.pairs}) {
      const auto match = std::ranges::find(matches, token, &RowMatch::token);
      if (match == matches.end()) continue;
      CopyRows(begin, match->rows);
      ForEachRow(form_, match->rows, true,
                 [&](size_t row) { SetRow(row, reader_.Take(form_.side, "row")); });
      return cell;
    }
    const auto match = std::ranges::find(form_.double_pairs, token, &DoublePair::token);
    if (match == form_.double_pairs.end()) {
      reader_.Fail("token", "%d", token);
      return {};
    }
    CopyRows(begin, match->first);
    CopyRows(begin, match->second);
    return cell;
  }

  // Reads an offset and returns the bytes that it leads to.
  Bytes Reference(size_t token, size_t size) {
    const size_t offset = reader_.Le<uint16_t>("offset");
    if (!reader_.ok()) return {};
    if (offset > token || size > src_.size() - (token - offset)) {
      reader_.Fail("offset", "%d from byte %d leads out of %d", offset, token, src_.size());
      return {};
    }
    return src_.subspan(token - offset, size);
  }

  void SetRow(size_t row, Bytes bytes) {
    CopyBytes(bytes, MutableBytes(cell_).subspan(row * form_.side, form_.side));
  }

  void CopyRows(size_t token, uint8_t rows) {
    Bytes from = Reference(token, static_cast<size_t>(std::popcount(rows)) * form_.side);
    if (!reader_.ok()) return;
    ForEachRow(form_, rows, false, [&](size_t row) {
      SetRow(row, from.first(form_.side));
      from = from.subspan(form_.side);
    });
  }

  const Form& form_;
  const Bytes src_;
  const MutableBytes dst_;
  ByteReader reader_;
  std::array<std::byte, kMaxCell> cell_;
};

class Ndlz final : public StreamCodec {
 public:
  absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst, const PluginCall& call) override {
    const Form* const form = FormOf(call.meta);
    if (form == nullptr || call.blockshape.size() != 2) {
      return InvalidArgument("NDLZ: cells of %d and %d dimensions: expected 4 or 8, and 2",
                             call.meta, call.blockshape.size());
    }
    const int32_t rows = call.blockshape[0];
    const int32_t columns = call.blockshape[1];
    if (int64_t{rows} * columns != static_cast<int64_t>(src.size())) return 0;
    const size_t size =
        Encoder(*form, src, dst.first(std::min(src.size(), dst.size()))).Run(rows, columns);
    return size < src.size() ? size : 0;
  }

  absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& call) override {
    const Form* const form = FormOf(call.meta);
    if (form == nullptr) return DataLoss("NDLZ: cells of %d: expected 4 or 8", call.meta);
    return NdlzDecoder(*form, src, dst).Run();
  }
};

}  // namespace

std::unique_ptr<StreamCodec> MakeNdlz() { return std::make_unique<Ndlz>(); }

}  // namespace cairn::codec
