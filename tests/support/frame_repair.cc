#include "tests/support/frame_repair.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/chunk.h"
#include "engine/base/binary_value.h"
#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/endian.h"
#include "engine/base/hash.h"
#include "engine/chunk/special.h"
#include "engine/format/frame_header.h"
#include "engine/format/seal.h"
#include "engine/format/trailer.h"

namespace cairn::test {
namespace {

constexpr size_t kSizeAt = 0x10;

// Positions in the seal.
constexpr size_t kHeaderLenAt = 4;
constexpr size_t kHeaderHashAt = 64;
constexpr size_t kIndexHashAt = 72;
constexpr size_t kHeaderCopyAt = 80;
// Counted from the end of the copy. The number of runs and that of the pages in the first run come
// before it.
constexpr size_t kFirstPageAt = 4 + 4;

// The parts of a frame, as ranges of its bytes.
struct SealedFrame {
  format::FrameHeader header;
  format::Trailer trailer;
  MutableBytes header_bytes;
  MutableBytes chunks;
  MutableBytes index;  // to the trailer: the chunk may be shorter
  MutableBytes trailer_bytes;
};

std::optional<SealedFrame> Parse(MutableBytes frame) {
  SealedFrame parts;
  absl::StatusOr<format::FrameHeader> header = format::ParseFrameHeader(frame);
  if (!header.ok()) return std::nullopt;
  parts.header = *std::move(header);
  const int64_t header_len = parts.header.header_len;
  const bool contiguous = parts.header.layout == Layout::kContiguous;
  const int64_t area = contiguous ? parts.header.cbytes : 0;
  const int64_t size = parts.header.frame_size;
  if (size > std::ssize(frame) || !RangeFits(header_len, area, size)) return std::nullopt;
  const int64_t rest = size - header_len - area;
  if (rest < format::kTrailerTailSize) return std::nullopt;
  frame = frame.first(static_cast<size_t>(size));
  const absl::StatusOr<int64_t> trailer_size =
      format::ParseTrailerSize(frame.last(static_cast<size_t>(format::kTrailerTailSize)), rest);
  if (!trailer_size.ok()) return std::nullopt;
  parts.header_bytes = frame.first(static_cast<size_t>(header_len));
  parts.chunks = frame.subspan(static_cast<size_t>(header_len), static_cast<size_t>(area));
  parts.index = frame.subspan(static_cast<size_t>(header_len + area),
                              static_cast<size_t>(rest - *trailer_size));
  parts.trailer_bytes = frame.last(static_cast<size_t>(*trailer_size));
  absl::StatusOr<format::Trailer> trailer = format::ParseTrailer(parts.trailer_bytes);
  if (!trailer.ok()) return std::nullopt;
  parts.trailer = *std::move(trailer);
  return parts;
}

// Returns the content of the layer of that name, or nothing if there is none.
MutableBytes LayerContent(const SealedFrame& parts, std::string_view name) {
  for (const format::LayerPlace& place : parts.trailer.layers) {
    if (place.name != name) continue;
    const MutableBytes chunk = parts.trailer_bytes.subspan(static_cast<size_t>(place.begin),
                                                           static_cast<size_t>(place.size));
    const absl::StatusOr<Bytes> content = chunk::MemcpyedPayload(chunk);
    if (!content.ok()) return {};
    return chunk.subspan(static_cast<size_t>(content->data() - chunk.data()), content->size());
  }
  return {};
}

// Returns the chunk at the start of these bytes, or nothing if none can be there.
std::optional<Bytes> ChunkAt(Bytes bytes) {
  const absl::StatusOr<ChunkInfo> info = InspectChunk(bytes);
  if (!info.ok()) return std::nullopt;
  return bytes.first(static_cast<size_t>(info->cbytes));
}

void RepairTable(const SealedFrame& parts, Bytes entries, MutableBytes fingerprints,
                 MutableBytes sizes) {
  for (size_t i = 0; i < entries.size() / sizeof(uint64_t); ++i) {
    const auto entry = LoadLe<uint64_t>(&entries[i * sizeof(uint64_t)]);
    if (entry >= parts.chunks.size()) continue;
    const std::optional<Bytes> chunk = ChunkAt(parts.chunks.subspan(entry));
    if (!chunk.has_value()) continue;
    StoreLe(&fingerprints[i * sizeof(uint64_t)], format::HashChunk(*chunk));
    if (!sizes.empty()) {
      StoreLe(&sizes[i * sizeof(uint32_t)], static_cast<uint32_t>(chunk->size()));
    }
  }
}

// Repairs the hashes of the chunks and of the first page.
void RepairIndex(const SealedFrame& parts, Bytes index, MutableBytes page_hash) {
  const absl::StatusOr<ChunkInfo> info = InspectChunk(index);
  if (!info.ok() || info->nbytes > format::kPageEntries * 8) return;
  std::vector<std::byte> entries(static_cast<size_t>(info->nbytes));
  if (!DecompressChunk(index, entries).ok()) return;
  MutableBytes table = LayerContent(parts, format::kTableLayer);
  table = table.subspan(static_cast<size_t>(format::TableHeadSize(std::ssize(table))));
  const bool has_sizes = table.size() == entries.size() + entries.size() / 2;
  if (table.size() != entries.size() && !has_sizes) return;
  const MutableBytes fingerprints = table.first(entries.size());
  const MutableBytes sizes = table.subspan(entries.size());
  RepairTable(parts, entries, fingerprints, sizes);
  StoreLe(page_hash.data(), format::HashPage(entries, fingerprints, sizes));
}

void RepairSealLayer(const SealedFrame& parts, MutableBytes seal) {
  if (seal.size() < kBinaryHead + kHeaderCopyAt) return;
  seal = seal.subspan(kBinaryHead);
  StoreLe(&seal[kHeaderHashAt], Xxh3(parts.header_bytes));
  if (LoadLe<uint32_t>(&seal[kHeaderLenAt]) != parts.header_bytes.size()) return;
  MutableBytes rest = seal.subspan(kHeaderCopyAt);
  if (rest.size() < parts.header_bytes.size()) return;
  CopyBytes(parts.header_bytes, rest);
  rest = rest.subspan(parts.header_bytes.size());
  const std::optional<Bytes> index = ChunkAt(parts.index);
  if (!index.has_value()) return;
  StoreLe(&seal[kIndexHashAt], Xxh3(*index));
  if (rest.size() < kFirstPageAt + sizeof(uint64_t)) return;
  RepairIndex(parts, *index, rest.subspan(kFirstPageAt));
}

}  // namespace

void RepairFrameSize(MutableBytes frame) {
  constexpr size_t kFixed = 0x18;
  constexpr std::string_view kMagic("b2frame\0", 8);
  if (frame.size() < kFixed || AsText(frame.subspan(2, kMagic.size())) != kMagic) return;
  StoreBe(frame.data() + kSizeAt, uint64_t{frame.size()});
}

void RepairSeal(MutableBytes frame) {
  const std::optional<SealedFrame> parts = Parse(frame);
  if (!parts.has_value()) return;
  const uint8_t type = parts->trailer.fingerprint_type;
  if (type > static_cast<uint8_t>(FingerprintType::k128Bit)) return;
  RepairSealLayer(*parts, LayerContent(*parts, format::kSealLayer));
  const auto fingerprint = format::TrailerFingerprint(static_cast<FingerprintType>(type),
                                                      parts->trailer_bytes, parts->trailer.layers);
  CopyBytes(fingerprint, parts->trailer_bytes.last(fingerprint.size()));
}

void EditSeal(MutableBytes frame, absl::FunctionRef<void(format::Seal&)> edit) {
  const std::optional<SealedFrame> parts = Parse(frame);
  if (!parts.has_value()) return;
  const MutableBytes layer = LayerContent(*parts, format::kSealLayer);
  absl::StatusOr<format::Seal> seal = format::ParseSeal(layer, format::kMaxPages);
  if (!seal.ok()) return;
  edit(*seal);
  CopyBytes(format::EncodeSeal(*seal), layer);
  RepairSeal(frame);
}

}  // namespace cairn::test
