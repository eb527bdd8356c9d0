#include "tests/crash/opened_frame.h"

#include <utility>

#include "engine/base/status.h"
#include "engine/frame/api/handle_access.h"
#include "engine/frame/writer/frame_writer.h"
#include "tests/support/opened_core.h"

namespace cairn::test {

absl::StatusOr<OpenedFrame> OpenedFrame::Open(SimulatedDisk& disk, const OpeningRules& rules) {
  OpenedFrame opened;
  const OpenOptions options = {.durable_only = rules.durable_only, .file_system = disk.root()};
  const frame::ReplayChecks& checks = rules.replay;
  const bool usual = checks.check_chunks && checks.check_prev && checks.check_durable &&
                     checks.check_boot && !rules.gradual && !rules.summaries;
  if (usual) {
    CAIRN_ASSIGN_OR_RETURN(opened.frame_, Frame::Open(kPath, options));
    return opened;
  }
  auto env = std::make_shared<frame::FrameContext>(options);
  env->replay = checks;
  env->checkpoints.least_expected = 0;
  if (rules.gradual) {
    env->checkpoints.least_edits = 6;
    env->checkpoints.least_gradual = 1;
    env->checkpoints.use_thread = false;
    env->checkpoints.least_free = 0;
  }
  if (rules.summaries) {
    env->checkpoints.least_summarized = 1;
    env->checkpoints.edits_of_summary = 3;
  }
  CAIRN_ASSIGN_OR_RETURN(opened.core_, OpenCore(kPath, env));
  return opened;
}

Snapshot OpenedFrame::snapshot() const {
  return core_ == nullptr ? frame_->snapshot() : frame::HandleAccess::Make(core_->newest());
}

absl::StatusOr<Snapshot> OpenedFrame::Refresh() {
  if (core_ == nullptr) return frame_->Refresh();
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const frame::State> state, core_->Refresh());
  return frame::HandleAccess::Make(std::move(state));
}

absl::StatusOr<Writer> OpenedFrame::OpenWriter(const WriterOptions& options) {
  if (core_ == nullptr) return frame_->OpenWriter(options);
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<frame::FrameWriter> writer,
                         frame::OpenWriter(core_, options));
  return frame::HandleAccess::Make(std::move(writer));
}

absl::Status OpenedFrame::Compact() {
  if (core_ == nullptr) return frame_->Compact().status();
  return Unimplemented("a frame that is opened by other rules");
}

}  // namespace cairn::test
