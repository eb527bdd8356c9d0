// The roles of processes that use a frame at the same time.
#ifndef CAIRN_TESTS_CONCURRENCY_ROLES_H_
#define CAIRN_TESTS_CONCURRENCY_ROLES_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/status.h"

#include "cairn/options.h"
#include "tests/concurrency/author.h"
#include "tests/concurrency/notice_board.h"

namespace cairn::test {

// Goes on with the frame that another writer left, in whatever way, until the writers are done or
// it is killed, and posts what it was told of. An error when the frame lacks what was posted
// before.
absl::Status WriteUntilDone(const NoticeBoard& board, const Author::Options& options,
                            std::chrono::microseconds longest_pause = {});

struct ReaderOptions {
  std::string path;
  OpenOptions open = {};
  uint64_t seed = 1;
  int threads = 1;  // that share one handle
  std::chrono::microseconds longest_pause{2000};
};

// Checks all states that it sees, and that none lacks what was posted before it looked.
absl::Status ReadUntilWritersAreDone(const NoticeBoard& board, const ReaderOptions& options);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_CONCURRENCY_ROLES_H_
