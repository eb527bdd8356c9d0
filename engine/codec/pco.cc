#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/codec/pco/chunk_decoder.h"
#include "engine/codec/pco/chunk_encoder.h"
#include "engine/codec/pco/stream_head.h"
#include "engine/codec/stream_codec.h"

// A stream begins with its head, and the columns follow. A column of numbers has the size of its
// description (a varint), the description, the sizes of its pages (varints), and the pages. One of
// bytes has their size as zstd codes them (a varint), and these. Bytes after the last whole record
// end the stream. docs/file-format.md has the details.
namespace cairn::codec {

namespace {

using pco::Column;
using pco::NumberKind;
using pco::StreamHead;

constexpr int kPageLog = 10;
// By the level of compression, the logarithm of how many bins are tried.
constexpr std::array<int, 10> kBinsLogs = {4, 4, 5, 6, 7, 8, 8, 9, 9, 10};

// Returns the logarithm of a power of two.
size_t Log2(int size) { return static_cast<size_t>(std::countr_zero(static_cast<unsigned>(size))); }

// Copies pieces of `width` bytes that lie `from_stride` and `to_stride` bytes apart.
template <size_t kWidth>
void CopyPiecesOf(size_t count, const std::byte* from, size_t from_stride, std::byte* to,
                  size_t to_stride) {
  for (size_t i = 0; i < count; ++i) {
    std::copy_n(from + i * from_stride, kWidth, to + i * to_stride);
  }
}

void CopyPieces(size_t width, size_t count, const std::byte* from, size_t from_stride,
                std::byte* to, size_t to_stride) {
  if (width == from_stride && width == to_stride) {
    std::copy_n(from, width * count, to);
  } else if (width == 1) {
    CopyPiecesOf<1>(count, from, from_stride, to, to_stride);
  } else if (width == 2) {
    CopyPiecesOf<2>(count, from, from_stride, to, to_stride);
  } else if (width == 4) {
    CopyPiecesOf<4>(count, from, from_stride, to, to_stride);
  } else if (width == 8) {
    CopyPiecesOf<8>(count, from, from_stride, to, to_stride);
  } else {
    for (size_t i = 0; i < count; ++i) {
      std::copy_n(from + i * from_stride, width, to + i * to_stride);
    }
  }
}

// A column in the decoded bytes.
struct Place {
  std::byte* first = nullptr;  // its part of the first record
  size_t stride = 0;           // bytes of a record
  size_t records = 0;
  // The wanted records:
  size_t begin = 0;
  size_t end = 0;
};

class Pco final : public StreamCodec {
 public:
  void UseColumns(std::span<const ItemColumn> columns) override {
    columns_.clear();
    for (const ItemColumn& column : columns) {
      const bool is_bytes = column.kind == 0;
      columns_.push_back(
          {.is_bytes = is_bytes,
           .type = {.kind = is_bytes ? NumberKind::kUint : static_cast<NumberKind>(column.kind - 1),
                    .size = column.size},
           .count = static_cast<size_t>(column.count)});
    }
  }

  absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst, const PluginCall& call) override {
    dst = UsefulPart(src, dst);
    std::vector<Column> columns = columns_;
    std::vector<NumberKind> kinds;
    if (columns.empty()) {
      const auto size = static_cast<int>(call.typesize);
      if (!std::has_single_bit(static_cast<unsigned>(size)) || size > 8) return 0;
      columns = {{.type = {.size = size}}};
      kinds = KindsOf(call.meta, size);
    }
    size_t stride = 0;
    for (const Column& column : columns) stride += column.width();
    const size_t records = src.size() / stride;
    ByteWriter body;
    const std::byte* first = src.data();
    for (Column& column : columns) {
      const Bytes values = Gather(first, column.width(), stride, records);
      first += column.width();
      if (column.is_bytes) {
        CAIRN_RETURN_IF_ERROR(EncodeBytes(values, call.clevel, body));
      } else {
        const std::span<const NumberKind> one(&column.type.kind, 1);
        column.type.kind =
            EncodeNumbers(column.type.size, kinds.empty() ? one : kinds, values, call.clevel, body);
      }
      if (body.size() > dst.size()) return 0;
    }
    body.Append(src.subspan(records * stride));
    ByteWriter head;
    WriteStreamHead(src.size(), kPageLog, columns, head);
    const size_t size = head.size() + body.size();
    if (size > dst.size()) return 0;
    CopyBytes(head.written(), dst);
    CopyBytes(body.written(), dst.subspan(head.size()));
    return size;
  }

  absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& call) override {
    return DecompressPart(src, dst, {.end = dst.size()}, call);
  }

  absl::Status DecompressStart(Bytes src, MutableBytes dst, size_t wanted,
                               const PluginCall& call) override {
    return DecompressPart(src, dst, {.end = wanted}, call);
  }

  absl::Status DecompressPart(Bytes src, MutableBytes dst, const StreamPart& part,
                              const PluginCall& /*call*/) override {
    ByteReader in(src, "pco stream");
    CAIRN_ASSIGN_OR_RETURN(const StreamHead head, pco::ReadStreamHead(in));
    if (head.size != dst.size()) {
      return DataLoss("pco stream: expected %d decoded bytes, got %d", dst.size(), head.size);
    }
    const size_t stride = head.stride;
    Place place = {.stride = stride, .records = dst.size() / stride};
    place.begin = std::min(part.begin / stride, place.records);
    place.end = std::min((part.end + stride - 1) / stride, place.records);
    size_t offset = 0;
    for (const Column& column : head.columns) {
      Place wanted = place;
      wanted.first = dst.data() + offset;
      if (!part.Wants(stride, offset, column.width())) wanted.end = wanted.begin;
      CAIRN_RETURN_IF_ERROR(column.is_bytes ? DecodeBytes(column, wanted, in)
                                            : DecodeNumbers(head, column, wanted, src, in));
      offset += column.width();
    }
    const MutableBytes rest = dst.subspan(place.records * stride);
    const Bytes stored = in.Take(rest.size(), "rest");
    if (!in.ok()) return in.status();
    CopyBytes(stored, rest);
    if (in.remaining() != 0) return DataLoss("pco stream: %d bytes are left", in.remaining());
    return absl::OkStatus();
  }

 private:
  // Returns what the numbers may be. Where nobody says so, a sample of them tells.
  static std::vector<NumberKind> KindsOf(uint8_t meta, int size) {
    const bool may_be_float = size > 1;  // no float has one byte
    if (meta >= 1 && meta <= (may_be_float ? 3 : 2)) return {static_cast<NumberKind>(meta - 1)};
    if (size < 4) return {NumberKind::kInt};
    return {NumberKind::kInt, NumberKind::kFloat};
  }

  // Returns the values of a column one after the other.
  Bytes Gather(const std::byte* first, size_t width, size_t stride, size_t records) {
    if (width == stride) return {first, records * width};
    values_.resize(records * width);
    CopyPieces(width, records, first, stride, values_.data(), width);
    return values_;
  }

  // Returns the kind that the numbers are encoded as.
  NumberKind EncodeNumbers(int size, std::span<const NumberKind> kinds, Bytes numbers, int clevel,
                           ByteWriter& out) {
    std::unique_ptr<pco::ChunkEncoder>& encoder = encoders_[Log2(size)];
    if (encoder == nullptr) encoder = pco::ChunkEncoder::Make(size);
    const int bins_log = kBinsLogs[static_cast<size_t>(std::clamp(clevel, 0, 9))];
    const pco::EncodedChunk& chunk =
        encoder->Encode(kinds, numbers, int64_t{1} << kPageLog, bins_log);
    out.Varint(chunk.meta.size());
    out.Append(chunk.meta);
    size_t pages = 0;
    for (const size_t page : chunk.page_sizes) {
      out.Varint(page);
      pages += page;
    }
    out.Append(Bytes(chunk.pages).first(pages));
    return chunk.kind;
  }

  absl::Status EncodeBytes(Bytes bytes, int clevel, ByteWriter& out) {
    coded_.resize(bytes.size());
    size_t size = 0;
    if (!bytes.empty()) {
      CAIRN_ASSIGN_OR_RETURN(size, Zstd().Compress(bytes, coded_, {.clevel = clevel}));
    }
    // Bytes that do not get smaller are stored as they are.
    const Bytes stored = size == 0 ? bytes : Bytes(coded_).first(size);
    out.Varint(stored.size());
    out.Append(stored);
    return absl::OkStatus();
  }

  absl::Status DecodeBytes(const Column& column, const Place& place, ByteReader& in) {
    const Bytes stored = in.Take(in.Varint("size of a column"), "column");
    if (!in.ok()) return in.status();
    const size_t width = column.width();
    const size_t size = place.records * width;
    if (stored.size() > size) return DataLoss("pco stream: %d bytes as %d", size, stored.size());
    if (place.begin == place.end) return absl::OkStatus();
    Bytes values = stored;
    if (stored.size() < size) {
      values_.resize(size);
      CAIRN_RETURN_IF_ERROR(
          Zstd().DecompressStart(stored, values_, place.end * width, PluginCall()));
      values = values_;
    }
    CopyPieces(width, place.end - place.begin, values.data() + place.begin * width, width,
               place.first + place.begin * place.stride, place.stride);
    return absl::OkStatus();
  }

  absl::Status DecodeNumbers(const StreamHead& head, const Column& column, const Place& place,
                             Bytes src, ByteReader& in) {
    const Bytes description = in.Take(in.Varint("size of a description"), "description");
    const size_t page_count = size_t{1} << head.page_log;
    const size_t count = place.records * column.count;
    page_sizes_.clear();
    for (size_t begin = 0; begin < count && in.ok(); begin += page_count) {
      page_sizes_.push_back(in.Varint("size of a page"));
    }
    if (!in.ok()) return in.status();
    pco::ChunkDecoder* decoder = nullptr;
    for (size_t i = 0; i < page_sizes_.size(); ++i) {
      const Bytes page = in.Take(page_sizes_[i], "page");
      if (!in.ok()) return in.status();
      const size_t begin = i * page_count;
      const size_t end = std::min(begin + page_count, count);
      if (end <= place.begin * column.count || begin >= place.end * column.count) continue;
      if (decoder == nullptr) {
        CAIRN_ASSIGN_OR_RETURN(decoder, DecoderOf(head, column, Padded(description, src)));
      }
      pco::BitReader bits(Padded(page, src));
      CAIRN_RETURN_IF_ERROR(DecodePage(*decoder, column, begin, end, bits, place));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<pco::ChunkDecoder*> DecoderOf(const StreamHead& head, const Column& column,
                                               Bytes description) {
    pco::BitReader bits(description);
    CAIRN_ASSIGN_OR_RETURN(pco::ChunkMeta meta,
                           pco::ReadChunkMeta(head.version, column.type, bits));
    std::unique_ptr<pco::ChunkDecoder>& decoder = decoders_[Log2(column.type.size)];
    if (decoder == nullptr) decoder = pco::ChunkDecoder::Make(column.type.size);
    decoder->BeginChunk(column.type.kind, std::move(meta));
    return decoder.get();
  }

  // Decodes the numbers [begin, end) of a column.
  absl::Status DecodePage(pco::ChunkDecoder& decoder, const Column& column, size_t begin,
                          size_t end, pco::BitReader& bits, const Place& place) {
    const auto width = static_cast<size_t>(column.type.size);
    const size_t size = (end - begin) * width;
    if (place.stride == column.width()) {
      return decoder.DecodePage(bits, {place.first + begin * width, size});
    }
    values_.resize(size);
    CAIRN_RETURN_IF_ERROR(decoder.DecodePage(bits, values_));
    const std::byte* from = values_.data();
    // A record may begin in one page and end in the next.
    for (size_t at = begin; at < end;) {
      const size_t in_record = at % column.count;
      const size_t record = at / column.count;
      std::byte* const to = place.first + record * place.stride + in_record * width;
      const size_t whole = in_record == 0 ? (end - at) / column.count : 0;
      if (whole > 0) {
        CopyPieces(column.width(), whole, from, column.width(), to, place.stride);
        from += whole * column.width();
        at += whole * column.count;
      } else {
        const size_t some = std::min(column.count - in_record, end - at);
        std::copy_n(from, some * width, to);
        from += some * width;
        at += some;
      }
    }
    return absl::OkStatus();
  }

  // Returns bytes of a stream with others after them that a BitReader may read.
  Bytes Padded(Bytes bytes, Bytes stream) {
    const auto begin = static_cast<size_t>(bytes.data() - stream.data());
    const size_t size = bytes.size() + pco::kPadding;
    if (size <= stream.size() - begin) return stream.subspan(begin, size);
    padded_.assign(bytes.begin(), bytes.end());
    padded_.resize(size);
    return padded_;
  }

  StreamCodec& Zstd() {
    if (zstd_ == nullptr) zstd_ = MakeZstd();
    return *zstd_;
  }

  std::vector<Column> columns_;  // of the items; empty if they are numbers
  // By the logarithm of the numbers' size:
  std::array<std::unique_ptr<pco::ChunkEncoder>, 4> encoders_;
  std::array<std::unique_ptr<pco::ChunkDecoder>, 4> decoders_;
  std::unique_ptr<StreamCodec> zstd_;  // for bytes
  std::vector<uint64_t> page_sizes_;
  std::vector<std::byte> padded_;
  std::vector<std::byte> values_;
  std::vector<std::byte> coded_;
};

}  // namespace

std::unique_ptr<StreamCodec> MakePco() { return std::make_unique<Pco>(); }

}  // namespace cairn::codec
