#include "engine/frame/commit/creation.h"

#include <optional>
#include <utility>

#include "engine/base/status.h"
#include "engine/frame/commit/contiguous_backend.h"
#include "engine/frame/commit/contiguous_file.h"
#include "engine/frame/commit/sparse_backend.h"
#include "engine/frame/files/atomic_file.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/files/replacement.h"
#include "engine/frame/state/sparse_chunk_source.h"

namespace cairn::frame {

namespace {

// What both layouts do in the same way. A creating stager is always edited, so there is nothing to
// sync, reclaim or rewrite.
class Creation : public CommitBackend {
 public:
  explicit Creation(CreationPlan plan) : plan_(std::move(plan)) {
    frame_.state = plan_.state;
    frame_.fingerprint = plan_.fingerprint;
  }

  // Makes the files that have no name yet.
  virtual absl::Status Begin() = 0;

  const CommittedFrame& frame() const final { return frame_; }
  absl::StatusOr<ReclaimReport> ReclaimSpace(const ReclaimOptions& /*options*/) final {
    return absl::InternalError("the frame does not exist yet");
  }
  absl::StatusOr<int64_t> Rewrite(ChunkProgress /*progress*/) final {
    return absl::InternalError("the frame does not exist yet");
  }
  // What has no name goes with its owner.
  absl::Status DropUncommitted() final { return absl::OkStatus(); }
  std::unique_ptr<CommitBackend> Successor() final { return std::move(successor_); }

 protected:
  absl::StatusOr<std::unique_ptr<Stager>> StageInto(ChunkSink& sink) const {
    return Stager::OfNewFrame(frame_.state, sink, plan_.options, plan_.array);
  }
  // Locks the frame that is about to be replaced. Refused, the commit can be tried again.
  absl::StatusOr<HeldFiles> LockOld() const {
    if (!plan_.replace) return HeldFiles();
    auto held = LockForReplacement(plan_.final_location.files, plan_.final_location.path);
    return held.ok() ? std::move(held) : Refuse(held.status());
  }
  CheckpointPlan PlanCheckpoint() const {
    CheckpointPlan plan = frame_.PlanCheckpoint(0, true);
    plan.plain = plan_.plain;
    return plan;
  }

  const CreationPlan plan_;
  CommittedFrame frame_;
  std::unique_ptr<CommitBackend> successor_;  // once the frame is published
};

class ContiguousCreation final : public Creation {
 public:
  using Creation::Creation;

  absl::Status Begin() override;
  absl::StatusOr<std::unique_ptr<Stager>> Stage() override { return StageInto(*sink_); }
  // What a snapshot reads of the old file stays there.
  absl::Status Restart(bool /*failed*/) override { return BeginFile(); }
  void PinStaged(const std::shared_ptr<const State>& /*snapshot*/) override {}
  absl::Status WriteCheckpoint(Stager& stager) override;

 private:
  absl::Status BeginFile();
  absl::Status Publish(Stager& stager);

  std::optional<AtomicFile> new_file_;
  std::optional<ContiguousSink> sink_;
};

absl::Status ContiguousCreation::BeginFile() {
  CAIRN_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::CreateBeside(plan_.final_location.files,
                                                                   plan_.final_location.path));
  // Staged chunks can be read before there is a frame, so the file has to reach up to them.
  CAIRN_RETURN_IF_ERROR(file.file()->WriteAt(0, frame_.state->checkpoint->header_bytes));
  frame_.file = file.file();
  frame_.source = FrameFile::OfFile(frame_.file, 0, frame_.state->env()->use_mmap);
  new_file_ = std::move(file);
  const format::FrameHeader& header = frame_.state->header();
  sink_.emplace(
      frame_.file.get(), frame_.source,
      ContiguousSink::Start{.header_len = header.header_len, .position = header.frame_size});
  return absl::OkStatus();
}

absl::Status ContiguousCreation::Begin() {
  CAIRN_RETURN_IF_ERROR(BeginFile());
  frame_.core =
      std::make_shared<FrameCore>(plan_.final_location, frame_.source, frame_.state->env());
  return absl::OkStatus();
}

absl::Status ContiguousCreation::Publish(Stager& stager) {
  const StagedState& staged = stager.staged();
  if (sink_->end() - staged.header.header_len == staged.stored_bytes) {
    CAIRN_RETURN_IF_ERROR(WriteContiguous(*frame_.file, staged, sink_->end(), PlanCheckpoint(),
                                          &frame_.core->env()->pool));
  } else {
    // Edits left dead bytes, which a snapshot may still read.
    CAIRN_ASSIGN_OR_RETURN(new_file_, CopyContiguous(frame_, stager, plan_.plain, NeverStop));
    frame_.file = new_file_->file();
  }
  CAIRN_RETURN_IF_ERROR(new_file_->Publish(plan_.replace));
  return frame_.Adopt(frame_.file);
}

absl::Status ContiguousCreation::WriteCheckpoint(Stager& stager) {
  CAIRN_ASSIGN_OR_RETURN(const HeldFiles old, LockOld());
  frame_.peer_lock.reset();  // of an attempt that was refused
  auto peer_lock = TakePeerLock(plan_.final_location, {});
  if (!peer_lock.ok()) return Refuse(peer_lock.status());
  frame_.peer_lock = *std::move(peer_lock);
  CAIRN_RETURN_IF_ERROR(Finish(stager));
  CAIRN_RETURN_IF_ERROR(Publish(stager));
  successor_ = std::make_unique<ContiguousBackend>(std::move(frame_), plan_.options);
  return absl::OkStatus();
}

// In a directory that gets its name with the first checkpoint.
class SparseCreation final : public Creation {
 public:
  using Creation::Creation;

  absl::Status Begin() override;
  absl::StatusOr<std::unique_ptr<Stager>> Stage() override { return StageInto(*sink_); }
  absl::Status Restart(bool /*failed*/) override {
    sink_->Discard();
    return absl::OkStatus();
  }
  void PinStaged(const std::shared_ptr<const State>& snapshot) override { sink_->Pin(snapshot); }
  absl::Status WriteCheckpoint(Stager& stager) override;

 private:
  std::optional<AtomicDirectory> made_;
  std::unique_ptr<SparseSink> sink_;
};

absl::Status SparseCreation::Begin() {
  const std::shared_ptr<const FrameContext> env = plan_.state->env();
  const FrameLocation& location = plan_.final_location;
  CAIRN_ASSIGN_OR_RETURN(made_, AtomicDirectory::CreateBeside(location.files, location.path));
  frame_.file = made_->index();
  frame_.source = FrameFile::OfFile(frame_.file, 0, env->use_mmap, made_->directory());
  frame_.core = std::make_shared<FrameCore>(
      LocationIn(made_->directory(), location.files, location.path), frame_.source, env);
  auto state = std::make_shared<State>(*plan_.state);
  state->chunk_source = std::make_shared<SparseChunkSource>(made_->directory(), frame_.file, *env);
  frame_.state = std::move(state);
  CAIRN_ASSIGN_OR_RETURN(sink_, SparseSink::Make(made_->directory(), frame_.state->chunks));
  return absl::OkStatus();
}

absl::Status SparseCreation::WriteCheckpoint(Stager& stager) {
  CAIRN_ASSIGN_OR_RETURN(const HeldFiles old, LockOld());
  CAIRN_RETURN_IF_ERROR(Finish(stager));
  CAIRN_RETURN_IF_ERROR(sink_->Sync());
  CAIRN_RETURN_IF_ERROR(
      WriteSparseIndex(*frame_.file, stager.staged(), PlanCheckpoint(), &frame_.core->env()->pool));
  CAIRN_RETURN_IF_ERROR(made_->Publish(plan_.replace));
  CAIRN_RETURN_IF_ERROR(frame_.Adopt(frame_.file));
  successor_ = std::make_unique<SparseBackend>(std::move(frame_), plan_.options, std::move(sink_));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<CommitBackend>> BeginCreation(CreationPlan plan) {
  std::unique_ptr<Creation> creation;
  if (plan.state->header().layout == Layout::kContiguous) {
    creation = std::make_unique<ContiguousCreation>(std::move(plan));
  } else {
    creation = std::make_unique<SparseCreation>(std::move(plan));
  }
  CAIRN_RETURN_IF_ERROR(creation->Begin());
  return creation;
}

}  // namespace cairn::frame
