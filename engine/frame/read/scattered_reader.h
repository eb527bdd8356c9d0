// Reads items from all over a frame: single ones, and boxes of n-dimensional arrays.
#ifndef CAIRN_ENGINE_FRAME_READ_SCATTERED_READER_H_
#define CAIRN_ENGINE_FRAME_READ_SCATTERED_READER_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"

#include "cairn/types.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Both functions open each touched chunk once and decode each touched block once.

// Writes item items[i] as the i-th item of dst.
absl::Status GatherItems(const State& state, std::span<const int64_t> items, MutableBytes dst);

// See Snapshot::ReadBox. Its cost follows from the box and never from what the metalayer claims.
absl::Status ReadBox(const State& state, std::span<const int64_t> start,
                     std::span<const int64_t> shape, MutableBytes dst);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READ_SCATTERED_READER_H_
