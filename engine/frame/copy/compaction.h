// Compacts a frame, for the most part while others may write it.
#ifndef CAIRN_ENGINE_FRAME_COPY_COMPACTION_H_
#define CAIRN_ENGINE_FRAME_COPY_COMPACTION_H_

#include <memory>

#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "cairn/reports.h"
#include "engine/frame/open/frame_core.h"

namespace cairn::frame {

// See Frame::Compact. The chunks of a contiguous frame are copied before the writer's lock is
// taken, so that another writer can commit meanwhile. Only its changes are copied under the lock.
absl::StatusOr<CompactReport> CompactFrame(const std::shared_ptr<FrameCore>& core,
                                           const CompactOptions& options);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COPY_COMPACTION_H_
