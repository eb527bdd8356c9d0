// Finds the parts of a frame in its file.
#ifndef CAIRN_TESTS_SUPPORT_FRAME_PARTS_H_
#define CAIRN_TESTS_SUPPORT_FRAME_PARTS_H_

#include <cstdint>

#include "tests/support/bytes.h"

namespace cairn::test {

// The parts of a contiguous frame, from its header and the end of its trailer alone.
struct FrameParts {
  int64_t header_len = 0;
  int64_t index_begin = 0;
  int64_t trailer_begin = 0;
  int64_t frame_size = 0;
};
FrameParts PartsOf(Bytes frame);

// Changes the trailer as C-Blosc2 does when it writes it: type 0 and no fingerprint.
void DropFingerprint(Buffer& frame);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_FRAME_PARTS_H_
