// Which format a frame has, told by its first bytes.
#ifndef CAIRN_ENGINE_FORMAT_LEGACY_ERA_H_
#define CAIRN_ENGINE_FORMAT_LEGACY_ERA_H_

#include <cstdint>

#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn::format::legacy {

// Bytes that EraOf looks at, as far as there are so many.
inline constexpr int64_t kEraBytes = 96;

// `head` is the start of a frame of `size` bytes. Damaged magic counts as current: the parser of
// current frames says what is wrong with it. kInvalidArgument for what is not a Blosc2 frame.
absl::StatusOr<Era> EraOf(Bytes head, int64_t size);

}  // namespace cairn::format::legacy

#endif  // CAIRN_ENGINE_FORMAT_LEGACY_ERA_H_
