// Knows where C-Blosc2 decodes other bytes than were encoded, or undefined ones; see
// docs/errata.md.
#ifndef CAIRN_FUZZ_PEER_DEFECTS_H_
#define CAIRN_FUZZ_PEER_DEFECTS_H_

#include "cairn/types.h"

namespace cairn::fuzz {

bool PeerIsKnownToDiffer(Bytes chunk);

}  // namespace cairn::fuzz

#endif  // CAIRN_FUZZ_PEER_DEFECTS_H_
