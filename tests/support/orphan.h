// A forked child that lives on when its parent has been killed.
#ifndef CAIRN_TESTS_SUPPORT_ORPHAN_H_
#define CAIRN_TESTS_SUPPORT_ORPHAN_H_

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include "absl/functional/function_ref.h"

#include "tests/support/fork.h"

namespace cairn::test {

// The parent is a child of the test. It is killed, so it closes nothing that it has opened.
class Orphan {
 public:
  // The parent calls `before`, forks, and is killed. Then the child calls `after`. Both return 0 if
  // all is well.
  Orphan(absl::FunctionRef<int()> before, absl::FunctionRef<int()> after) {
    int live[2], tell[2];
    if (::pipe(live) != 0 || ::pipe(tell) != 0) return;
    const pid_t parent = Fork();
    if (parent == 0) {
      ::close(live[1]);
      Live(before, after, live[0], tell[1]);
    }
    ::close(live[0]);
    ::close(tell[1]);
    live_ = live[1];
    ::waitpid(parent, nullptr, 0);
    char told = 0;
    if (::read(tell[0], &told, 1) == 1) result_ = told;
    ::close(tell[0]);
  }
  explicit Orphan(absl::FunctionRef<int()> before) : Orphan(before, [] { return 0; }) {}
  Orphan(const Orphan&) = delete;
  Orphan& operator=(const Orphan&) = delete;
  // Ends the child.
  ~Orphan() { ::close(live_); }

  // Returns the result of `after`, or of `before` if that was not 0, or -1 if one of the two did
  // not end well.
  int result() const { return result_; }

 private:
  [[noreturn]] static void Live(absl::FunctionRef<int()> before, absl::FunctionRef<int()> after,
                                int live, int tell) {
    constexpr unsigned kMostSeconds = 60;
    ::alarm(kMostSeconds);
    const pid_t parent = ::getpid();
    auto result = static_cast<char>(before());
    if (result != 0) ::_exit(::write(tell, &result, 1) == 1 ? 1 : 2);
    if (Fork() != 0) {
      ::kill(parent, SIGKILL);
      ::pause();
    }
    ::alarm(kMostSeconds);
    while (::getppid() == parent) ::usleep(100);
    result = static_cast<char>(after());
    if (::write(tell, &result, 1) != 1) ::_exit(1);
    ::close(tell);
    char end = 0;
    ::_exit(static_cast<int>(::read(live, &end, 1)));
  }

  int live_ = -1;
  int result_ = -1;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_ORPHAN_H_
