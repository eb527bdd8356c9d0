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
#include "engine/frame/open/state_loader.h"
#include "engine/frame/repair/index_mender.h"
#include "engine/frame/repair/indexed_salvage.h"
#include "engine/frame/replay/journal_reader.h"
#include "engine/frame/replay/replay.h"

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

// Takes chunks of another kind than the header says out of `found`, if any has that kind. Such
// chunks may lie in a record that was cut off.
void LoseStrangers(const State& state, ScanResult& found) {
  const auto is_stranger = [&](const FoundChunk& chunk) {
    return chunk.header.typesize != chunk::HeaderTypesize(state.header().typesize) ||
           chunk.header.vlblocks != state.vlblocks;
  };
  if (state.header().typesize > chunk::kMaxBlockSize ||
      std::ranges::all_of(found.chunks, is_stranger)) {
    return;
  }
  std::erase_if(found.chunks, [&](const FoundChunk& chunk) {
    if (!is_stranger(chunk)) return false;
    found.lost.push_back(
        {.begin = chunk.begin,
         .end = chunk.end(),
         .reason = absl::StrFormat("chunk of %d bytes: not such as the frame header describes",
                                   chunk.header.cbytes)});
    return true;
  });
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

// Returns true if chunks of several states lie in the file. Some of them may be overwritten.
bool HasHistory(const ScanResult& found) {
  if (found.chunks.empty()) return false;
  const int64_t begin = found.chunks.front().begin;
  const int64_t end = found.chunks.back().begin;
  // Bytes that do not begin as a chunk are what is left of an index or a trailer.
  return found.first_end < end || std::ranges::any_of(found.lost, [&](const LostBytes& lost) {
           return lost.begin > begin && lost.end <= end && !lost.reason.starts_with("chunk of ");
         });
}

// Makes the array one of the state's chunks. Errors: kDataLoss if nothing tells which of its chunks
// these are.
absl::Status FitArray(const ScanResult& found, State& state) {
  if (!state.metadata->array.has_value()) return absl::OkStatus();
  if (HasHistory(found)) return DataLoss("array: chunks of several states were found");
  const absl::Status fit = CheckArray(state).status();
  if (fit.ok() && state.partial.empty()) return fit;
  const int64_t items = ItemsOfChunk(*state.metadata);
  if (items == 0 || items * state.header().typesize != state.chunksize) return fit;
  // The last chunk of the array is padded, and the padding is not items.
  const int64_t length = state.metadata->array->shape[0];
  const int64_t rest = length % items;
  const int64_t most = length / items + (rest == 0 ? 0 : 1);
  const int64_t nchunks = state.chunks.size();
  if (nchunks > most || (!state.partial.empty() && nchunks * items != length)) {
    return DataLoss("array: needs %d chunks, %d were found", most, nchunks);
  }
  const int64_t chunks_end =
      state.checkpoint->source.origin() + state.header().index_begin().value_or(0);
  const bool has_last = nchunks > 0 && found.chunks.back().end() == chunks_end;
  const int64_t padding = has_last && state.partial.empty() && rest > 0 ? items - rest : 0;
  auto metadata = std::make_shared<Metadata>(*state.metadata);
  SetLength(nchunks * items - padding + state.partial.filled() / state.header().typesize,
            *metadata);
  state.metadata = std::move(metadata);
  return absl::OkStatus();
}

// Returns why the bytes after an index are not the trailer of its checkpoint.
absl::Status DamageOfTrailer(const FrameView& region, const format::FrameHeader& header) {
  const int64_t end = header.frame_size;
  if (end > region.size()) {
    return DataLoss("trailer: the file is truncated: expected it to end at byte %d, got %d", end,
                    region.size());
  }
  const absl::Status damage = PinTrailer(region, end, end - header.header_len).status();
  return damage.ok() ? DataLoss("trailer: not the one that belongs to the header") : damage;
}

// Fills in what the bytes after the index show of the trailer.
absl::Status AttachTrailerRemains(StateBuilder& builder) {
  Checkpoint& checkpoint = *builder.checkpoint;
  const FrameView& region = builder.state->region;
  checkpoint.trailer = {checkpoint.index.end,
                        std::min(checkpoint.header.frame_size, region.size())};
  if (checkpoint.trailer.size() < 0) {
    return DataLoss("frame header: frame_size: expected %d or more, got %d", checkpoint.index.end,
                    checkpoint.header.frame_size);
  }
  checkpoint.trailer_damage = DamageOfTrailer(region, checkpoint.header);
  CAIRN_ASSIGN_OR_RETURN(const Chunk bytes,
                         region.Pin(checkpoint.trailer.begin, checkpoint.trailer.size()));
  builder.metadata->vlmetalayers = VlMetalayersOf(format::ScanTrailer(bytes.bytes()), bytes);
  return absl::OkStatus();
}

// Replays the commits after a checkpoint whose trailer is damaged. The first of them names it.
absl::StatusOr<StatePtr> ReplayAfter(const FrameFile& source, StatePtr checkpoint) {
  auto state = std::make_shared<State>(*checkpoint);
  const int64_t end = state->header().frame_size;
  state->journal = JournalPosition{
      .base_known = false, .begin = end, .end = end, .durable_end = end, .receipt = {}};
  JournalReader reader(source, end);
  CAIRN_ASSIGN_OR_RETURN(
      const ReplayResult replayed,
      ReplayJournal(source, *state, reader, {.search = SearchFor(source, false)}));
  if (!replayed.other_bases.empty()) return DataLoss("journal: it follows another checkpoint");
  return StateAfter(std::move(state), replayed);
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

absl::StatusOr<StatePtr> StateOfIndex(const FrameFile& source, std::vector<std::byte> header,
                                      std::shared_ptr<const FrameContext> env) {
  CAIRN_ASSIGN_OR_RETURN(format::FrameHeader parsed, format::ParseFrameHeader(header));
  if (parsed.layout != Layout::kContiguous) return DataLoss("frame header: a sparse frame");
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, source.Size());
  StateBuilder builder(std::move(env));
  builder.SetHeader(std::move(parsed), std::move(header));
  builder.checkpoint->source = source;
  builder.checkpoint->trailer = {size, size};
  State& state = *builder.state;
  CAIRN_ASSIGN_OR_RETURN(state.region, source.View(size));
  CAIRN_ASSIGN_OR_RETURN(FoundIndex index, FindIndexChunk(state.region, *builder.checkpoint));
  if (index.nchunks == 0) return DataLoss("index: empty");
  CAIRN_RETURN_IF_ERROR(AttachIndex(std::move(index), std::nullopt, state));
  CAIRN_RETURN_IF_ERROR(AttachTrailerRemains(builder));
  SetContiguousSource(state);
  StatePtr found = std::move(builder).Finish();
  if (!HasIndex(*found) || !IsIndexWhole(*found)) return DataLoss("index: damaged");
  // A file that ends within the checkpoint has no journal.
  return found->header().frame_size < size ? ReplayAfter(source, std::move(found)) : found;
}

absl::StatusOr<KnownState> StateOfScan(const State& state, ScanResult found) {
  LoseStrangers(state, found);
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
  CAIRN_RETURN_IF_ERROR(FitArray(found, *scanned));
  return KnownState{.state = std::move(scanned),
                    .is_pending_proven = false,
                    .is_scan = true,
                    .misses_commits = true,
                    .lost = MergeLost(found.lost)};
}

}  // namespace cairn::frame
