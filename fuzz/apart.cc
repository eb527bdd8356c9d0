#include "fuzz/apart.h"

#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/storage/posix/fd.h"
#include "fuzz/check.h"

namespace cairn::fuzz {
namespace {

constexpr unsigned kMostSeconds = 5;

// Dies without a word.
[[noreturn]] void RunAsChild(int out, absl::FunctionRef<std::vector<std::byte>()> run) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGPIPE}) {
    std::signal(signal, SIG_DFL);
  }
  ::alarm(kMostSeconds);
  const int nowhere = ::open("/dev/null", O_WRONLY);
  ::dup2(nowhere, STDERR_FILENO);
  const std::vector<std::byte> result = run();
  for (size_t done = 0; done < result.size();) {
    const ssize_t n = ::write(out, result.data() + done, result.size() - done);
    if (n <= 0) ::_exit(1);
    done += static_cast<size_t>(n);
  }
  ::_exit(0);
}

}  // namespace

std::optional<std::vector<std::byte>> RunApart(absl::FunctionRef<std::vector<std::byte>()> run) {
  int ends[2];
  Check(::pipe(ends) == 0, "there is a pipe");
  const pid_t child = ::fork();
  Check(child >= 0, "there is a process");
  if (child == 0) RunAsChild(ends[1], run);
  ::close(ends[1]);
  std::vector<std::byte> result;
  std::vector<std::byte> piece(1 << 16);
  // The fuzzer's alarms interrupt calls.
  for (ssize_t n = 1; n > 0;) {
    n = storage::RetryInterrupted([&] { return ::read(ends[0], piece.data(), piece.size()); });
    if (n > 0) result.insert(result.end(), piece.begin(), piece.begin() + n);
  }
  ::close(ends[0]);
  int status = 0;
  storage::RetryInterrupted([&] { return ::waitpid(child, &status, 0); });
  const bool fine = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return fine ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace cairn::fuzz
