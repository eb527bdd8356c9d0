#include "engine/base/fork_gate.h"

#include <atomic>
#include <chrono>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "absl/functional/function_ref.h"
#include <gtest/gtest.h>

#include "engine/base/mutex.h"

namespace cairn {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// Two numbers that are equal whenever the mutex is free.
struct Pair {
  Mutex mutex;
  int first = 0;
  int second = 0;

  bool IsWhole() {
    const MutexLock lock(mutex);
    return first == second;
  }
  void Change() {
    const MutexLock lock(mutex);
    ++first;
    for (int i = 0; i < 100; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
    ++second;
  }
};

// Returns the result of a child, or -1 if it waits for ever. No thread here allocates memory, so
// the child needs nothing of test::Fork.
int ExitOfChild(absl::FunctionRef<int()> body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    ::_exit(body());
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

TEST(ForkGateTest, ChildFindsMutexesFreeAndWhatTheyGuardWhole) {
  Pair outer;
  Pair inner;
  std::atomic<bool> ends = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!ends) {
        inner.Change();
        const MutexLock lock(outer.mutex);
        ++outer.first;
        inner.Change();
        ++outer.second;
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    const int result = ExitOfChild([&] {
      outer.Change();
      inner.Change();
      return outer.IsWhole() && inner.IsWhole() ? 0 : 1;
    });
    EXPECT_EQ(result, 0) << i;
    if (result != 0) break;
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(ForkGateTest, ThreadThatForksKeepsItsMutexesInBothProcesses) {
  Pair pair;
  std::atomic<bool> ends = false;
  std::thread other([&] {
    while (!ends) pair.Change();
  });
  for (int i = 0; i < 3; ++i) {  // the other thread waits for this one, so each takes a second
    pair.mutex.Lock();
    pair.first += 1;
    const int result = ExitOfChild([&] {
      pair.second += 1;
      pair.mutex.Unlock();
      return pair.IsWhole() && ExitOfChild([&] { return pair.IsWhole() ? 0 : 2; }) == 0 ? 0 : 1;
    });
    pair.second += 1;
    pair.mutex.Unlock();
    EXPECT_EQ(result, 0) << i;
    if (result != 0) break;
  }
  ends = true;
  other.join();
  EXPECT_TRUE(pair.IsWhole());
}

TEST(ForkGateTest, ForkDoesNotWaitForAThreadThatKeepsItsMutexOrWaits) {
  Mutex kept;
  Mutex waited;
  CondVar changed;
  bool ready = false;
  std::atomic<int> begun = 0;
  std::atomic<bool> ends = false;
  std::thread waiter([&] {
    const MutexLock lock(waited);
    ++begun;
    while (!ready) changed.Wait(waited);
  });
  while (begun < 1) std::this_thread::yield();
  const Clock::time_point start = Clock::now();
  EXPECT_EQ(ExitOfChild([] { return 0; }), 0);
  EXPECT_LT(Clock::now() - start, milliseconds(900));

  std::thread keeper([&] {
    const MutexLock lock(kept);
    ++begun;
    while (!ends) std::this_thread::sleep_for(milliseconds(1));
  });
  while (begun < 2) std::this_thread::yield();
  EXPECT_EQ(ExitOfChild([] { return 0; }), 0);
  ends = true;
  keeper.join();
  {
    const MutexLock lock(waited);
    ready = true;
  }
  changed.NotifyAll();
  waiter.join();
}

}  // namespace
}  // namespace cairn
