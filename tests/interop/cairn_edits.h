// Edits that Cairn makes to a frame in its turn. Failures are GoogleTest's.
#ifndef CAIRN_TESTS_INTEROP_CAIRN_EDITS_H_
#define CAIRN_TESTS_INTEROP_CAIRN_EDITS_H_

#include <string>

#include "tests/interop/frame_case.h"

namespace cairn::interop {

// Appends, inserts, updates, deletes and reorders chunks and sets metadata, with commits between,
// closes the frame and at times compacts it; counts the edits.
void EditChunksByCairn(const std::string& path, Random& random, FrameCase* c);

}  // namespace cairn::interop

#endif  // CAIRN_TESTS_INTEROP_CAIRN_EDITS_H_
