// Does something in another process.
#ifndef CAIRN_TESTS_SUPPORT_CHILD_PROCESS_H_
#define CAIRN_TESTS_SUPPORT_CHILD_PROCESS_H_

#include <sys/wait.h>
#include <unistd.h>

#include "absl/functional/function_ref.h"

#include "tests/support/fork.h"

namespace cairn::test {

// Runs `body` in a forked child and gives its result (0 to 255), or -1 when the child did not end
// by itself. The child runs no destructors of this process's objects; gtest's checks do not count
// in it.
inline int ResultOfChild(absl::FunctionRef<int()> body) {
  const pid_t child = Fork();
  if (child < 0) return -1;
  if (child == 0) ::_exit(body());
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_CHILD_PROCESS_H_
