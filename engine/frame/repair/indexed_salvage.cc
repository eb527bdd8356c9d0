#include "engine/frame/repair/indexed_salvage.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"

#include "engine/base/status.h"
#include "engine/chunk/encode_options.h"
#include "engine/format/b2nd.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/checkpoint/live_copy.h"
#include "engine/frame/read/chunk_reader.h"
#include "engine/frame/read/stored_chunk.h"
#include "engine/frame/repair/chunk_list.h"
#include "engine/frame/repair/lost_layers.h"
#include "engine/frame/repair/trailer_proofs.h"
#include "engine/frame/state/initial_state.h"

namespace cairn::frame {

namespace {

// Returns the state with the sealed metalayer of its array if that fits its chunks, and the one in
// the header does not.
State WithSealedArray(const State& state) {
  const Metalayer* const layer = format::FindB2ndLayer(state.metadata->metalayers);
  const std::vector<Metalayer> sealed = SealedMetalayers(*state.checkpoint);
  const Metalayer* const sealed_layer = format::FindB2ndLayer(sealed);
  if (layer == nullptr || sealed_layer == nullptr || *layer == *sealed_layer) return state;
  const absl::Status fit = CheckArray(state).status();
  if (fit.ok() || absl::IsUnimplemented(fit)) return state;
  auto metadata = std::make_shared<Metadata>(*state.metadata);
  const auto place = std::ranges::find(metadata->metalayers, *layer);
  *place = *sealed_layer;
  DescribeData(*metadata);
  State mended = state;
  mended.metadata = MetadataWith(std::move(metadata), state.chunks.size(), state.partial,
                                 state.header().typesize);
  return CheckArray(mended).ok() ? mended : state;
}

// Returns true if a fingerprint says that the trailer is what was written.
bool IsTrailerProven(const Checkpoint& checkpoint) {
  return checkpoint.trailer_damage.ok() && checkpoint.fingerprint != FingerprintType::kNone;
}

// Saves chunk after chunk. Not thread-safe.
class IndexedSalvage {
 public:
  IndexedSalvage(const State& state, KnownState& found)
      : state_(state),
        found_(found),
        proofs_(state),
        staged_(state),
        options_(CompressionOf(state.header())) {
    report_.lost = std::move(found.lost);
    report_.scanned = found.is_scan;
    // A single block is enough unless an array asks for more.
    options_.blocksize = 0;
    FitToArray(state, options_);
  }

  // Reports that the array of the header in `found` is lost. The sealed one takes its place.
  void LoseArray(const State& found);
  absl::StatusOr<StagedState> Run(ChunkSink& sink, absl::FunctionRef<bool(int64_t)> progress);
  SalvageReport TakeReport() && { return std::move(report_); }

 private:
  absl::Status SaveChunk(int64_t nchunk, ChunkSink& sink,
                         absl::FunctionRef<bool(int64_t)> progress);
  absl::StatusOr<StoredChunk> ReadProven(int64_t nchunk);
  absl::Status Decode(int64_t nchunk);
  absl::Status DigHole(int64_t nchunk, const absl::Status& damage, ChunkSink& sink);
  // Reports that bytes of the frame are lost.
  void Lose(Extent place, absl::string_view reason);
  int32_t NbytesOf(int64_t nchunk);
  int32_t UnknownNbytes();
  Extent ExtentOf(int64_t nchunk);
  absl::Status SaveMetadata();

  const State& state_;
  const KnownState& found_;
  const TrailerProofs proofs_;
  StagedState staged_;
  CompressionOptions options_;  // for chunks that are made here
  SalvageReport report_;
  int64_t hole_bytes_ = 0;  // decoded bytes of the holes
  std::optional<int32_t> unknown_nbytes_;
  ScratchBuffer stored_;
  ScratchBuffer opened_;
  ScratchBuffer decoded_;
};

// Decodes all of it, piece by piece.
absl::Status IndexedSalvage::Decode(int64_t nchunk) {
  constexpr int64_t kPieceSize = 16 << 20;
  CAIRN_ASSIGN_OR_RETURN(const ChunkReader chunk,
                         ChunkReader::Open(state_, nchunk, VerifyPolicy::kNever, opened_));
  const chunk::Decoder* const decoder = chunk.decoder();
  const bool blocks = decoder != nullptr && decoder->nblocks() > 0;
  const int64_t nbytes = blocks ? chunk.nbytes() : std::min(chunk.nbytes(), options_.typesize);
  for (int64_t begin = 0; begin < nbytes;) {
    int64_t end = nbytes;
    if (blocks) {
      CAIRN_ASSIGN_OR_RETURN(end, decoder->PieceEnd(begin, kPieceSize));
    }
    CAIRN_RETURN_IF_ERROR(chunk.Read(begin, decoded_.Get(static_cast<size_t>(end - begin))));
    begin = end;
  }
  return absl::OkStatus();
}

absl::StatusOr<StoredChunk> IndexedSalvage::ReadProven(int64_t nchunk) {
  CAIRN_ASSIGN_OR_RETURN(const int32_t nbytes, ChunkNbytes(state_, nchunk));
  CAIRN_RETURN_IF_ERROR(CheckChunkNbytes(state_, nbytes));
  CAIRN_ASSIGN_OR_RETURN(StoredChunk stored,
                         ReadStored(state_, nchunk, VerifyPolicy::kAlways, stored_));
  const absl::Status decoded = Decode(nchunk);
  // A chunk that this build cannot decode is kept as it is.
  if (!decoded.ok() && !absl::IsUnimplemented(decoded)) return decoded;
  return stored;
}

// Returns the size that the chunk has, or the frame's header gives.
int32_t IndexedSalvage::NbytesOf(int64_t nchunk) {
  const absl::StatusOr<int32_t> nbytes = ChunkNbytes(state_, nchunk);
  if (nbytes.ok() && CheckChunkNbytes(state_, *nbytes).ok()) return *nbytes;
  return state_.chunksize > 0 ? state_.chunksize : UnknownNbytes();
}

// Returns an equal share of the bytes that chunks with a known size leave of the frame.
int32_t IndexedSalvage::UnknownNbytes() {
  if (!unknown_nbytes_.has_value()) {
    int64_t rest = state_.nbytes;
    int64_t unknown = 0;
    for (int64_t i = 0; i < state_.chunks.size(); ++i) {
      const absl::StatusOr<int32_t> nbytes = ChunkNbytes(state_, i);
      const bool is_known = nbytes.ok() && CheckChunkNbytes(state_, *nbytes).ok();
      rest -= is_known ? *nbytes : 0;
      unknown += is_known ? 0 : 1;
    }
    const int64_t typesize = state_.header().typesize;
    const int64_t items = std::max<int64_t>(rest, 0) / typesize / std::max<int64_t>(unknown, 1);
    unknown_nbytes_ =
        static_cast<int32_t>(std::clamp<int64_t>(items, 1, kMaxChunkBytes / typesize) * typesize);
  }
  return *unknown_nbytes_;
}

Extent IndexedSalvage::ExtentOf(int64_t nchunk) {
  const absl::StatusOr<ChunkRef> chunk = FindChunk(state_, nchunk);
  if (!chunk.ok() || format::IsSpecialEntry(chunk->found.entry.value)) return state_.index();
  const absl::StatusOr<ChunkLocation> place = state_.chunk_source->Locate(chunk->found.entry.value);
  if (!place.ok()) return state_.index();
  const int64_t begin = place->offset.value_or(0);
  int64_t size = state_.chunks.StoredSizeOf(chunk->found);
  if (size <= 0) {
    const auto header = state_.chunk_source->ReadHeader(chunk->found.entry.value, opened_);
    size = header.ok() ? header->cbytes : 1;
  }
  return {begin, begin + size};
}

void IndexedSalvage::Lose(Extent place, absl::string_view reason) {
  const int64_t origin = state_.checkpoint->source.origin();
  report_.lost.push_back(
      {.begin = origin + place.begin, .end = origin + place.end, .reason = std::string(reason)});
}

void IndexedSalvage::LoseArray(const State& found) {
  const Metalayer& layer = *format::FindB2ndLayer(found.metadata->metalayers);
  const absl::StatusOr<format::FrameHeader> header =
      format::ParseFrameHeader(found.checkpoint->header_bytes);
  const format::LayerPlace* const place =
      header.ok() ? format::FindLayer(header->places, layer.name) : nullptr;
  const Extent bytes = place == nullptr ? Extent{.begin = 0, .end = found.header().header_len}
                                        : Extent{place->begin, place->begin + place->size};
  Lose(bytes, absl::StrFormat("metalayer %s: %s; the sealed one stands in its place", layer.name,
                              CheckArray(found).status().message()));
}

absl::Status IndexedSalvage::DigHole(int64_t nchunk, const absl::Status& damage, ChunkSink& sink) {
  Lose(ExtentOf(nchunk), damage.message());
  const int32_t nbytes = NbytesOf(nchunk);
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> hole,
                         MakeHole(nbytes, options_, state_.vlblocks));
  CAIRN_ASSIGN_OR_RETURN(const int64_t value, sink.Append(hole));
  staged_.chunks.Append({.value = value,
                         .fingerprint = format::HashChunk(hole),
                         .cbytes = static_cast<int32_t>(hole.size())});
  *staged_.stored_bytes += std::ssize(hole);
  hole_bytes_ += nbytes;
  report_.holes.push_back(nchunk);
  return absl::OkStatus();
}

absl::Status IndexedSalvage::SaveChunk(int64_t nchunk, ChunkSink& sink,
                                       absl::FunctionRef<bool(int64_t)> progress) {
  if (!progress(ExtentOf(nchunk).begin)) return absl::CancelledError("salvage: stopped");
  absl::StatusOr<IndexEntry> entry = state_.chunks.Get(nchunk);
  if (!entry.ok()) return DigHole(nchunk, AnnotateChunk(nchunk, entry.status()), sink);
  bool proven = state_.sealed() || proofs_.index();
  if (!format::IsSpecialEntry(entry->value)) {
    const absl::StatusOr<StoredChunk> stored = ReadProven(nchunk);
    if (!stored.ok()) return DigHole(nchunk, AnnotateChunk(nchunk, stored.status()), sink);
    proven = entry->fingerprint != 0 || proofs_.HoldsChunk(nchunk, stored->bytes());
    CAIRN_ASSIGN_OR_RETURN(entry->value, sink.Append(stored->bytes()));
    entry->fingerprint = format::HashChunk(stored->bytes());
    *staged_.stored_bytes += std::ssize(stored->bytes());
  }
  CAIRN_ASSIGN_OR_RETURN(const int32_t nbytes, ChunkNbytes(state_, nchunk));
  staged_.chunks.Append(*entry);
  report_.nbytes += nbytes;
  ++report_.chunks;
  if (!proven) report_.unproven.push_back(nchunk);
  return absl::OkStatus();
}

// Saves the layers that decode, and adds those that tell what is lost.
absl::Status IndexedSalvage::SaveMetadata() {
  const FrameContext& env = *state_.env();
  auto metadata = std::make_shared<Metadata>(*state_.metadata);
  const Checkpoint& checkpoint = *state_.checkpoint;
  if (!checkpoint.trailer_damage.ok()) {
    Lose(checkpoint.trailer, absl::StrFormat("%s; what is left of its vlmetalayers is not proven",
                                             checkpoint.trailer_damage.message()));
  }
  std::erase_if(metadata->vlmetalayers, [&](const VlMetalayer& layer) {
    const absl::Status status = DecodeVlLayer(env, layer, false).status();
    if (status.ok() || absl::IsResourceExhausted(status)) return false;
    Lose(checkpoint.trailer, status.message());
    return true;
  });
  SavedLayers saved = CompleteLayers(found_, std::move(metadata->vlmetalayers));
  metadata->vlmetalayers = std::move(saved.layers);
  report_.lost_metalayers = std::move(saved.lost);
  report_.older_metalayers = std::move(saved.older);
  const auto put = [&](std::string_view name, const std::string& list) -> absl::Status {
    if (list.empty()) return absl::OkStatus();
    CAIRN_ASSIGN_OR_RETURN(VlMetalayer layer, EncodeVlLayer(env, name, EncodeText(list)));
    PutVlLayer(metadata->vlmetalayers, std::move(layer));
    return absl::OkStatus();
  };
  if (!proofs_.header()) report_.unproven_metalayers = UnprovenMetalayers(state_);
  if (!IsTrailerProven(checkpoint)) {
    for (const VlMetalayer& layer : metadata->vlmetalayers) {
      report_.unproven_metalayers.push_back(layer.name);
    }
  }
  CAIRN_RETURN_IF_ERROR(put(kLostLayer, ChunkList(report_.holes)));
  CAIRN_RETURN_IF_ERROR(put(kUnprovenLayer, ChunkList(report_.unproven)));
  CAIRN_RETURN_IF_ERROR(
      put(kUnprovenMetalayersLayer, absl::StrJoin(report_.unproven_metalayers, ", ")));
  CAIRN_RETURN_IF_ERROR(put(kLostMetalayersLayer, absl::StrJoin(report_.lost_metalayers, ", ")));
  staged_.metadata = std::move(metadata);
  return absl::OkStatus();
}

absl::StatusOr<StagedState> IndexedSalvage::Run(ChunkSink& sink,
                                                absl::FunctionRef<bool(int64_t)> progress) {
  staged_.chunks = ChunkIndex();
  staged_.stored_bytes = 0;
  // Chunks share no bytes, so only an index that was made to waste space leads to many more bytes.
  const int64_t most = 2 * state_.region.size() + (int64_t{16} << 20);
  for (int64_t i = 0; i < state_.chunks.size(); ++i) {
    CAIRN_RETURN_IF_ERROR(SaveChunk(i, sink, progress));
    if (*staged_.stored_bytes > most) {
      return DataLoss("index: its chunks take over %d bytes in a file of %d", most,
                      state_.region.size());
    }
  }
  // The sum in a header without a seal may be wrong.
  staged_.header.nbytes = report_.nbytes + hole_bytes_;
  if (!state_.partial.empty()) {
    // The items of the partial chunk are in records that were checked, and it may begin with a
    // stored chunk.
    const int64_t last = state_.chunks.size();
    const absl::Status added = AddPending(state_, sink, staged_);
    if (added.ok()) {
      ++report_.chunks;
      report_.nbytes += state_.partial.nbytes();
      if (!found_.is_pending_proven) report_.unproven.push_back(last);
    } else {
      staged_.partial = {};
      staged_.header.nbytes += state_.partial.nbytes();
      CAIRN_RETURN_IF_ERROR(DigHole(last, AnnotateChunk(last, added), sink));
    }
  }
  if (report_.chunks == 0) return NotFound("no complete chunk in %d bytes", state_.region.size());
  CAIRN_RETURN_IF_ERROR(SaveMetadata());
  CAIRN_RETURN_IF_ERROR(sink.Flush());
  return std::move(staged_);
}

}  // namespace

bool HasIndex(const State& state) {
  // A few bytes can claim very many special chunks.
  const int64_t entries = state.chunks.size() * int64_t{sizeof(IndexEntry)};
  return state.checkpoint->era == Era::kCurrent &&
         state.header().typesize <= chunk::kMaxBlockSize &&
         CheckMemory(entries, state.region.size()).ok();
}

absl::StatusOr<SalvageReport> SalvageByIndex(KnownState found, const CopyTarget& target,
                                             absl::FunctionRef<bool(int64_t)> progress) {
  const State state = WithSealedArray(*found.state);
  IndexedSalvage salvage(state, found);
  if (state.metadata != found.state->metadata) salvage.LoseArray(*found.state);
  CAIRN_RETURN_IF_ERROR(PublishCopy(state, state.header().header_len, target,
                                    [&](ChunkSink& sink) { return salvage.Run(sink, progress); }));
  return std::move(salvage).TakeReport();
}

}  // namespace cairn::frame
