// Tells by the first bytes which format a frame has.
#ifndef CAIRN_ENGINE_FORMAT_LEGACY_ERA_H_
#define CAIRN_ENGINE_FORMAT_LEGACY_ERA_H_

#include <cstdint>

#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn::format::legacy {

// EraOf looks at up to this many bytes.
inline constexpr int64_t kEraBytes = 96;

// Returns the format. `head` is the start of a frame of `size` bytes. Damaged magic counts as
// current, because the parser of current frames says what is wrong with it. Errors:
// kInvalidArgument if it is not a Blosc2 frame.
absl::StatusOr<Era> EraOf(Bytes head, int64_t size);

}  // namespace cairn::format::legacy

#endif  // CAIRN_ENGINE_FORMAT_LEGACY_ERA_H_
