// Helpers that the implementations of the public handles share.
#ifndef CAIRN_ENGINE_FRAME_API_HANDLE_ACCESS_H_
#define CAIRN_ENGINE_FRAME_API_HANDLE_ACCESS_H_

#include <memory>
#include <utility>

#include "cairn/snapshot.h"
#include "cairn/writer.h"
#include "engine/base/status.h"
#include "engine/frame/state/state.h"
#include "engine/frame/writer/frame_writer.h"

namespace cairn::frame {

// Makes public handles for the engine.
struct HandleAccess {
  static Snapshot Make(StatePtr state) { return Snapshot(std::move(state)); }
  static const State& StateOf(const Snapshot& snapshot) { return *snapshot.state_; }
  static const StatePtr& PointerOf(const Snapshot& snapshot) { return snapshot.state_; }
  static Writer Make(std::unique_ptr<FrameWriter> writer) { return Writer(std::move(writer)); }
};

// Checks that typed values have the size of a frame's items. `value_size` is 0 for raw bytes, which
// fit any frame.
inline absl::Status CheckItemSize(size_t value_size, int32_t typesize) {
  if (value_size == 0 || value_size == static_cast<size_t>(typesize)) return absl::OkStatus();
  return InvalidArgument("values of %d bytes are not items of a frame with typesize %d", value_size,
                         typesize);
}

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_API_HANDLE_ACCESS_H_
