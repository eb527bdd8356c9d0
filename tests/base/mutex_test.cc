#include "engine/base/mutex.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace cairn {
namespace {

// Returns true if another thread can have the mutex now.
bool IsFree(Mutex& mutex) {
  bool free = false;
  std::thread([&] {
    if (!mutex.TryLock()) return;
    free = true;
    mutex.Unlock();
  }).join();
  return free;
}

TEST(MutexTest, LockKeepsOthersOutWhileItLives) {
  Mutex mutex;
  {
    const MutexLock lock(mutex);
    EXPECT_FALSE(IsFree(mutex));
  }
  EXPECT_TRUE(IsFree(mutex));
}

TEST(MutexTest, LockIfLeavesMutexAloneWhereItIsNotNeeded) {
  Mutex mutex;
  for (const bool is_needed : {true, false}) {
    const MutexLockIf lock(is_needed, mutex);
    EXPECT_EQ(lock.is_held(), is_needed);
    EXPECT_EQ(IsFree(mutex), !is_needed);
  }
  EXPECT_TRUE(IsFree(mutex));
}

TEST(MutexTest, WaitReleasesMutexAndHasItAfterwards) {
  Mutex mutex;
  CondVar changed;
  bool told = false;
  mutex.Lock();
  std::thread teller([&] {
    const MutexLock lock(mutex);
    told = true;
    changed.NotifyAll();
  });
  while (!told) changed.Wait(mutex);
  EXPECT_FALSE(IsFree(mutex));
  mutex.Unlock();
  teller.join();
}

TEST(MutexTest, WaitEndsWhenItsTimeHasCome) {
  Mutex mutex;
  CondVar changed;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  const MutexLock lock(mutex);
  while (changed.WaitUntil(mutex, end)) {
  }
  EXPECT_GE(std::chrono::steady_clock::now(), end);
  EXPECT_FALSE(IsFree(mutex));
}

TEST(SharedMutexTest, ReadersShareItAndWriterHasItAlone) {
  SharedMutex mutex;
  int value = 0;
  {
    const ReaderLock lock(mutex);
    std::thread([&] { const ReaderLock beside(mutex); }).join();
  }
  std::thread writer;
  {
    const ReaderLock lock(mutex);
    writer = std::thread([&] {
      const WriterLock alone(mutex);
      value = 1;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(value, 0);
  }
  writer.join();
  EXPECT_EQ(value, 1);
}

}  // namespace
}  // namespace cairn
