// Loads packed super-chunks of 2015 as frames of one header, whose chunks begin after it.
#ifndef CAIRN_ENGINE_FRAME_OPEN_PACKED_LOADER_H_
#define CAIRN_ENGINE_FRAME_OPEN_PACKED_LOADER_H_

#include "absl/status/status.h"

#include "engine/frame/files/frame_file.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Looks at the header of every chunk: nothing less distinguishes a super-chunk from other bytes.
absl::Status LoadPacked(const FrameFile& source, StateBuilder& builder);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_OPEN_PACKED_LOADER_H_
