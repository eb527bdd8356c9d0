#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/status.h"
#include "engine/codec/pco/chunk_decoder.h"
#include "engine/codec/pco/chunk_encoder.h"
#include "engine/codec/stream_codec.h"

// A stream begins with its version, the size that it decodes to (a varint), the logarithm of the
// numbers of a page, the number of columns (a varint) and the type of each: the kind in two bits,
// and above them the logarithm of the size. Then come the bytes of pco's version. A column has the
// size of its description (a varint), the description, the sizes of its pages (varints), and the
// pages. Bytes after the last whole record end the stream. docs/file-format.md has the details.
namespace cairn::codec {

namespace {

constexpr uint8_t kVersion = 1;
constexpr int kPageLog = 10;
constexpr int kMaxPageLog = 24;
constexpr uint8_t kPcoMajor = 4;
constexpr uint8_t kPcoMinor = 1;

using pco::NumberKind;
using pco::NumberType;

uint8_t ByteOf(NumberType type) {
  return static_cast<uint8_t>(static_cast<int>(type.kind) |
                              (std::countr_zero(static_cast<unsigned>(type.size)) << 2));
}

std::optional<NumberType> TypeOf(uint8_t byte) {
  const auto kind = static_cast<NumberKind>(byte & 3);
  const int size_log = byte >> 2;
  const int least = kind == NumberKind::kFloat ? 1 : 0;
  if ((byte & 3) > 2 || size_log > 3 || size_log < least) return std::nullopt;
  return NumberType{.kind = kind, .size = 1 << size_log};
}

// The numbers of a page that are bytes of `size` each.
size_t PageBytes(int page_log, int size) { return size_t{static_cast<unsigned>(size)} << page_log; }

// The head of a stream.
struct Head {
  uint64_t size = 0;  // bytes that the stream decodes to
  int page_log = 0;
  std::vector<NumberType> columns;
  size_t stride = 0;  // bytes of a record
  pco::Version version;
};

class Pco final : public StreamCodec {
 public:
  absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst, const PluginCall& call) override {
    dst = UsefulPart(src, dst);
    const auto size = static_cast<int>(call.typesize);
    if (!std::has_single_bit(static_cast<unsigned>(size)) || size > 8) return 0;
    std::vector<std::byte> best;
    for (const NumberKind kind : KindsOf(call.meta, size)) {
      std::vector<std::byte> stream = Encode({.kind = kind, .size = size}, src, call.clevel);
      if (best.empty() || stream.size() < best.size()) best = std::move(stream);
    }
    if (best.size() > dst.size()) return 0;
    std::ranges::copy(best, dst.begin());
    return best.size();
  }

  absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& call) override {
    return DecompressStart(src, dst, dst.size(), call);
  }

  absl::Status DecompressStart(Bytes src, MutableBytes dst, size_t wanted,
                               const PluginCall& /*call*/) override {
    ByteReader in(src, "pco stream");
    CAIRN_ASSIGN_OR_RETURN(const Head head, ReadHead(in));
    if (head.size != dst.size()) {
      return DataLoss("pco stream: expected %d decoded bytes, got %d", dst.size(), head.size);
    }
    const size_t records = dst.size() / head.stride;
    const size_t end = std::min((wanted + head.stride - 1) / head.stride, records);
    size_t offset = 0;
    for (const NumberType type : head.columns) {
      CAIRN_RETURN_IF_ERROR(DecodeColumn(head, type, records, end, in, dst.subspan(offset)));
      offset += static_cast<size_t>(type.size);
    }
    const MutableBytes rest = dst.subspan(records * head.stride);
    const Bytes stored = in.Take(rest.size(), "rest");
    if (!in.ok()) return in.status();
    std::ranges::copy(stored, rest.begin());
    if (in.remaining() != 0) return DataLoss("pco stream: %d bytes are left", in.remaining());
    return absl::OkStatus();
  }

 private:
  // Returns what the numbers may be. Where nobody says so, the smaller stream tells.
  static std::vector<NumberKind> KindsOf(uint8_t meta, int size) {
    const bool may_be_float = size > 1;  // no float has one byte
    if (meta >= 1 && meta <= (may_be_float ? 3 : 2)) return {static_cast<NumberKind>(meta - 1)};
    if (size < 4) return {NumberKind::kInt};
    return {NumberKind::kInt, NumberKind::kFloat};
  }

  std::vector<std::byte> Encode(NumberType type, Bytes src, int clevel) {
    constexpr std::array<int, 10> kBinsLogs = {4, 4, 5, 6, 7, 8, 8, 9, 9, 10};
    const size_t whole = src.size() - src.size() % static_cast<size_t>(type.size);
    const pco::EncodedChunk chunk =
        encoder_.Encode(type, src.first(whole), int64_t{1} << kPageLog,
                        kBinsLogs[static_cast<size_t>(std::clamp(clevel, 0, 9))]);
    ByteWriter out;
    out.U8(kVersion);
    out.Varint(src.size());
    out.U8(kPageLog);
    out.Varint(1);
    out.U8(ByteOf(type));
    out.U8(kPcoMajor);
    out.U8(kPcoMinor);
    out.Varint(chunk.meta.size());
    out.Append(chunk.meta);
    for (const std::vector<std::byte>& page : chunk.pages) out.Varint(page.size());
    for (const std::vector<std::byte>& page : chunk.pages) out.Append(page);
    out.Append(src.subspan(whole));
    return std::move(out).Take();
  }

  static absl::StatusOr<Head> ReadHead(ByteReader& in) {
    Head head;
    const uint8_t version = in.U8("version");
    head.size = in.Varint("decoded size");
    head.page_log = in.U8("numbers of a page");
    const uint64_t columns = in.Varint("columns");
    const Bytes types = in.Take(columns, "types");
    head.version = {.major = in.U8("major version"), .minor = in.U8("minor version")};
    if (!in.ok()) return in.status();
    if (version != kVersion) return Unimplemented("pco stream: version %d", version);
    if (head.version.major != kPcoMajor) {
      return Unimplemented("pco stream: version %d of the format", head.version.major);
    }
    if (head.page_log > kMaxPageLog) {
      return DataLoss("pco stream: pages of 2^%d numbers", head.page_log);
    }
    for (const std::byte byte : types) {
      const auto type = TypeOf(static_cast<uint8_t>(byte));
      if (!type) return DataLoss("pco stream: type %d", static_cast<int>(byte));
      head.columns.push_back(*type);
      head.stride += static_cast<size_t>(type->size);
    }
    if (head.stride == 0) return DataLoss("pco stream: no columns");
    return head;
  }

  // Decodes the first `end` of all `records` numbers of a column into records at `dst`.
  absl::Status DecodeColumn(const Head& head, NumberType type, size_t records, size_t end,
                            ByteReader& in, MutableBytes dst) {
    const Bytes description = in.Take(in.Varint("size of a description"), "description");
    const size_t page_size = PageBytes(head.page_log, type.size);
    const size_t bytes = records * static_cast<size_t>(type.size);
    page_sizes_.clear();
    for (size_t begin = 0; begin < bytes && in.ok(); begin += page_size) {
      page_sizes_.push_back(in.Varint("size of a page"));
    }
    if (!in.ok()) return in.status();
    pco::BitReader meta_bits(Padded(description));
    CAIRN_ASSIGN_OR_RETURN(pco::ChunkMeta meta, pco::ReadChunkMeta(head.version, type, meta_bits));
    std::unique_ptr<pco::ChunkDecoder>& decoder =
        decoders_[static_cast<size_t>(std::countr_zero(static_cast<unsigned>(type.size)))];
    if (decoder == nullptr) decoder = pco::ChunkDecoder::Make(type.size);
    decoder->BeginChunk(type.kind, std::move(meta));
    const size_t wanted = end * static_cast<size_t>(type.size);
    for (size_t i = 0; i < page_sizes_.size(); ++i) {
      const Bytes page = in.Take(page_sizes_[i], "page");
      if (!in.ok()) return in.status();
      const size_t begin = i * page_size;
      if (begin >= wanted) continue;
      pco::BitReader bits(Padded(page));
      CAIRN_RETURN_IF_ERROR(DecodePage(*decoder, head.stride, type, begin,
                                       std::min(page_size, bytes - begin), bits, dst));
    }
    return absl::OkStatus();
  }

  // Decodes the `size` bytes of a column's numbers from byte `begin` on.
  absl::Status DecodePage(pco::ChunkDecoder& decoder, size_t stride, NumberType type, size_t begin,
                          size_t size, pco::BitReader& bits, MutableBytes dst) {
    const auto width = static_cast<size_t>(type.size);
    if (stride == width) return decoder.DecodePage(bits, dst.subspan(begin, size));
    numbers_.resize(size);
    CAIRN_RETURN_IF_ERROR(decoder.DecodePage(bits, numbers_));
    std::byte* to = dst.data() + begin / width * stride;
    for (size_t at = 0; at < size; at += width, to += stride) {
      std::copy_n(numbers_.data() + at, width, to);
    }
    return absl::OkStatus();
  }

  // Returns the bytes with the zeros after them that a BitReader may read.
  Bytes Padded(Bytes bytes) {
    padded_.assign(bytes.begin(), bytes.end());
    padded_.resize(bytes.size() + pco::kPadding);
    return padded_;
  }

  pco::ChunkEncoder encoder_;
  std::array<std::unique_ptr<pco::ChunkDecoder>, 4> decoders_;  // by the logarithm of the size
  std::vector<uint64_t> page_sizes_;
  std::vector<std::byte> padded_;
  std::vector<std::byte> numbers_;
};

}  // namespace

std::unique_ptr<StreamCodec> MakePco() { return std::make_unique<Pco>(); }

}  // namespace cairn::codec
