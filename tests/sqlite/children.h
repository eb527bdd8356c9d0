// Processes of a test, and numbers that they share.
#ifndef CAIRN_TESTS_SQLITE_CHILDREN_H_
#define CAIRN_TESTS_SQLITE_CHILDREN_H_

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

#include "tests/support/fork.h"

namespace cairn::test {

// Facts that children report. They stay when the children are killed.
struct Told {
  std::atomic<int64_t> committed = 0;  // the newest transaction whose COMMIT has returned
  std::atomic<int64_t> started = 0;    // processes that have opened the database
  std::atomic<int64_t> reads = 0;
  std::atomic<bool> done = false;
};
static_assert(std::atomic<int64_t>::is_always_lock_free);

class ToldByChildren {
 public:
  ToldByChildren() {
    void* const shared =
        mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) std::abort();
    told_ = new (shared) Told;
  }
  ToldByChildren(const ToldByChildren&) = delete;
  ToldByChildren& operator=(const ToldByChildren&) = delete;
  ~ToldByChildren() { munmap(told_, sizeof(Told)); }
  Told* operator->() const { return told_; }

 private:
  Told* told_;
};

// Begins `body` in a process of its own, which says on stderr why it fails.
inline pid_t Begin(const char* who, absl::FunctionRef<absl::Status()> body) {
  const pid_t child = Fork();
  if (child != 0) return child;
  const absl::Status status = body();
  if (!status.ok()) std::fprintf(stderr, "%s: %s\n", who, status.ToString().c_str());
  _exit(status.ok() ? 0 : 1);
}

// Returns true if the child ends by itself and well.
inline bool EndsWell(pid_t child) {
  int state = 0;
  return child > 0 && waitpid(child, &state, 0) == child && WIFEXITED(state) &&
         WEXITSTATUS(state) == 0;
}

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SQLITE_CHILDREN_H_
