#include "engine/frame/repair/trailer_proofs.h"

#include <utility>

#include "engine/base/hash.h"
#include "engine/format/seal.h"
#include "engine/format/trailer.h"
#include "engine/frame/open/checkpoint_parts.h"

namespace cairn::frame {

TrailerProofs::TrailerProofs(const State& state) : state_(state) {
  const Checkpoint& checkpoint = *state.checkpoint;
  if (checkpoint.trailer_damage.ok()) return;
  const Extent& place = checkpoint.trailer;
  const absl::StatusOr<Chunk> bytes = state.region.Pin(place.begin, place.size());
  if (!bytes.ok()) return;
  const format::Trailer trailer = format::ScanTrailer(bytes->bytes());
  const CommittedIndex* const index = state.chunks.base();
  if (const auto seal = SealOf(trailer, bytes->bytes()); seal.ok()) {
    header_ = seal->header_hash == Xxh3(checkpoint.header_bytes);
    index_ = index != nullptr && seal->index_hash == Xxh3(index->stored());
  }
  const format::LayerPlace* const layer = format::FindLayer(trailer.layers, format::kTableLayer);
  if (layer == nullptr || index == nullptr) return;
  Chunk content(format::ContentOf(*layer, bytes->bytes()), bytes->owner());
  absl::StatusOr<ChunkTable> table = ChunkTable::Open(std::move(content), index->size());
  if (table.ok()) table_ = *std::move(table);
}

bool TrailerProofs::HoldsChunk(int64_t nchunk, Bytes stored) const {
  const int64_t number = state_.chunks.CommittedNumberOf(nchunk);
  return table_.has_value() && number >= 0 &&
         table_->FingerprintAt(number) == format::HashChunk(stored);
}

}  // namespace cairn::frame
