#include "engine/frame/copy/increment.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/format/increment.h"
#include "engine/format/index_entry.h"
#include "engine/frame/index/chunk_diff.h"
#include "engine/frame/read/chunk_reader.h"
#include "engine/frame/read/content.h"
#include "engine/frame/read/read_ahead.h"
#include "engine/frame/stage/chunk_writer.h"
#include "engine/frame/state/initial_state.h"
#include "engine/frame/state/vlmetalayers.h"

namespace cairn::frame {

namespace {

using format::IncrementRun;
using Items = std::vector<std::byte>;

absl::StatusOr<std::vector<uint64_t>> ChunkKeys(const State& state) {
  std::vector<uint64_t> keys;
  keys.reserve(static_cast<size_t>(CompleteChunks(state)));
  CAIRN_RETURN_IF_ERROR(ForEachChunkKey(state, [&](uint64_t key) {
    keys.push_back(key);
    return absl::OkStatus();
  }));
  return keys;
}

// An increment has parts of a content, so what was made for it would apply to nothing.
absl::Status CheckIsNoIncrement(const State& state) {
  for (const VlMetalayer& layer : state.metadata->vlmetalayers) {
    if (layer.name == format::kIncrementLayer) {
      return FailedPrecondition(
          "an increment, which is no copy: begin at a copy to which it was applied");
    }
  }
  return absl::OkStatus();
}

// Checks the facts that no edit changes.
absl::Status CheckSameKind(const State& since, const State& now) {
  const auto sizes = [](const State& state) {
    std::vector<std::pair<std::string, size_t>> layers;
    for (const Metalayer& layer : state.metadata->metalayers) {
      layers.emplace_back(layer.name, layer.content.size());
    }
    return layers;
  };
  const bool chunksize =
      since.chunksize == now.chunksize || since.chunksize == format::kChunksizeUnknown;
  if (chunksize && since.header().typesize == now.header().typesize && sizes(since) == sizes(now)) {
    return absl::OkStatus();
  }
  return FailedPrecondition(
      "no increment leads from one frame to the other: typesize, chunksize or metalayers differ");
}

// Returns the runs that make `now` of `since`.
std::vector<IncrementRun> RunsOf(const std::vector<uint64_t>& since,
                                 const std::vector<uint64_t>& now) {
  const std::vector<int64_t> matches = MatchChunks(since, now);
  std::vector<IncrementRun> runs;
  for (size_t i = 0; i < now.size(); ++i) {
    IncrementRun run{.kind = IncrementRun::Kind::kBase, .value = matches[i], .count = 1};
    if (matches[i] < 0) {
      const bool special = IsSpecialKey(now[i]);
      run.kind = special ? IncrementRun::Kind::kSpecial : IncrementRun::Kind::kNew;
      run.value = special ? static_cast<int64_t>(now[i]) : 0;
    }
    if (!runs.empty() && runs.back().kind == run.kind) {
      IncrementRun& last = runs.back();
      const int64_t next = last.value + (run.kind == IncrementRun::Kind::kBase ? last.count : 0);
      if (run.value == next) {
        ++last.count;
        continue;
      }
    }
    runs.push_back(run);
  }
  return runs;
}

absl::StatusOr<std::vector<format::LayerEdit>> LayerEdits(const State& since, const State& now) {
  using Kind = format::LayerEdit::Kind;
  std::vector<format::LayerEdit> edits;
  const std::vector<Metalayer>& fixed = now.metadata->metalayers;
  for (size_t i = 0; i < fixed.size(); ++i) {
    if (fixed[i].content == since.metadata->metalayers[i].content) continue;
    edits.push_back(
        {.kind = Kind::kSetMetalayer, .name = fixed[i].name, .content = fixed[i].content});
  }
  const std::vector<VlMetalayer>& before = since.metadata->vlmetalayers;
  const std::vector<VlMetalayer>& after = now.metadata->vlmetalayers;
  // Layers that are set for the first time come last. So existing layers keep their places as long
  // as they come in the same order. From the first one that does not, all are deleted and set
  // again.
  std::vector<const VlMetalayer*> kept;
  auto next = before.begin();
  for (const VlMetalayer& layer : after) {
    const auto old = std::find_if(
        next, before.end(), [&](const VlMetalayer& other) { return other.name == layer.name; });
    if (old == before.end()) break;
    kept.push_back(&*old);
    next = old + 1;
  }
  for (const VlMetalayer& layer : before) {
    if (std::ranges::find(kept, &layer) != kept.end()) continue;
    edits.push_back({.kind = Kind::kDeleteVlmeta, .name = layer.name});
  }
  for (size_t i = 0; i < after.size(); ++i) {
    CAIRN_ASSIGN_OR_RETURN(Items content, DecodeVlLayer(*now.env(), after[i]));
    if (i < kept.size()) {
      CAIRN_ASSIGN_OR_RETURN(const Items had, DecodeVlLayer(*since.env(), *kept[i]));
      if (had == content) continue;
    }
    edits.push_back(
        {.kind = Kind::kSetVlmeta, .name = after[i].name, .content = std::move(content)});
  }
  return edits;
}

// The new chunks and items, with the increment that describes them.
struct Changes {
  format::Increment increment;
  Items added;  // items added to the short chunk
};

absl::StatusOr<Changes> FindChanges(const State& since, const State& now) {
  CAIRN_RETURN_IF_ERROR(CheckSameKind(since, now));
  Changes changes;
  format::Increment& increment = changes.increment;
  CAIRN_ASSIGN_OR_RETURN(increment.base, HashContent(since));
  CAIRN_ASSIGN_OR_RETURN(increment.result, HashContent(now));
  increment.since_generation = since.generation();
  increment.generation = now.generation();
  increment.nbytes = now.nbytes;
  increment.chunksize = now.chunksize;
  increment.vlblocks = now.vlblocks;
  {
    CAIRN_ASSIGN_OR_RETURN(const std::vector<uint64_t> before, ChunkKeys(since));
    CAIRN_ASSIGN_OR_RETURN(const std::vector<uint64_t> after, ChunkKeys(now));
    increment.runs = RunsOf(before, after);
    CAIRN_RETURN_IF_ERROR(format::CheckSpecials(increment.runs));
  }
  CAIRN_ASSIGN_OR_RETURN(const Items before, ReadShortChunk(since, VerifyPolicy::kAlways));
  CAIRN_ASSIGN_OR_RETURN(changes.added, ReadShortChunk(now, VerifyPolicy::kAlways));
  if (before.size() <= changes.added.size() &&
      std::ranges::equal(before, Bytes(changes.added).first(before.size()))) {
    changes.added.erase(changes.added.begin(), changes.added.begin() + std::ssize(before));
    increment.partial_kept = std::ssize(before);
  }
  increment.partial_added = std::ssize(changes.added);
  CAIRN_ASSIGN_OR_RETURN(increment.layers, LayerEdits(since, now));
  return changes;
}

// Stores the new chunks of `now`, then the added items.
absl::StatusOr<StagedState> StoreChanges(const State& now, const Changes& changes,
                                         const State& empty, ChunkSink& sink,
                                         ChunkProgress progress) {
  StagedState staged(empty);
  int64_t nchunk = 0;
  ScratchBuffer scratch;
  ReadBudget budget(now);
  for (const IncrementRun& run : changes.increment.runs) {
    const int64_t end = nchunk + run.count;
    ReadAhead ahead(now, nchunk, end);
    for (; run.kind == IncrementRun::Kind::kNew && nchunk < end; ++nchunk) {
      ahead.Reach(nchunk);
      CAIRN_ASSIGN_OR_RETURN(const StoredChunk stored,
                             ReadStored(now, nchunk, VerifyPolicy::kAlways, scratch));
      CAIRN_RETURN_IF_ERROR(budget.Spend(nchunk, std::ssize(stored.bytes())));
      CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, chunk::ParseHeader(stored.bytes()));
      CAIRN_ASSIGN_OR_RETURN(const int64_t entry, sink.Append(stored.bytes()));
      staged.Insert(staged.chunks.size(),
                    {.entry = {.value = entry,
                               .fingerprint = format::HashChunk(stored.bytes()),
                               .cbytes = static_cast<int32_t>(std::ssize(stored.bytes()))},
                     .nbytes = header.nbytes});
      if (!progress(nchunk + 1)) return absl::CancelledError("copying the chunks was stopped");
    }
    nchunk = end;
  }
  staged.header.vlblocks = now.vlblocks && staged.chunks.size() > 0;
  if (!changes.added.empty()) {
    CompressionOptions compression;
    compression.typesize = now.header().typesize;
    ChunkWriter writer(compression, false, now.env(), sink);
    CAIRN_ASSIGN_OR_RETURN(const format::IndexedChunk chunk, writer.FromItems(changes.added));
    staged.Insert(staged.chunks.size(), chunk);
  }
  CAIRN_RETURN_IF_ERROR(sink.Flush());
  return staged;
}

}  // namespace

absl::Status WriteIncrement(const State& since, const State& now, const CopyTarget& target,
                            ChunkProgress progress) {
  for (const State* state : {&since, &now}) {
    CAIRN_RETURN_IF_ERROR(CheckCopyable(*state));
    CAIRN_RETURN_IF_ERROR(CheckIsNoIncrement(*state));
  }
  CAIRN_ASSIGN_OR_RETURN(const Changes changes, FindChanges(since, now));
  CreateOptions options;
  options.compression.typesize = now.header().typesize;
  options.chunksize = ChunkSize::Variable();
  CAIRN_ASSIGN_OR_RETURN(const StatePtr empty, MakeInitialState(options, now.env()));
  CAIRN_ASSIGN_OR_RETURN(VlMetalayer layer,
                         EncodeVlLayer(*now.env(), format::kIncrementLayer,
                                       format::EncodeIncrement(changes.increment)));
  auto fill = [&](ChunkSink& sink) -> absl::StatusOr<StagedState> {
    CAIRN_ASSIGN_OR_RETURN(StagedState staged, StoreChanges(now, changes, *empty, sink, progress));
    auto metadata = std::make_shared<Metadata>();
    metadata->vlmetalayers.push_back(layer);
    staged.metadata = std::move(metadata);
    return staged;
  };
  return PublishCopy(now, empty->header().header_len, target, fill);
}

}  // namespace cairn::frame
