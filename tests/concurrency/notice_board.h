// Messages between the processes of a test, in memory that they share.
#ifndef CAIRN_TESTS_CONCURRENCY_NOTICE_BOARD_H_
#define CAIRN_TESTS_CONCURRENCY_NOTICE_BOARD_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"

namespace cairn::test {

// Hung up before the processes part, and taken down with the last of them.
class NoticeBoard {
 public:
  NoticeBoard();
  NoticeBoard(const NoticeBoard&) = delete;
  NoticeBoard& operator=(const NoticeBoard&) = delete;
  ~NoticeBoard();

  struct Notices {
    // These are of the newest commit that the writer was told of. Each only grows.
    std::atomic<int64_t> commit = 0;
    std::atomic<uint64_t> generation = 0;
    std::atomic<int64_t> writers_ready = 0;  // that have opened the frame
    std::atomic<int64_t> steps = 0;          // of all writers
    std::atomic<bool> writers_done = false;
    std::atomic<int64_t> states_seen = 0;  // by all readers
    std::atomic<bool> failed = false;
    std::array<char, 1024> why = {};  // the first failure
  };
  Notices& operator*() const { return *notices_; }
  Notices* operator->() const { return notices_; }

  // Keeps the first one.
  void ReportFailure(const absl::Status& status) const;

 private:
  Notices* notices_;
};
static_assert(std::atomic<int64_t>::is_always_lock_free);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_CONCURRENCY_NOTICE_BOARD_H_
