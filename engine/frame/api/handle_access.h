// How the engine makes public handles, and tests look into them.
#ifndef CAIRN_ENGINE_FRAME_API_HANDLE_ACCESS_H_
#define CAIRN_ENGINE_FRAME_API_HANDLE_ACCESS_H_

#include <memory>
#include <utility>

#include "cairn/snapshot.h"
#include "cairn/writer.h"
#include "engine/frame/commit/frame_writer.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

struct HandleAccess {
  static Snapshot Make(std::shared_ptr<const State> state) { return Snapshot(std::move(state)); }
  static Writer Make(std::unique_ptr<FrameWriter> writer) { return Writer(std::move(writer)); }
  static const State& StateOf(const Snapshot& snapshot) { return *snapshot.state_; }
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_API_HANDLE_ACCESS_H_
