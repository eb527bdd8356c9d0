// Forks of processes that have threads.
#ifndef CAIRN_TESTS_SUPPORT_FORK_H_
#define CAIRN_TESTS_SUPPORT_FORK_H_

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/syscall.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace cairn::test {

#if defined(__SANITIZE_ADDRESS__)

// Returns true if the thread waits, without a time limit, in the kernel until another one wakes it.
inline bool WaitsToBeWoken(const std::filesystem::path& thread) {
  std::ifstream file(thread / "syscall");
  int64_t number = -1;
  std::string address, operation, expected, end;
  file >> number >> address >> operation >> expected >> end;
  return number == SYS_futex && end == "0x0";
}

// The allocator of this sanitizer knows nothing of forks: a child whose parent was allocating in
// another thread would wait for that thread for ever. So the others have to wait for this one.
inline void AwaitOtherThreads() {
  const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  const std::string self = std::to_string(::gettid());
  for (bool ready = false; !ready && std::chrono::steady_clock::now() < latest;) {
    ready = true;
    std::error_code gone;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", gone)) {
      if (thread.path().filename() != self && !WaitsToBeWoken(thread)) ready = false;
    }
    if (!ready) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

#else

inline void AwaitOtherThreads() {}

#endif

// Calls fork in a process that may have other threads. Empties the output buffers first, because
// the child could print their content once more.
inline pid_t Fork() {
  std::fflush(nullptr);
  AwaitOtherThreads();
  return ::fork();
}

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_FORK_H_
