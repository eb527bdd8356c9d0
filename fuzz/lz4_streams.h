// Malformed LZ4 that LZ4 decodes all the same.
#ifndef CAIRN_FUZZ_LZ4_STREAMS_H_
#define CAIRN_FUZZ_LZ4_STREAMS_H_

#include "cairn/types.h"

namespace cairn::fuzz {

// Returns true if any stream of the chunk has a match of distance 0. LZ4 reads that as zeros or as
// whatever is in memory there, depending on how near the end of the wanted bytes it lies. So the
// bytes of a part may differ from those of the whole.
bool RepeatsAtNoDistance(Bytes chunk);

}  // namespace cairn::fuzz

#endif  // CAIRN_FUZZ_LZ4_STREAMS_H_
