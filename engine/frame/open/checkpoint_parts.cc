#include "engine/frame/open/checkpoint_parts.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/chunk/special.h"
#include "engine/format/index_entry.h"

namespace cairn::frame {

namespace {

// The thread counts, which every writer sets as it likes, are D1 i16 D1 i16.
constexpr size_t kThreadsBegin = 0x3E;
constexpr size_t kThreadsEnd = 0x44;

std::string Hex(Bytes bytes) {
  const std::string_view text = AsText(bytes);
  return absl::BytesToHexString(absl::string_view(text.data(), text.size()));
}

std::optional<FingerprintType> TypeOf(const format::Trailer& trailer) {
  constexpr auto kLast = static_cast<uint8_t>(FingerprintType::k128Bit);
  if (trailer.fingerprint_type > kLast) return std::nullopt;
  return static_cast<FingerprintType>(trailer.fingerprint_type);
}

absl::StatusOr<format::Seal> ParseSealLayer(const format::LayerPlace& layer, Bytes trailer_bytes,
                                            int64_t max_pages) {
  CAIRN_ASSIGN_OR_RETURN(const Bytes payload,
                         chunk::MemcpyedPayload(format::ContentOf(layer, trailer_bytes)));
  return format::ParseSeal(payload, max_pages);
}

// Returns true if `position` may differ from the sealed header without a new trailer. C-Blosc2
// updates the content of metalayers that way, and sets the thread counts at the same time.
bool MayChangeOutside(const format::FrameHeader& header, size_t position) {
  if (position >= kThreadsBegin && position < kThreadsEnd) return true;
  return std::ranges::any_of(header.places, [&](const format::LayerPlace& place) {
    return static_cast<int64_t>(position) >= place.begin &&
           static_cast<int64_t>(position) < place.begin + place.size;
  });
}

// Compares the header with its sealed copy. Returns true if it was changed outside.
absl::StatusOr<bool> CheckHeader(Bytes header, const format::Seal& seal) {
  if (Xxh3(header) == seal.header_hash) return false;
  if (seal.header_copy.size() != header.size()) {
    return DataLoss("frame header: header_len: expected %d, got %d", seal.header_copy.size(),
                    header.size());
  }
  // The sealed header tells where metalayers lie. The changed one may claim anything.
  CAIRN_ASSIGN_OR_RETURN(const format::FrameHeader sealed,
                         format::ParseFrameHeader(seal.header_copy));
  for (size_t i = 0; i < header.size(); ++i) {
    if (header[i] != seal.header_copy[i] && !MayChangeOutside(sealed, i)) {
      return DataLoss("frame header: byte %d: expected 0x%02x, got 0x%02x", i,
                      std::to_integer<int>(seal.header_copy[i]), std::to_integer<int>(header[i]));
    }
  }
  return true;
}

absl::StatusOr<std::optional<IndexSeal>> OpenTable(const format::Trailer& trailer,
                                                   const Chunk& trailer_chunk, int64_t nchunks,
                                                   format::Seal& seal) {
  const format::LayerPlace* const layer = format::FindLayer(trailer.layers, format::kTableLayer);
  if (layer == nullptr) {
    return DataLoss("trailer: the vlmetalayer %s is missing", format::kTableLayer);
  }
  if (nchunks == 0) return std::nullopt;
  Chunk content(format::ContentOf(*layer, trailer_chunk.bytes()), trailer_chunk.owner());
  CAIRN_ASSIGN_OR_RETURN(ChunkTable table, ChunkTable::Open(std::move(content), nchunks));
  return IndexSeal{.table = std::move(table),
                   .pages = std::move(seal.pages),
                   .index_hash = seal.index_hash,
                   .uncovered = seal.uncovered};
}

}  // namespace

absl::StatusOr<std::vector<std::byte>> ReadHeaderBytes(const FrameFile& source, int64_t fixed,
                                                       int64_t least) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, source.Size());
  if (size < fixed) {
    return DataLoss(
        "frame header: the file is truncated: expected %d bytes or more, got %d; copy "
        "it again from where it is complete",
        fixed, size);
  }
  std::vector<std::byte> bytes(static_cast<size_t>(fixed));
  CAIRN_RETURN_IF_ERROR(source.ReadAt(0, bytes));
  CAIRN_ASSIGN_OR_RETURN(const int64_t header_len, format::ParseHeaderLength(bytes, least));
  if (header_len > size) {
    return DataLoss(
        "frame header: the file is truncated or damaged: header_len: expected up to the "
        "%d bytes of the file, got %d; copy it again from where it is complete",
        size, header_len);
  }
  // These bytes are not read again, because another process may be writing.
  bytes.resize(static_cast<size_t>(header_len));
  if (header_len <= fixed) return bytes;
  CAIRN_RETURN_IF_ERROR(
      source.ReadAt(fixed, MutableBytes(bytes).subspan(static_cast<size_t>(fixed))));
  return bytes;
}

absl::Status CheckFrameSize(const format::FrameHeader& header, int64_t least_trailer,
                            int64_t available) {
  const int64_t least = header.header_len + least_trailer;
  if (header.frame_size >= least && header.frame_size <= available) return absl::OkStatus();
  if (header.frame_size > available && header.frame_size >= least) {
    return DataLoss(
        "frame header: the file is truncated: expected the %d bytes of frame_size, got %d: the "
        "last %d are missing, and with them the index of the chunks; copy it again from where it "
        "is complete, or salvage the chunks that are left",
        header.frame_size, available, header.frame_size - available);
  }
  return DataLoss("frame header: frame_size: expected %d to %d, got %d", least, available,
                  header.frame_size);
}

absl::StatusOr<Chunk> PinTrailer(const FrameView& region, int64_t end, int64_t most) {
  CAIRN_ASSIGN_OR_RETURN(const Chunk tail,
                         region.Pin(end - format::kTrailerTailSize, format::kTrailerTailSize));
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, format::ParseTrailerSize(tail.bytes(), most));
  return region.Pin(end - size, size);
}

absl::StatusOr<int64_t> AgreeOnCount(const format::FrameHeader& header,
                                     const chunk::Header& index) {
  const int64_t in_index = index.nbytes / format::kIndexTypesize;
  const int64_t in_header =
      header.variable_chunks() ? in_index : CeilDiv<int64_t>(header.nbytes, header.chunksize);
  if (index.nbytes % format::kIndexTypesize != 0 || in_header != in_index || in_index == 0) {
    return DataLoss("index: nbytes: expected 8 for each of %d chunks, got %d", in_header,
                    index.nbytes);
  }
  if (header.variable_chunks() && in_index > MaxVariableChunks(header.cbytes)) {
    return DataLoss("index: %d chunks in an area of %d bytes", in_index, header.cbytes);
  }
  return in_header;
}

absl::StatusOr<FoundIndex> FindIndexChunk(const FrameView& region, Checkpoint& checkpoint) {
  const format::FrameHeader& header = checkpoint.header;
  FoundIndex found;
  if (header.nbytes == 0) return found;
  const std::optional<int64_t> begin = header.index_begin();
  const int64_t end = checkpoint.trailer.begin;
  if (!begin.has_value() || *begin > end) {
    return DataLoss("frame header: cbytes: expected up to %d, got %d", end - header.header_len,
                    header.cbytes);
  }
  const int64_t available = end - *begin;
  CAIRN_ASSIGN_OR_RETURN(const Chunk head,
                         region.Pin(*begin, std::min<int64_t>(available, chunk::kHeaderSize)));
  const absl::StatusOr<chunk::Header> index = chunk::ParseHeader(head.bytes(), available);
  if (!index.ok()) return Annotate(index.status(), "index");
  CAIRN_ASSIGN_OR_RETURN(found.nchunks, AgreeOnCount(header, *index));
  const int64_t limit = checkpoint.env->limits.max_nchunks;
  if (found.nchunks > limit) {
    return ResourceExhausted("index: %d chunks pass the limit of %d", found.nchunks, limit);
  }
  CAIRN_ASSIGN_OR_RETURN(found.chunk, region.Pin(*begin, index->cbytes));
  checkpoint.index = {*begin, *begin + index->cbytes};
  return found;
}

absl::Status AttachIndex(FoundIndex found, std::optional<IndexSeal> seal, State& state) {
  state.chunks_end = state.header().header_len;
  if (found.nchunks == 0) return absl::OkStatus();
  state.chunks_end = state.checkpoint->index.begin;
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const CommittedIndex> offsets,
                         CommittedIndex::Open(std::move(found.chunk), found.nchunks,
                                              std::move(seal), &state.env()->pool));
  state.chunks = ChunkIndex(std::move(offsets));
  return absl::OkStatus();
}

// The field must be empty for type 0. Otherwise a damaged type would pass for a frame without a
// seal.
absl::Status CheckTrailerFingerprint(const format::Trailer& trailer, Bytes trailer_bytes) {
  const std::optional<FingerprintType> type = TypeOf(trailer);
  if (!type.has_value()) {
    return DataLoss("trailer: fingerprint type %d is not known", trailer.fingerprint_type);
  }
  const auto expected = format::TrailerFingerprint(*type, trailer_bytes, trailer.layers);
  if (expected == trailer.fingerprint) return absl::OkStatus();
  return DataLoss("trailer: fingerprint: expected %s, got %s", Hex(trailer.fingerprint),
                  Hex(expected));
}

absl::StatusOr<std::optional<IndexSeal>> CheckSeal(const format::Trailer& trailer,
                                                   const Chunk& trailer_chunk, int64_t nchunks,
                                                   Checkpoint& checkpoint) {
  const Bytes trailer_bytes = trailer_chunk.bytes();
  const format::LayerPlace* const layer = format::FindLayer(trailer.layers, format::kSealLayer);
  // Only Cairn writes these layers. Without them the fingerprint field belongs to another writer.
  if (layer == nullptr && format::FindLayer(trailer.layers, format::kTableLayer) == nullptr) {
    return std::nullopt;
  }
  if (checkpoint.trailer_damage.ok()) {
    checkpoint.trailer_damage = CheckTrailerFingerprint(trailer, trailer_bytes);
  }
  checkpoint.fingerprint = TypeOf(trailer).value_or(FingerprintType::kNone);
  if (layer == nullptr || !checkpoint.trailer_damage.ok()) return std::nullopt;

  const bool intact = checkpoint.fingerprint != FingerprintType::kNone;
  absl::StatusOr<format::Seal> seal =
      ParseSealLayer(*layer, trailer_bytes, CeilDiv(nchunks, format::kPageEntries));
  if (!seal.ok()) {
    // Without a fingerprint, another program may have left the layer there.
    if (intact) checkpoint.trailer_damage = Annotate(seal.status(), "trailer");
    return std::nullopt;
  }
  const absl::StatusOr<bool> changed = CheckHeader(checkpoint.header_bytes, *seal);
  if (intact && !changed.ok()) return changed.status();
  std::optional<IndexSeal> index;
  if (intact) {
    CAIRN_ASSIGN_OR_RETURN(index, OpenTable(trailer, trailer_chunk, nchunks, *seal));
    checkpoint.header_changed_outside = *changed;
    checkpoint.sealed = !*changed && seal->uncovered == 0;
  }
  checkpoint.seal_holds = changed.ok();
  checkpoint.seal = *std::move(seal);
  return index;
}

absl::StatusOr<format::Seal> SealOf(const format::Trailer& trailer, Bytes trailer_bytes) {
  const format::LayerPlace* const layer = format::FindLayer(trailer.layers, format::kSealLayer);
  if (layer == nullptr) return DataLoss("trailer: no seal");
  return ParseSealLayer(*layer, trailer_bytes, format::kMaxPages);
}

std::vector<VlMetalayer> VlMetalayersOf(const format::Trailer& trailer, const Chunk& bytes) {
  std::vector<VlMetalayer> layers;
  for (const format::LayerPlace& layer : trailer.layers) {
    if (IsReservedLayer(layer.name)) continue;
    const Bytes content = format::ContentOf(layer, bytes.bytes());
    layers.push_back({layer.name, Chunk(content, bytes.owner())});
  }
  return layers;
}

absl::StatusOr<std::vector<std::byte>> HeaderOfTrailerAt(const FrameFile& source, int64_t end) {
  CAIRN_ASSIGN_OR_RETURN(const FrameView region, source.View(end));
  CAIRN_ASSIGN_OR_RETURN(const Chunk bytes, PinTrailer(region, end, end));
  CAIRN_ASSIGN_OR_RETURN(const format::Trailer trailer, format::ParseTrailer(bytes.bytes()));
  CAIRN_ASSIGN_OR_RETURN(format::Seal seal, SealOf(trailer, bytes.bytes()));
  return std::move(seal.header_copy);
}

}  // namespace cairn::frame
