// Lists and loads the generations of a frame that its file still holds.
#ifndef CAIRN_ENGINE_FRAME_OPEN_HISTORY_H_
#define CAIRN_ENGINE_FRAME_OPEN_HISTORY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "cairn/reports.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Returns the checkpoint before the one that `state` is or follows, or null if it is gone. `oldest`
// is the oldest generation that the newest seal keeps.
absl::StatusOr<StatePtr> PreviousCheckpoint(const FrameFile& source, const State& state,
                                            uint64_t oldest);

// Lists the generations, the oldest first.
absl::StatusOr<std::vector<GenerationInfo>> ListHistory(
    const FrameFile& source, const std::shared_ptr<const FrameContext>& env,
    const HistoryOptions& options);

// Loads the state of that generation. Errors: kNotFound if the file no longer holds it.
absl::StatusOr<StatePtr> LoadGeneration(const FrameFile& source,
                                        const std::shared_ptr<const FrameContext>& env,
                                        uint64_t generation);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_OPEN_HISTORY_H_
