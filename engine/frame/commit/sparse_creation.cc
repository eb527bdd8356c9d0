#include <utility>

#include "engine/base/status.h"
#include "engine/frame/commit/creation.h"
#include "engine/frame/commit/sparse_backend.h"
#include "engine/frame/files/atomic_directory.h"
#include "engine/frame/files/replacement.h"
#include "engine/frame/stage/sparse_sink.h"
#include "engine/frame/state/sparse_chunk_source.h"

namespace cairn::frame {

namespace {

class SparseCreation final : public CreatingBackend {
 public:
  SparseCreation(CreationPlan plan, StagerOptions options, AtomicDirectory made)
      : plan_(std::move(plan)), options_(std::move(options)), made_(std::move(made)) {}

  absl::Status Begin(CreationStart start);

  const CommittedFrame& frame() const override { return frame_; }
  absl::StatusOr<std::unique_ptr<Stager>> Stage() override {
    return Stager::OfNewFrame(frame_.state, *sink_, options_, plan_.array);
  }
  absl::Status Restart(bool /*failed*/) override {
    sink_->Discard();
    return absl::OkStatus();
  }
  void PinStaged(const std::shared_ptr<const State>& snapshot) override { sink_->Pin(snapshot); }
  absl::Status WriteCheckpoint(Stager& stager) override;

 private:
  CreationPlan plan_;
  StagerOptions options_;
  AtomicDirectory made_;
  CommittedFrame frame_;
  std::unique_ptr<SparseSink> sink_;
};

absl::Status SparseCreation::Begin(CreationStart start) {
  const std::shared_ptr<const FrameContext> env = start.state->env();
  const FrameLocation& final_location = plan_.final_location;
  frame_.file = made_.index();
  frame_.source = FrameFile::OfIndex(frame_.file, made_.directory(), env->use_mmap);
  frame_.core = std::make_shared<FrameCore>(
      LocationIn(made_.directory(), final_location.files, final_location.path), frame_.source, env);
  frame_.fingerprint = start.fingerprint;
  auto state = std::make_shared<State>(*start.state);
  state->chunk_source = std::make_shared<SparseChunkSource>(made_.directory(), frame_.file, *env);
  frame_.state = std::move(state);
  CAIRN_ASSIGN_OR_RETURN(sink_, SparseSink::Make(made_.directory(), frame_.state->chunks));
  return absl::OkStatus();
}

absl::Status SparseCreation::WriteCheckpoint(Stager& stager) {
  const FrameLocation& location = plan_.final_location;
  const auto old = LockForReplacement(plan_.replace ? location.files : nullptr, location.path);
  if (!old.ok()) return Refuse(old.status());
  CAIRN_RETURN_IF_ERROR(Finish(stager));
  CAIRN_RETURN_IF_ERROR(sink_->Sync());
  CheckpointPlan plan = frame_.PlanCheckpoint(0, true);
  plan.plain = plan_.plain;
  CAIRN_RETURN_IF_ERROR(
      WriteSparseIndex(*frame_.file, stager.draft(), plan, &frame_.core->env()->pool));
  CAIRN_RETURN_IF_ERROR(made_.Publish(plan_.replace));
  CAIRN_RETURN_IF_ERROR(frame_.Adopt(frame_.file));
  successor_ = std::make_unique<SparseBackend>(std::move(frame_), options_, std::move(sink_));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<CommitBackend>> CreateSparse(CreationPlan plan,
                                                            CreationStart start) {
  const FrameLocation& location = plan.final_location;
  if (location.files == nullptr) {
    return InvalidArgument("a sparse frame is a directory: it cannot live in memory");
  }
  CAIRN_ASSIGN_OR_RETURN(AtomicDirectory made,
                         AtomicDirectory::CreateBeside(location.files, location.path));
  auto creation = std::make_unique<SparseCreation>(std::move(plan), start.options, std::move(made));
  CAIRN_RETURN_IF_ERROR(creation->Begin(std::move(start)));
  return creation;
}

}  // namespace cairn::frame
