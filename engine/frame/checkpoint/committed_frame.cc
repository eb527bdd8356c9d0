#include "engine/frame/checkpoint/committed_frame.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/random.h"
#include "engine/base/status.h"
#include "engine/format/frame_header.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/open/state_loader.h"

namespace cairn::frame {

namespace {

absl::Status WriteAgain(File& file, Extent bytes) {
  constexpr int64_t kPieceSize = 1 << 20;
  std::vector<std::byte> piece;
  for (int64_t at = bytes.begin; at < bytes.end; at += std::ssize(piece)) {
    piece.resize(static_cast<size_t>(std::min(kPieceSize, bytes.end - at)));
    CAIRN_RETURN_IF_ERROR(file.ReadAt(at, piece));
    CAIRN_RETURN_IF_ERROR(file.WriteAt(at, piece));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CommittedFrame::InstallFile(std::shared_ptr<File> written) {
  // The old lock stays until the core knows the new file, or another writer could slip in.
  const std::shared_ptr<File> old = std::exchange(file, std::move(written));
  CAIRN_ASSIGN_OR_RETURN(source, core->OpenForReading(file));
  return Reload();
}

absl::Status CommittedFrame::Reload() {
  CAIRN_ASSIGN_OR_RETURN(StatePtr loaded, LoadState(source, core->env()));
  return InstallCheckpoint(std::move(loaded));
}

absl::Status CommittedFrame::ReloadCheckpoint(std::vector<std::byte> header, Chunk end) {
  CAIRN_ASSIGN_OR_RETURN(StatePtr loaded,
                         LoadCheckpoint(source, std::move(header), core->env(), std::move(end)));
  return InstallCheckpoint(std::move(loaded));
}

absl::Status CommittedFrame::InstallCheckpoint(StatePtr loaded) {
  state = std::move(loaded);
  core->InstallFile(source, state);
  sync->Begin(file, committed(), committed());
  plain = false;
  NoteCheckpoint();
  return absl::OkStatus();
}

void CommittedFrame::NoteCheckpoint() {
  const Checkpoint& checkpoint = *state->checkpoint;
  if (!checkpoint.seal_holds) return checkpoints.clear();
  const format::Seal& seal = *checkpoint.seal;
  std::erase_if(checkpoints, [&](uint64_t generation) {
    return generation < seal.oldest_generation || generation >= seal.generation;
  });
  if (checkpoints.empty() && seal.oldest_generation < seal.generation) {
    checkpoints.push_back(seal.oldest_generation);
  }
  checkpoints.push_back(seal.generation);
  CAIRN_DCHECK(std::ranges::is_sorted(checkpoints));
}

uint64_t CommittedFrame::OldestToKeep(uint64_t generation) const {
  const uint64_t enough = generation - std::min(generation, keep_generations);
  uint64_t oldest = generation;
  for (auto it = checkpoints.rbegin(); it != checkpoints.rend() && oldest > enough; ++it) {
    oldest = *it;
  }
  CAIRN_DCHECK(oldest <= generation);
  return oldest;
}

void CommittedFrame::InstallState(StatePtr next) {
  CAIRN_DCHECK(next->generation() >= state->generation());
  state = std::move(next);
  core->InstallState(state);
  sync->SetCommitted(committed());
}

absl::Status CommittedFrame::PersistHeader() const {
  const Bytes header(state->checkpoint->header_bytes);
  CAIRN_RETURN_IF_ERROR(
      file->WriteAt(0, header.first(static_cast<size_t>(format::kFixedHeaderSize))));
  CAIRN_RETURN_IF_ERROR(sync->Sync(committed(), SyncMode::kAll));
  // A writer that died after a rename may have left the name to chance.
  return SyncNames(location());
}

absl::Status CommittedFrame::PersistAgain(Extent bytes) const { return WriteAgain(*file, bytes); }

// A thread that waits for its commit may pay this debt while the writer works. That is safe: before
// a sync the writer changes none of these bytes, and never the header of this checkpoint.
void CommittedFrame::OweHeaderAnd(std::vector<Extent> bytes, int64_t durable_end) const {
  bytes.push_back({0, format::kFixedHeaderSize});
  sync->Owe(
      [core = core, file = file, bytes = std::move(bytes)]() -> absl::Status {
        for (const Extent& each : bytes) CAIRN_RETURN_IF_ERROR(WriteAgain(*file, each));
        return SyncNames(core->location());
      },
      durable_end);
}

absl::Status CommittedFrame::CheckNotReplaced() const {
  CAIRN_ASSIGN_OR_RETURN(const bool there, RefersTo(*location().files, location().path, *file));
  if (there) return absl::OkStatus();
  return FailedPrecondition("%s was replaced by another file", location().path);
}

CheckpointPlan CommittedFrame::PlanCheckpoint(int64_t index_begin, bool new_file) const {
  CheckpointPlan plan;
  plan.index_begin = index_begin;
  plan.seal.nonce =
      state->checkpoint->seal.has_value() ? state->checkpoint->seal->nonce : RandomNumber();
  plan.seal.generation = state->generation() + 1;
  plan.seal.previous_end = new_file ? 0 : state->header().frame_size;
  plan.seal.oldest_generation =
      new_file ? plan.seal.generation : OldestToKeep(plan.seal.generation);
  plan.seal.type = fingerprint;
  plan.plain = plain;
  plan.pool = &core->env()->pool;
  return plan;
}

absl::Status CheckNotLast(const State& state) {
  if (state.generation() < format::kMaxGeneration) return absl::OkStatus();
  return FailedPrecondition("generation %d is the last one", state.generation());
}

}  // namespace cairn::frame
