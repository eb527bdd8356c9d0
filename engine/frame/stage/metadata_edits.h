// Edits of a draft's metadata.
#ifndef CAIRN_ENGINE_FRAME_STAGE_METADATA_EDITS_H_
#define CAIRN_ENGINE_FRAME_STAGE_METADATA_EDITS_H_

#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/frame/stage/staged_state.h"
#include "engine/frame/state/frame_context.h"

namespace cairn::frame {

// The same with other content of a metalayer, which keeps its size.
absl::StatusOr<std::shared_ptr<const Metadata>> WithMetalayer(const Metadata& metadata,
                                                              std::string_view name, Bytes content);

// What is refused changes nothing; see Writer.
absl::Status SetMetalayer(StagedState& draft, std::string_view name, Bytes content);
absl::Status SetVlmetalayer(StagedState& draft, const FrameContext& env, std::string_view name,
                            Bytes content);
absl::Status DeleteVlmetalayer(StagedState& draft, std::string_view name);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_METADATA_EDITS_H_
