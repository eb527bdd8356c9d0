// Reads all that a frame holds, in every way that there is.
#ifndef CAIRN_FUZZ_READ_ALL_H_
#define CAIRN_FUZZ_READ_ALL_H_

#include "cairn/frame.h"
#include "cairn/options.h"

namespace cairn::fuzz {

// Limits small enough to read everything that keeps them.
OpenOptions SmallLimits();

// Every way to read gives the same bytes or is refused, and what Verify finds nothing wrong with
// can be read.
void ReadAll(const Snapshot& snapshot);

// Opens bytes as a frame, and reads it, with each of its generations.
void ReadFrame(Bytes bytes, int64_t offset = 0);

}  // namespace cairn::fuzz

#endif  // CAIRN_FUZZ_READ_ALL_H_
