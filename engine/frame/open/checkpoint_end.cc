#include "engine/frame/open/checkpoint_end.h"

#include <cstdint>
#include <utility>

#include "engine/base/checked.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"

namespace cairn::frame {

namespace {

absl::Status LoadTrailer(const FrameView& region, const format::FrameHeader& header,
                         CheckpointEnd& end) {
  const int64_t most = header.frame_size - header.header_len;
  CAIRN_ASSIGN_OR_RETURN(end.trailer_bytes, PinTrailer(region, header.frame_size, most));
  CAIRN_ASSIGN_OR_RETURN(end.trailer, format::ParseTrailer(end.trailer_bytes.bytes()));
  return absl::OkStatus();
}

// Returns true if these bytes, which lie between the index and the end that the header gives for
// the frame, are a trailer. Its own size, or its copy of the header, tells so. A wrong frame_size
// leads to neither.
bool AreTrailer(const format::Trailer& trailer, Bytes bytes, const Checkpoint& checkpoint) {
  const auto size = static_cast<int64_t>(bytes.size());
  const absl::StatusOr<int64_t> told =
      format::ParseTrailerSize(bytes.last(format::kTrailerTailSize), size);
  if (told.ok() && *told == size) return true;
  const absl::StatusOr<format::Seal> seal = SealOf(trailer, bytes);
  return seal.ok() && seal->header_hash == Xxh3(checkpoint.header_bytes);
}

// Takes the bytes after the index for the trailer, which `damage` kept from being parsed.
absl::Status LoadDamagedTrailer(const FrameView& region, const absl::Status& damage,
                                Checkpoint& checkpoint, CheckpointEnd& end) {
  Extent& place = checkpoint.trailer;
  place.begin = end.index.nchunks > 0 ? checkpoint.index.end : checkpoint.header.header_len;
  CAIRN_ASSIGN_OR_RETURN(end.trailer_bytes, region.Pin(place.begin, place.size()));
  end.trailer = format::ScanTrailer(end.trailer_bytes.bytes());
  if (!AreTrailer(end.trailer, end.trailer_bytes.bytes(), checkpoint)) return damage;
  checkpoint.trailer_damage = damage;
  return absl::OkStatus();
}

// Returns the number of chunks if the index does not tell it, or 0 if it is not known. With
// variable chunks the table of fingerprints tells it, which has long had two columns.
int64_t CountByOthers(const format::FrameHeader& header, const CheckpointEnd& end) {
  if (!header.variable_chunks()) return CeilDiv<int64_t>(header.nbytes, header.chunksize);
  const format::LayerPlace* const layer =
      format::FindLayer(end.trailer.layers, format::kTableLayer);
  if (layer == nullptr) return 0;
  const absl::StatusOr<chunk::Header> table =
      chunk::ParseHeader(format::ContentOf(*layer, end.trailer_bytes.bytes()));
  if (!table.ok()) return 0;
  const int64_t columns = table->nbytes - format::TableHeadSize(table->nbytes);
  return columns % format::kTableEntry == 0 ? columns / format::kTableEntry : 0;
}

// Takes the bytes before the trailer for the index. `damage` hides its length and its number of
// entries.
absl::Status LoadDamagedIndex(const FrameView& region, const absl::Status& damage,
                              Checkpoint& checkpoint, CheckpointEnd& end) {
  const int64_t nchunks = CountByOthers(checkpoint.header, end);
  const int64_t begin = checkpoint.header.index_begin().value_or(INT64_MAX);
  // A damaged version looks like a newer one.
  const bool is_damage = absl::IsDataLoss(damage) || absl::IsUnimplemented(damage);
  const bool is_possible = is_damage && nchunks > 0 && begin <= checkpoint.trailer.begin &&
                           nchunks <= checkpoint.env->limits.max_nchunks;
  if (!is_possible) return damage;
  absl::StatusOr<std::optional<IndexSeal>> seal =
      CheckSeal(end.trailer, end.trailer_bytes, nchunks, checkpoint);
  if (!seal.ok() || !seal->has_value()) return damage;
  end.seal = *std::move(seal);
  checkpoint.index = {begin, checkpoint.trailer.begin};
  CAIRN_ASSIGN_OR_RETURN(end.index.chunk, region.Pin(begin, checkpoint.index.size()));
  end.index.nchunks = nchunks;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CheckpointEnd> LoadCheckpointEnd(const FrameView& region, Checkpoint& checkpoint) {
  CheckpointEnd end;
  const int64_t frame_size = checkpoint.header.frame_size;
  const absl::Status trailer = LoadTrailer(region, checkpoint.header, end);
  const int64_t trailer_size = trailer.ok() ? end.trailer.size : format::kMinTrailerSize;
  checkpoint.trailer = {frame_size - trailer_size, frame_size};
  absl::StatusOr<FoundIndex> index = FindIndexChunk(region, checkpoint);
  if (!index.ok()) {
    if (!trailer.ok()) return trailer;
    CAIRN_RETURN_IF_ERROR(LoadDamagedIndex(region, index.status(), checkpoint, end));
    return end;
  }
  end.index = *std::move(index);
  if (!trailer.ok()) {
    CAIRN_RETURN_IF_ERROR(LoadDamagedTrailer(region, trailer, checkpoint, end));
  }
  CAIRN_ASSIGN_OR_RETURN(end.seal,
                         CheckSeal(end.trailer, end.trailer_bytes, end.index.nchunks, checkpoint));
  return end;
}

}  // namespace cairn::frame
