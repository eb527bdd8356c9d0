// Edits of a draft's metadata.
#ifndef CAIRN_ENGINE_FRAME_STAGE_METADATA_EDITS_H_
#define CAIRN_ENGINE_FRAME_STAGE_METADATA_EDITS_H_

#include <string_view>

#include "absl/status/status.h"

#include "cairn/types.h"
#include "engine/frame/stage/staged_state.h"
#include "engine/frame/state/frame_context.h"

namespace cairn::frame {

// What is refused changes nothing; see Writer.
absl::Status SetMetalayer(StagedState& draft, std::string_view name, Bytes content);
absl::Status SetVlmetalayer(StagedState& draft, const FrameContext& env, std::string_view name,
                            Bytes content);
absl::Status DeleteVlmetalayer(StagedState& draft, std::string_view name);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_METADATA_EDITS_H_
