#include <optional>
#include <utility>

#include "engine/base/status.h"
#include "engine/frame/commit/contiguous_backend.h"
#include "engine/frame/commit/contiguous_file.h"
#include "engine/frame/commit/creation.h"
#include "engine/frame/files/peer_lock.h"
#include "engine/frame/files/replacement.h"
#include "engine/frame/stage/contiguous_sink.h"

namespace cairn::frame {

namespace {

class ContiguousCreation final : public CreatingBackend {
 public:
  ContiguousCreation(CreationPlan plan, StagerOptions options)
      : plan_(std::move(plan)), options_(std::move(options)) {}

  absl::Status Begin(CreationStart start);

  const CommittedFrame& frame() const override { return frame_; }
  absl::StatusOr<std::unique_ptr<Stager>> Stage() override {
    return Stager::OfNewFrame(frame_.state, *sink_, options_, plan_.array);
  }
  // What a snapshot reads of the old file stays there.
  absl::Status Restart(bool /*failed*/) override { return BeginFile(); }
  void PinStaged(const std::shared_ptr<const State>& /*snapshot*/) override {}
  absl::Status WriteCheckpoint(Stager& stager) override;

 private:
  absl::Status BeginFile();
  absl::Status Publish(Stager& stager);

  CreationPlan plan_;
  StagerOptions options_;
  CommittedFrame frame_;
  std::optional<AtomicFile> new_file_;
  std::optional<ContiguousSink> sink_;
};

absl::Status ContiguousCreation::BeginFile() {
  CAIRN_ASSIGN_OR_RETURN(AtomicFile file, NewFileAt(plan_.final_location));
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

absl::Status ContiguousCreation::Begin(CreationStart start) {
  frame_.state = std::move(start.state);
  frame_.fingerprint = start.fingerprint;
  CAIRN_RETURN_IF_ERROR(BeginFile());
  frame_.core =
      std::make_shared<FrameCore>(plan_.final_location, frame_.source, frame_.state->env());
  return absl::OkStatus();
}

absl::Status ContiguousCreation::Publish(Stager& stager) {
  const StagedState& staged = stager.draft();
  if (sink_->end() - staged.header.header_len == staged.stored_bytes) {
    CheckpointPlan plan = frame_.PlanCheckpoint(0, true);
    plan.plain = plan_.plain;
    CAIRN_RETURN_IF_ERROR(
        WriteContiguous(*frame_.file, staged, sink_->end(), plan, &frame_.core->env()->pool));
  } else {
    // Edits left dead bytes, which a snapshot may still read.
    CAIRN_ASSIGN_OR_RETURN(new_file_, CopyContiguous(frame_, stager, plan_.plain, NeverStop));
    frame_.file = new_file_->file();
  }
  CAIRN_RETURN_IF_ERROR(new_file_->Publish(plan_.replace));
  new_file_.reset();
  return frame_.Adopt(frame_.file);
}

absl::Status ContiguousCreation::WriteCheckpoint(Stager& stager) {
  const FrameLocation& location = plan_.final_location;
  const auto old = LockForReplacement(plan_.replace ? location.files : nullptr, location.path);
  if (!old.ok()) return Refuse(old.status());
  auto peer_lock = TakePeerLock(location, {});
  if (!peer_lock.ok()) return Refuse(peer_lock.status());
  frame_.peer_lock = *std::move(peer_lock);
  CAIRN_RETURN_IF_ERROR(Finish(stager));
  CAIRN_RETURN_IF_ERROR(Publish(stager));
  successor_ = std::make_unique<ContiguousBackend>(std::move(frame_), options_);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<CommitBackend>> CreateContiguous(CreationPlan plan,
                                                                CreationStart start) {
  auto creation = std::make_unique<ContiguousCreation>(std::move(plan), start.options);
  CAIRN_RETURN_IF_ERROR(creation->Begin(std::move(start)));
  return creation;
}

}  // namespace cairn::frame
