// Edits and reads of a frame by C-Blosc2, compared with the model. Failures are GoogleTest's.
#ifndef CAIRN_TESTS_INTEROP_PEER_EDITS_H_
#define CAIRN_TESTS_INTEROP_PEER_EDITS_H_

#include <optional>
#include <string>
#include <string_view>

#include "tests/interop/frame_case.h"
#include "tests/interop/peer_frame.h"

namespace cairn::interop {

// A path of this process where nothing is.
std::string FreshPath(std::string_view name);

// All that the peer reads equals the model.
void ExpectPeerReads(const std::optional<PeerFrame>& peer, const FrameCase& c, Random& random);
void ExpectPeerReadsFile(const std::string& path, const FrameCase& c, Random& random);

// Appends, updates, inserts, deletes and reorders chunks and sets metadata; counts them.
void EditByPeer(const std::string& path, Random& random, FrameCase* c);
// Writes the frame of the case by the peer alone.
void CreateByPeer(const std::string& path, Random& random, FrameCase* c);

}  // namespace cairn::interop

#endif  // CAIRN_TESTS_INTEROP_PEER_EDITS_H_
