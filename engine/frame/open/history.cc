#include "engine/frame/open/history.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "engine/base/status.h"
#include "engine/format/seal.h"
#include "engine/format/trailer.h"
#include "engine/frame/open/checkpoint_parts.h"
#include "engine/frame/open/state_loader.h"
#include "engine/frame/replay/replay.h"

namespace cairn::frame {

namespace {

GenerationInfo InfoOf(const State& state) {
  return {.generation = state.generation(),
          .checkpoint = !state.journal.has_value() || state.journal->empty(),
          .nchunks = CountChunks(state),
          .nbytes = state.nbytes,
          .end = CommittedEnd(state)};
}

// Lists the checkpoint itself and every commit after it, before byte `end`.
absl::StatusOr<std::vector<GenerationInfo>> ListFrom(const FrameFile& source, const State& state,
                                                     uint64_t last, int64_t end) {
  std::vector<GenerationInfo> list = {InfoOf(state)};
  JournalReader reader(source, state.journal->end);
  reader.StopAt(end);
  const auto add = [&](const State& next) { list.push_back(InfoOf(next)); };
  CAIRN_RETURN_IF_ERROR(
      ReplayJournal(source, state, reader,
                    {.last_generation = last, .search = SearchFor(source, false), .visit = add})
          .status());
  return list;
}

// Returns where the part of the file begins that a checkpoint writes at once and shares with no
// other.
int64_t BeginOf(const State& checkpoint) {
  return checkpoint.index().size() > 0 ? checkpoint.index().begin
                                       : checkpoint.checkpoint->trailer.begin;
}

// Without a seal the checkpoint is the oldest, whatever follows it.
uint64_t OldestOf(const State& state) {
  if (state.checkpoint->seal_holds) return state.checkpoint->seal->oldest_generation;
  if (!state.journal.has_value()) return state.generation();
  return state.checkpoint->seal.has_value() ? state.checkpoint->seal->generation : 0;
}

}  // namespace

absl::StatusOr<StatePtr> PreviousCheckpoint(const FrameFile& source, const State& state,
                                            uint64_t oldest) {
  const Checkpoint& checkpoint = *state.checkpoint;
  if (!checkpoint.seal_holds) return nullptr;
  const format::Seal& seal = *checkpoint.seal;
  const int64_t end = seal.previous_end;
  if (end <= 0 || end >= checkpoint.header.frame_size || seal.generation <= oldest) return nullptr;
  // The chain must not cost more than the file, because each checkpoint is read completely.
  if (end > BeginOf(state)) {
    return DataLoss("seal: the checkpoint before ends at byte %d, after byte %d, where this begins",
                    end, BeginOf(state));
  }
  CAIRN_ASSIGN_OR_RETURN(std::vector<std::byte> header, HeaderOfTrailerAt(source, end));
  CAIRN_ASSIGN_OR_RETURN(StatePtr previous, LoadCheckpoint(source, std::move(header), state.env()));
  // Each step leads back, so a forged chain ends too.
  if (previous->header().frame_size != end || !previous->checkpoint->seal_holds ||
      previous->checkpoint->seal->generation >= seal.generation) {
    return DataLoss("seal: no checkpoint ends at byte %d", end);
  }
  return previous->checkpoint->seal->generation < oldest ? nullptr : previous;
}

namespace {

// Returns the result of `find` for the newest state. A writer may reclaim generations meanwhile. It
// then runs again, on the remaining ones.
template <typename Find>
std::invoke_result_t<Find, const State&> WhileKept(const FrameFile& source,
                                                   const std::shared_ptr<const FrameContext>& env,
                                                   Find find) {
  constexpr int kMaxAttempts = 100;
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const void> kept, source.KeepSize());
  for (int attempt = 1;; ++attempt) {
    CAIRN_ASSIGN_OR_RETURN(const StatePtr newest, LoadState(source, env));
    auto found = find(*newest);
    // The bytes that a state needs are registered by now. If they were not reclaimed before, they
    // stay.
    CAIRN_ASSIGN_OR_RETURN(const StatePtr now, LoadState(source, env));
    if (OldestOf(*now) <= OldestOf(*newest)) return found;
    if (attempt == kMaxAttempts) {
      return Unavailable("history: generations are reclaimed again and again while it is read");
    }
  }
}

absl::StatusOr<std::vector<GenerationInfo>> ListUpTo(const FrameFile& source, const State& newest,
                                                     const HistoryOptions& options) {
  std::vector<GenerationInfo> list;
  if (options.limit == 0 || options.before == 0) return list;
  const uint64_t last = std::min(newest.generation(), options.before.value_or(UINT64_MAX) - 1);
  if (!newest.journal.has_value()) {
    if (last == newest.generation()) list.push_back(InfoOf(newest));
    return list;
  }
  CAIRN_ASSIGN_OR_RETURN(StatePtr checkpoint,
                         LoadCheckpoint(source, newest.checkpoint->header_bytes, newest.env()));
  // Goes backwards, so that no checkpoint is loaded twice and none is kept. A checkpoint of few
  // bytes may claim many chunks, and take memory for them.
  int64_t end = newest.journal->end;
  while (checkpoint != nullptr && std::ssize(list) < options.limit) {
    if (checkpoint->journal->generation <= last) {
      CAIRN_ASSIGN_OR_RETURN(const std::vector<GenerationInfo> part,
                             ListFrom(source, *checkpoint, last, end));
      const int64_t fits = std::min<int64_t>(std::ssize(part), options.limit - std::ssize(list));
      list.insert(list.end(), part.rbegin(), part.rbegin() + fits);
    }
    end = BeginOf(*checkpoint);
    CAIRN_ASSIGN_OR_RETURN(checkpoint, PreviousCheckpoint(source, *checkpoint, OldestOf(newest)));
  }
  std::ranges::reverse(list);
  return list;
}

// Returns the state of a generation before the newest, or null if it is not there.
absl::StatusOr<StatePtr> FindGeneration(const FrameFile& source, const State& newest,
                                        uint64_t generation) {
  if (!newest.journal.has_value() || generation > newest.generation()) return nullptr;
  CAIRN_ASSIGN_OR_RETURN(StatePtr state,
                         LoadCheckpoint(source, newest.checkpoint->header_bytes, newest.env()));
  while (state != nullptr && state->journal->generation > generation) {
    CAIRN_ASSIGN_OR_RETURN(state, PreviousCheckpoint(source, *state, OldestOf(newest)));
  }
  if (state == nullptr) return nullptr;
  JournalReader reader(source, state->journal->end);
  CAIRN_ASSIGN_OR_RETURN(
      const ReplayResult replayed,
      ReplayJournal(source, *state, reader,
                    {.last_generation = generation, .search = SearchFor(source, false)}));
  if (replayed.state != nullptr) state = replayed.state;
  return state->generation() == generation ? state : nullptr;
}

}  // namespace

absl::StatusOr<std::vector<GenerationInfo>> ListHistory(
    const FrameFile& source, const std::shared_ptr<const FrameContext>& env,
    const HistoryOptions& options) {
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("history: limit", options.limit));
  return WhileKept(source, env,
                   [&](const State& newest) { return ListUpTo(source, newest, options); });
}

absl::StatusOr<StatePtr> LoadGeneration(const FrameFile& source,
                                        const std::shared_ptr<const FrameContext>& env,
                                        uint64_t generation) {
  return WhileKept(source, env, [&](const State& newest) -> absl::StatusOr<StatePtr> {
    if (newest.generation() == generation) return std::make_shared<const State>(newest);
    CAIRN_ASSIGN_OR_RETURN(StatePtr state, FindGeneration(source, newest, generation));
    if (state != nullptr) return state;
    return NotFound("generation %d: the frame holds generations %d to %d", generation,
                    OldestOf(newest), newest.generation());
  });
}

}  // namespace cairn::frame
