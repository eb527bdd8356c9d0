// What writers that died left under temporary names.
#ifndef CAIRN_ENGINE_FRAME_FILES_ABANDONED_H_
#define CAIRN_ENGINE_FRAME_FILES_ABANDONED_H_

#include "engine/frame/files/frame_location.h"

namespace cairn::frame {

// Removes files and directories with temporary names beside the frame, if their locks are free:
// then the writer that made them is dead. Leaves alone what links lead to, and a directory that
// holds more than a frame. What cannot be removed stays, and in a directory of many names some may
// be missed.
void RemoveAbandoned(const FrameLocation& location);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_FILES_ABANDONED_H_
