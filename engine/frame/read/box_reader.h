// Reads boxes of n-dimensional arrays.
#ifndef CAIRN_ENGINE_FRAME_READ_BOX_READER_H_
#define CAIRN_ENGINE_FRAME_READ_BOX_READER_H_

#include <cstdint>
#include <span>

#include "absl/status/status.h"

#include "cairn/types.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// See Snapshot::ReadBox. Opens each touched chunk once and decodes each touched block once; its
// cost follows from the box and never from what the metalayer claims.
absl::Status ReadBox(const State& state, std::span<const int64_t> start,
                     std::span<const int64_t> shape, MutableBytes dst);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READ_BOX_READER_H_
