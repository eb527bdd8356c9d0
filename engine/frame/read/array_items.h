// Reads items of an array by their number in C order, wherever chunks and blocks hold them.
#ifndef CAIRN_ENGINE_FRAME_READ_ARRAY_ITEMS_H_
#define CAIRN_ENGINE_FRAME_READ_ARRAY_ITEMS_H_

#include <cstdint>

#include "absl/status/status.h"

#include "cairn/types.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Reads the items from number `start` on that fill dst, whose size is a multiple of the typesize.
//
// Errors:
//   kOutOfRange for items that the array does not have;
//   kDataLoss if the frame does not have the chunks that its array asks for.
absl::Status ReadArrayItems(const State& state, int64_t start, MutableBytes dst);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READ_ARRAY_ITEMS_H_
