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

// By the level of compression, the logarithm of how many bins are tried.
constexpr std::array<int, 10> kBinsLogs = {4, 4, 5, 6, 7, 8, 8, 9, 9, 10};

// Returns the logarithm of a power of two.
size_t Log2(int size) { return static_cast<size_t>(std::countr_zero(static_cast<unsigned>(size))); }

uint8_t ByteOf(NumberType type) {
  return static_cast<uint8_t>(static_cast<size_t>(type.kind) | Log2(type.size) << 2);
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
    const size_t whole = src.size() - src.size() % static_cast<size_t>(size);
    std::unique_ptr<pco::ChunkEncoder>& encoder = encoders_[Log2(size)];
    if (encoder == nullptr) encoder = pco::ChunkEncoder::Make(size);
    const pco::EncodedChunk& chunk =
        encoder->Encode(KindsOf(call.meta, size), src.first(whole), int64_t{1} << kPageLog,
                        kBinsLogs[static_cast<size_t>(std::clamp(call.clevel, 0, 9))]);
    return Write({.kind = chunk.kind, .size = size}, chunk, src, src.subspan(whole), dst);
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
      CAIRN_RETURN_IF_ERROR(DecodeColumn(head, type, records, end, src, in, dst.subspan(offset)));
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
  // Returns what the numbers may be. Where nobody says so, a sample of them tells.
  static std::vector<NumberKind> KindsOf(uint8_t meta, int size) {
    const bool may_be_float = size > 1;  // no float has one byte
    if (meta >= 1 && meta <= (may_be_float ? 3 : 2)) return {static_cast<NumberKind>(meta - 1)};
    if (size < 4) return {NumberKind::kInt};
    return {NumberKind::kInt, NumberKind::kFloat};
  }

  // Writes a stream of one column, and returns its size, or 0 if it does not fit.
  static size_t Write(NumberType type, const pco::EncodedChunk& chunk, Bytes src, Bytes rest,
                      MutableBytes dst) {
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
    size_t pages = 0;
    for (const size_t size : chunk.page_sizes) {
      out.Varint(size);
      pages += size;
    }
    const std::vector<std::byte> head = std::move(out).Take();
    const size_t size = head.size() + pages + rest.size();
    if (size > dst.size()) return 0;
    auto to = std::ranges::copy(head, dst.begin()).out;
    to = std::ranges::copy(Bytes(chunk.pages).first(pages), to).out;
    std::ranges::copy(rest, to);
    return size;
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
                            Bytes src, ByteReader& in, MutableBytes dst) {
    const Bytes description = in.Take(in.Varint("size of a description"), "description");
    const size_t page_size = PageBytes(head.page_log, type.size);
    const size_t bytes = records * static_cast<size_t>(type.size);
    page_sizes_.clear();
    for (size_t begin = 0; begin < bytes && in.ok(); begin += page_size) {
      page_sizes_.push_back(in.Varint("size of a page"));
    }
    if (!in.ok()) return in.status();
    pco::BitReader meta_bits(Padded(description, src));
    CAIRN_ASSIGN_OR_RETURN(pco::ChunkMeta meta, pco::ReadChunkMeta(head.version, type, meta_bits));
    std::unique_ptr<pco::ChunkDecoder>& decoder = decoders_[Log2(type.size)];
    if (decoder == nullptr) decoder = pco::ChunkDecoder::Make(type.size);
    decoder->BeginChunk(type.kind, std::move(meta));
    const size_t wanted = end * static_cast<size_t>(type.size);
    for (size_t i = 0; i < page_sizes_.size(); ++i) {
      const Bytes page = in.Take(page_sizes_[i], "page");
      if (!in.ok()) return in.status();
      const size_t begin = i * page_size;
      if (begin >= wanted) continue;
      pco::BitReader bits(Padded(page, src));
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

  // Returns bytes of a stream with others after them that a BitReader may read.
  Bytes Padded(Bytes bytes, Bytes stream) {
    const auto begin = static_cast<size_t>(bytes.data() - stream.data());
    const size_t size = bytes.size() + pco::kPadding;
    if (size <= stream.size() - begin) return stream.subspan(begin, size);
    padded_.assign(bytes.begin(), bytes.end());
    padded_.resize(size);
    return padded_;
  }

  // By the logarithm of the numbers' size:
  std::array<std::unique_ptr<pco::ChunkEncoder>, 4> encoders_;
  std::array<std::unique_ptr<pco::ChunkDecoder>, 4> decoders_;
  std::vector<uint64_t> page_sizes_;
  std::vector<std::byte> padded_;
  std::vector<std::byte> numbers_;
};

}  // namespace

std::unique_ptr<StreamCodec> MakePco() { return std::make_unique<Pco>(); }

}  // namespace cairn::codec
