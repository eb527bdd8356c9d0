// Frames that live for a moment, and what saves them.
#ifndef CAIRN_TESTS_CONCURRENCY_SAVER_H_
#define CAIRN_TESTS_CONCURRENCY_SAVER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

#include "cairn/types.h"
#include "tests/concurrency/notice_board.h"

namespace cairn::test {

// Until the writers are done makes one frame after the other in `folder`, ruins it, salvages and
// recovers it, and checks that nothing is missing.
absl::Status SaveFramesUntilDone(const NoticeBoard& board, const std::string& folder, Layout layout,
                                 uint64_t seed);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_CONCURRENCY_SAVER_H_
