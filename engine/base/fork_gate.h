// Lets the process fork only while no other thread holds a mutex.
#ifndef CAIRN_ENGINE_BASE_FORK_GATE_H_
#define CAIRN_ENGINE_BASE_FORK_GATE_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <pthread.h>
#include <thread>

#include "engine/base/deadline.h"

namespace cairn {

// A forked child has the memory of its parent, but not the parent's other threads. A mutex that one
// of them holds would stay locked there for ever, and what it guards might be half changed. So
// fork() waits until the threads of the parent hold no mutex of base/mutex.h, and threads that want
// one wait until the child is made. A thread that holds one already may take others.
//
// Threads that hold a mutex for longer than a second are not waited for. Children that the clone
// system call makes without fork() are not seen. Each library that Cairn is linked into has a gate
// of its own.
class ForkGate {
 public:
  // Called before a mutex is locked, and after it is unlocked.
  static void Enter() {
    if (here_.held++ > 0) return;
    if (here_.count == nullptr) Join();
    ++*here_.count;
    if (state_.forks != 0) WaitForForks();
  }
  static void Leave() {
    if (--here_.held == 0) --*here_.count;
  }

 private:
  // How many threads hold mutexes. The counts lie on several cache lines.
  struct alignas(64) Count {
    std::atomic<int> threads;
  };
  struct State {
    std::atomic<int> forks;  // that are under way
    std::array<Count, 16> counts;

    int threads() const {
      int sum = 0;
      for (const Count& count : counts) sum += count.threads.load();
      return sum;
    }
  };

  struct Thread {
    int held;                 // mutexes
    std::atomic<int>* count;  // null before the first mutex
  };

  // Gives this thread the count that it will always use.
  [[gnu::noinline]] static void Join() {
    const auto address = reinterpret_cast<uintptr_t>(&here_);
    here_.count = &state_.counts[(uint64_t{address} * 0x9E3779B97F4A7C15) >> 60].threads;
  }
  [[gnu::noinline]] static void WaitForForks() {
    do {
      --*here_.count;
      while (state_.forks > 0) Pause();
      ++*here_.count;
    } while (state_.forks > 0);
  }
  static void Pause() { std::this_thread::sleep_for(std::chrono::microseconds(20)); }

  // The thread that forks may lock mutexes in the handlers of others.
  static void BeginFork() {
    const int own = here_.held++ > 0 ? 1 : 0;
    ++state_.forks;
    const Deadline patience(std::chrono::seconds(1));
    while (state_.threads() > own && !patience.has_passed()) Pause();
  }
  static void EndFork() {
    --here_.held;
    --state_.forks;
  }
  static void EndForkInChild() {
    --here_.held;
    for (Count& count : state_.counts) count.threads = 0;
    if (here_.held > 0) *here_.count = 1;
    state_.forks = 0;
  }

  // Done before there are threads. If there is no memory for it, forks wait for nobody.
  static inline const int handled_ = ::pthread_atfork(BeginFork, EndFork, EndForkInChild);
  // Never destroyed, because mutexes are used until the very end of the process. The model makes
  // what belongs to a thread cheap in libraries.
  // NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): they are the process's
  static inline constinit State state_;
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local Thread here_{};
  // NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)
};

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_FORK_GATE_H_
