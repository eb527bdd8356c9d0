// Malformed LZ4 that LZ4 decodes all the same.
#ifndef CAIRN_FUZZ_LZ4_STREAMS_H_
#define CAIRN_FUZZ_LZ4_STREAMS_H_

#include "cairn/types.h"

namespace cairn::fuzz {

// Whether any stream of the chunk has a match of distance 0. LZ4 takes that for zeros or for what
// is in memory there, by how near the end of what is wanted it lies: the bytes of a part may differ
// from those of the whole.
bool RepeatsAtNoDistance(Bytes chunk);

}  // namespace cairn::fuzz

#endif  // CAIRN_FUZZ_LZ4_STREAMS_H_
