// A frame on a simulated disk, opened as programs do, or with rules of replay that no program has.
#ifndef CAIRN_TESTS_CRASH_OPENED_FRAME_H_
#define CAIRN_TESTS_CRASH_OPENED_FRAME_H_

#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/frame.h"
#include "engine/frame/open/frame_core.h"
#include "engine/frame/state/frame_context.h"
#include "tests/support/simulated_disk.h"

namespace cairn::test {

struct OpeningRules {
  frame::ReplayChecks replay = {};
  bool durable_only = false;
  bool gradual = false;    // checkpoints are made step by step, and often
  bool summaries = false;  // the journal is summed up, and often
};

class OpenedFrame {
 public:
  static constexpr const char* kPath = "frame";

  static absl::StatusOr<OpenedFrame> Open(SimulatedDisk& disk, const OpeningRules& rules = {});

  Snapshot snapshot() const;
  absl::StatusOr<Snapshot> Refresh();
  absl::StatusOr<Writer> OpenWriter(const WriterOptions& options = {});
  // Only by the usual rules.
  absl::Status Compact();

 private:
  std::optional<Frame> frame_;
  std::shared_ptr<frame::FrameCore> core_;  // by rules that are not the usual ones
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_CRASH_OPENED_FRAME_H_
