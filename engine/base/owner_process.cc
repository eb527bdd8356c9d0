#include "engine/base/owner_process.h"

#include <atomic>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace cairn {

namespace {

// Maps a number that is zero again in each forked child. Returns null if the kernel cannot do that.
// The page lives as long as the process.
std::atomic<pid_t>* MapZeroInForkedChild() {
  constexpr size_t kSize = sizeof(std::atomic<pid_t>);
  void* page = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (::madvise(page, kSize, MADV_WIPEONFORK) == 0) return new (page) std::atomic<pid_t>(0);
  ::munmap(page, kSize);
  return nullptr;
}

}  // namespace

pid_t ThisProcess() {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): the process itself
  static std::atomic<pid_t>* const known = MapZeroInForkedChild();
  if (known == nullptr) return ::getpid();
  pid_t pid = known->load(std::memory_order_relaxed);
  if (pid == 0) {
    pid = ::getpid();
    known->store(pid, std::memory_order_relaxed);
  }
  return pid;
}

}  // namespace cairn
