// Reads single items from all over a frame.
#ifndef CAIRN_ENGINE_FRAME_READ_ITEM_GATHER_H_
#define CAIRN_ENGINE_FRAME_READ_ITEM_GATHER_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"

#include "cairn/types.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Writes item items[i] as the i-th item of dst. Opens each chunk and decodes each block once.
absl::Status GatherItems(const State& state, std::span<const int64_t> items, MutableBytes dst);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READ_ITEM_GATHER_H_
