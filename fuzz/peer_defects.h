// Where C-Blosc2 decodes something else than was encoded, or undefined bytes; see docs/errata.md.
#ifndef CAIRN_FUZZ_PEER_DEFECTS_H_
#define CAIRN_FUZZ_PEER_DEFECTS_H_

#include "cairn/types.h"

namespace cairn::fuzz {

bool PeerIsKnownToDiffer(Bytes chunk);

}  // namespace cairn::fuzz

#endif  // CAIRN_FUZZ_PEER_DEFECTS_H_
