#include "engine/collection/members/member_reader.h"

#include <string>
#include <utility>
#include <vector>

#include "cairn/frame.h"
#include "engine/base/status.h"
#include "engine/collection/members/patched_files.h"
#include "engine/frame/api/handle_access.h"
#include "engine/frame/files/frame_location.h"
#include "engine/frame/open/history.h"
#include "engine/frame/open/state_loader.h"
#include "engine/frame/replay/replay.h"

namespace cairn::collection {

namespace {

using frame::HandleAccess;
using frame::State;
using frame::StatePtr;

absl::Status LacksState(const Position& position, const Snapshot& newest) {
  if (newest.info().generation == position.generation) {
    return DataLoss(
        "member: generation %d is not the one that the collection has committed; the file was "
        "changed or replaced outside the collection",
        position.generation);
  }
  return DataLoss(
      "member: expected generation %d, which the collection has committed, got generation %d; the "
      "file was changed or restored outside the collection",
      position.generation, newest.info().generation);
}

// In a frame of its own another Blosc2 may have changed them, such as the shape of an array. In a
// collection that is as good as damage, which would give wrong items, and copies would be sealed
// with it.
absl::Status CheckMetalayers(const Snapshot& snapshot) {
  const std::vector<std::string> changed = snapshot.info().changed_metalayers;
  if (changed.empty()) return absl::OkStatus();
  return DataLoss(
      "member: metalayer %s: is not the sealed one; it is damaged, or was changed outside the "
      "collection",
      changed.front());
}

// Returns the state of the generation, or null if the frame does not hold it. Its checkpoints form
// a chain, and a writer of the collection keeps those that readers need.
absl::StatusOr<StatePtr> FindGeneration(const State& newest, uint64_t generation) {
  const frame::FrameFile& source = newest.checkpoint->source;
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const void> kept, source.KeepSize());
  CAIRN_ASSIGN_OR_RETURN(StatePtr state,
                         LoadCheckpoint(source, newest.checkpoint->header_bytes, newest.env()));
  while (state != nullptr && state->generation() > generation) {
    CAIRN_ASSIGN_OR_RETURN(state, PreviousCheckpoint(source, *state, 0));
  }
  if (state == nullptr) return state;
  frame::JournalReader reader(source, state->journal->end);
  CAIRN_ASSIGN_OR_RETURN(
      const frame::ReplayResult replayed,
      ReplayJournal(source, *state, reader,
                    {.last_generation = generation, .search = SearchFor(source, false)}));
  return replayed.state != nullptr ? replayed.state : state;
}

}  // namespace

Position PositionOf(const Snapshot& snapshot) {
  const State& state = HandleAccess::StateOf(snapshot);
  if (!state.journal.has_value()) return {};
  return {.generation = state.generation(),
          .hash = state.journal->last,
          .checkpoint = state.journal->empty()};
}

absl::StatusOr<Snapshot> FindPosition(const Snapshot& newest, const Position& position) {
  const auto fits = [&](const Snapshot& snapshot) {
    const Position here = PositionOf(snapshot);
    return here.generation == position.generation && here.hash == position.hash;
  };
  if (fits(newest)) {
    CAIRN_RETURN_IF_ERROR(CheckMetalayers(newest));
    return newest;
  }
  const State& state = HandleAccess::StateOf(newest);
  const bool is_older = state.generation() <= position.generation;
  if (is_older || !state.journal.has_value() || !state.checkpoint->seal_holds) {
    return LacksState(position, newest);
  }
  CAIRN_ASSIGN_OR_RETURN(StatePtr found, FindGeneration(state, position.generation));
  if (found != nullptr) {
    Snapshot snapshot = HandleAccess::Make(std::move(found));
    if (fits(snapshot)) {
      CAIRN_RETURN_IF_ERROR(CheckMetalayers(snapshot));
      return snapshot;
    }
  }
  return LacksState(position, newest);
}

absl::StatusOr<bool> IsAhead(const Snapshot& newest, const Position& position) {
  const State& state = HandleAccess::StateOf(newest);
  if (!state.journal.has_value() || !state.checkpoint->seal_holds) return false;
  StatePtr older;
  for (const State* at = &state; at->generation() > position.generation; at = older.get()) {
    if (!at->journal->empty()) return true;
    CAIRN_ASSIGN_OR_RETURN(older, FindGeneration(state, at->generation() - 1));
    if (older == nullptr) return false;
  }
  return false;
}

absl::Status IsAheadError(const Snapshot& newest, const Position& position) {
  return DataLoss(
      "member: is ahead of the ledger: generation %d, expected %d; it was changed outside the "
      "collection, or copied while a commit was made; a copy that the collection makes of itself "
      "has the "
      "listed state",
      newest.info().generation, position.generation);
}

absl::StatusOr<Snapshot> OpenMemberAt(const std::string& path, const OpenOptions& options,
                                      const Position& position, const PatchesAfter& patches) {
  const absl::StatusOr<Frame> frame = Frame::Open(path, options);
  if (!frame.ok()) return frame.status();
  const Snapshot newest = frame->snapshot();
  const State& state = HandleAccess::StateOf(newest);
  const bool lacks = state.generation() < position.generation && state.checkpoint->seal_holds;
  const uint64_t after = lacks ? state.checkpoint->seal->generation : 0;
  std::vector<FilePatch> missing;
  if (lacks) missing = patches(after);
  if (missing.empty()) return FindPosition(newest, position);
  OpenOptions patched = options;
  patched.use_mmap = false;
  patched.file_system =
      ShowPatched(frame::FilesOrPosix(options.file_system), frame->path(), std::move(missing));
  CAIRN_ASSIGN_OR_RETURN(const Frame whole, Frame::Open(path, patched));
  return FindPosition(whole.snapshot(), position);
}

}  // namespace cairn::collection
