// Reads many pages of a mapped file at once.
#ifndef CAIRN_ENGINE_STORAGE_READ_AHEAD_H_
#define CAIRN_ENGINE_STORAGE_READ_AHEAD_H_

#include <cstdint>

#include "cairn/types.h"

namespace cairn::storage {

// For fewer bytes the call costs more than it saves.
inline constexpr int64_t kLeastReadAhead = 64 << 10;

// Starts reading mapped bytes that will all be read next, and only these. A fault on a missing page
// makes the kernel read as much around it as the device is set to, which is often much more. A
// hint: errors are ignored.
void ReadAhead(Bytes bytes);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_READ_AHEAD_H_
