#include "engine/frame/repair/scanned_state.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "engine/base/status.h"
#include "engine/chunk/encode_options.h"
#include "engine/format/b2nd.h"
#include "engine/format/trailer.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/open/checkpoint_parts.h"

namespace cairn::frame {

namespace {

// Returns true if all of it could have been stored in the frame.
bool Fit(const State& state, const ScanResult& found) {
  const std::vector<FoundChunk>& chunks = found.chunks;
  const auto pending = static_cast<int64_t>(found.pending.size());
  // A header may claim a typesize that no frame has.
  if (state.header().typesize > chunk::kMaxBlockSize) return false;
  const int32_t typesize = chunk::HeaderTypesize(state.header().typesize);
  // A metalayer may hold bytes that read as a chunk.
  const int64_t chunks_begin = state.checkpoint->source.origin() + state.header().header_len;
  const bool same_kind = std::ranges::all_of(chunks, [&](const FoundChunk& chunk) {
    return chunk.begin >= chunks_begin && chunk.header.extended &&
           chunk.header.version == chunk::kVersion && chunk.header.typesize == typesize &&
           chunk.header.vlblocks == state.vlblocks;
  });
  if (!same_kind || state.variable_chunks()) return same_kind && pending == 0;
  const auto is_full = [&](const FoundChunk& chunk) {
    return chunk.header.nbytes == state.chunksize;
  };
  const auto first_short = std::ranges::find_if_not(chunks, is_full);
  const bool all_full = first_short == chunks.end();
  const bool last_is_short =
      !all_full && first_short + 1 == chunks.end() && first_short->header.nbytes < state.chunksize;
  return state.chunksize > 0 && pending <= state.chunksize &&
         (all_full || (last_is_short && pending == 0));
}

// Fills in chunks and pending items, which fit.
void TakeFound(const ScanResult& found, State& state) {
  const int64_t chunks_begin = state.checkpoint->source.origin() + state.header().header_len;
  state.chunks = ChunkIndex();
  state.partial = {};
  state.nbytes = 0;
  for (const FoundChunk& chunk : found.chunks) {
    state.chunks.Append({.value = chunk.begin - chunks_begin, .cbytes = chunk.header.cbytes});
    state.nbytes += chunk.header.nbytes;
  }
  if (found.pending.empty()) return;
  if (state.metadata->array.has_value()) state.partial.padded_to = state.chunksize;
  state.partial.items.Append(found.pending);
  state.nbytes += state.partial.nbytes();
}

// Makes the array one of the state's chunks. Errors: kDataLoss if nothing tells which of its chunks
// these are.
absl::Status FitArray(State& state) {
  if (!state.metadata->array.has_value()) return absl::OkStatus();
  const absl::Status fit = CheckArray(state).status();
  if (fit.ok() && state.partial.empty()) return fit;
  const int64_t items = ItemsOfChunk(*state.metadata);
  if (items == 0 || items * state.header().typesize != state.chunksize) return fit;
  auto metadata = std::make_shared<Metadata>(*state.metadata);
  SetLength(state.chunks.size() * items + state.partial.filled() / state.header().typesize,
            *metadata);
  state.metadata = std::move(metadata);
  return absl::OkStatus();
}

}  // namespace

std::vector<LostBytes> MergeLost(std::vector<LostBytes> lost) {
  std::ranges::sort(lost, {}, &LostBytes::begin);
  std::vector<LostBytes> merged;
  for (LostBytes& range : lost) {
    if (!merged.empty() && merged.back().end == range.begin &&
        merged.back().reason == range.reason) {
      merged.back().end = range.end;
    } else {
      merged.push_back(std::move(range));
    }
  }
  return merged;
}

absl::StatusOr<StatePtr> StateOfHeader(const FrameFile& source, std::vector<std::byte> header,
                                       std::shared_ptr<const FrameContext> env) {
  CAIRN_ASSIGN_OR_RETURN(format::FrameHeader parsed, format::ParseFrameHeader(header));
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, source.Size());
  StateBuilder builder(std::move(env));
  builder.SetHeader(std::move(parsed), std::move(header));
  Checkpoint& checkpoint = *builder.checkpoint;
  checkpoint.source = source;
  CAIRN_ASSIGN_OR_RETURN(builder.state->region, source.View(size));
  const int64_t end = checkpoint.header.frame_size;
  if (CheckFrameSize(checkpoint.header, format::kMinTrailerSize, size).ok()) {
    const absl::StatusOr<Chunk> bytes =
        PinTrailer(builder.state->region, end, end - checkpoint.header.header_len);
    if (bytes.ok()) {
      checkpoint.trailer = {end - std::ssize(bytes->bytes()), end};
      builder.metadata->vlmetalayers = VlMetalayersOf(format::ScanTrailer(bytes->bytes()), *bytes);
    }
  }
  return std::move(builder).Finish();
}

absl::StatusOr<KnownState> StateOfScan(const State& state, const ScanResult& found) {
  if (state.header().layout != Layout::kContiguous || !Fit(state, found)) {
    return DataLoss("%d chunks that were found are not such as the frame header describes",
                    found.chunks.size());
  }
  auto scanned = std::make_shared<State>(state);
  TakeFound(found, *scanned);
  scanned->damage.reset();
  scanned->stored_bytes.reset();
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, state.checkpoint->source.Size());
  CAIRN_ASSIGN_OR_RETURN(FrameView region, state.checkpoint->source.View(size));
  SetRegion(std::move(region), *scanned);
  CAIRN_RETURN_IF_ERROR(FitArray(*scanned));
  return KnownState{.state = std::move(scanned),
                    .is_pending_proven = false,
                    .is_scan = true,
                    .lost = MergeLost(found.lost)};
}

}  // namespace cairn::frame
