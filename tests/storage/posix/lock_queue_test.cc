// Waiters for a lock are served in order.
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/file_system.h"
#include "tests/support/child_process.h"
#include "tests/support/orphan.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn {
namespace {

constexpr int64_t kByte = int64_t{1} << 62;
constexpr std::chrono::seconds kLong(60);
constexpr std::chrono::milliseconds kShort(20);

class LockQueueTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(IsOk(PosixFileSystem()->Open(path_, FileMode::kCreateNew).status()));
    holder_ = Open();
    ASSERT_TRUE(IsOk(holder_->LockByte(kByte, LockMode::kExclusive)));
  }
  std::unique_ptr<File> Open() const {
    return *PosixFileSystem()->Open(path_, FileMode::kReadWrite);
  }
  // Until this many others wait. Tickets are taken from the byte downwards.
  void AwaitWaiters(int count) const {
    while (!*holder_->IsLocked(kByte - count, 1)) std::this_thread::yield();
  }
  // A child that waits for the lock, and does `body` when it has the lock.
  template <typename Body>
  pid_t WaitInChild(Body body) const {
    const pid_t child = ::fork();
    if (child != 0) return child;
    const auto file = Open();
    const bool locked = file->WaitForByte(kByte, kLong).ok();
    if (locked) body();
    ::_exit(locked ? 0 : 1);
  }

  const test::TempDir dir_;
  const std::string path_ = dir_.Path("f");
  std::unique_ptr<File> holder_;
};

TEST_F(LockQueueTest, ProcessesAreServedInOrder) {
  constexpr int kWaiters = 8;
  std::array<int, 2> served{};
  ASSERT_EQ(::pipe(served.data()), 0);
  std::vector<pid_t> children;
  for (char i = 0; i < kWaiters; ++i) {
    children.push_back(WaitInChild([&] { EXPECT_EQ(::write(served[1], &i, 1), 1); }));
    AwaitWaiters(i + 1);
  }
  ASSERT_TRUE(IsOk(holder_->UnlockByte(kByte)));
  for (char i = 0; i < kWaiters; ++i) {
    char which = -1;
    ASSERT_EQ(::read(served[0], &which, 1), 1);
    EXPECT_EQ(which, i);
  }
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
}

TEST_F(LockQueueTest, ThreadsAreServedInOrder) {
  constexpr int kWaiters = 8;
  std::vector<int> served;
  std::mutex mutex;  // ThreadSanitizer does not know that the lock guards it
  std::vector<std::thread> threads;
  for (int i = 0; i < kWaiters; ++i) {
    threads.emplace_back([&, i] {
      const auto file = Open();
      EXPECT_TRUE(IsOk(file->WaitForByte(kByte, kLong)));
      const std::lock_guard guard(mutex);
      served.push_back(i);
    });
    AwaitWaiters(i + 1);
  }
  ASSERT_TRUE(IsOk(holder_->UnlockByte(kByte)));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(served, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(LockQueueTest, WaiterThatGivesUpLeavesTheQueue) {
  const auto waiter = Open();
  EXPECT_TRUE(absl::IsUnavailable(waiter->WaitForByte(kByte, kShort)));
  EXPECT_FALSE(*holder_->HasWaiters(kByte));
  ASSERT_TRUE(IsOk(holder_->UnlockByte(kByte)));
  EXPECT_TRUE(IsOk(Open()->WaitForByte(kByte, kShort)));
}

TEST_F(LockQueueTest, WaiterThatIsKilledLeavesTheQueue) {
  const pid_t first = WaitInChild([] {});
  AwaitWaiters(1);
  const pid_t second = WaitInChild([] {});
  AwaitWaiters(2);
  ::kill(first, SIGKILL);
  ::waitpid(first, nullptr, 0);
  ASSERT_TRUE(IsOk(holder_->UnlockByte(kByte)));
  int status = -1;
  ::waitpid(second, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(LockQueueTest, WaiterThatIsKilledLeavesTheQueueThoughAChildOfItLives) {
  std::unique_ptr<File> waiting;
  const test::Orphan child([&] {
    waiting = Open();
    std::thread([&] { waiting->WaitForByte(kByte, kLong).IgnoreError(); }).detach();
    while (!*Open()->HasWaiters(kByte)) ::usleep(100);
    ::usleep(10000);  // it has the ticket, and blocks
    return 0;
  });
  ASSERT_EQ(child.result(), 0);
  EXPECT_FALSE(*holder_->HasWaiters(kByte));
  ASSERT_TRUE(IsOk(holder_->UnlockByte(kByte)));
  EXPECT_TRUE(IsOk(Open()->WaitForByte(kByte, std::chrono::milliseconds(0))));
}

TEST_F(LockQueueTest, HolderKnowsThatOthersWait) {
  EXPECT_FALSE(*holder_->HasWaiters(kByte));
  const pid_t child = WaitInChild([] {});
  AwaitWaiters(1);
  EXPECT_TRUE(*holder_->HasWaiters(kByte));
  ASSERT_TRUE(IsOk(holder_->UnlockByte(kByte)));
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(*holder_->HasWaiters(kByte));
}

TEST_F(LockQueueTest, NewcomerDoesNotOvertake) {
  ASSERT_TRUE(IsOk(holder_->UnlockByte(kByte)));
  const auto waiter = Open();
  ASSERT_TRUE(IsOk(waiter->LockByte(kByte - 1, LockMode::kExclusive)));  // a ticket
  const auto newcomer = Open();
  EXPECT_TRUE(absl::IsUnavailable(newcomer->WaitForByte(kByte, std::chrono::milliseconds(0))));
  ASSERT_TRUE(IsOk(waiter->UnlockByte(kByte - 1)));
  EXPECT_TRUE(IsOk(newcomer->WaitForByte(kByte, std::chrono::milliseconds(0))));
}

// No byte lies before the first one, and few before those that follow.
TEST_F(LockQueueTest, BytesNearTheBeginningOfAFileAreWaitedForWithoutAQueue) {
  for (const int64_t byte : {int64_t{0}, int64_t{1}, int64_t{5000}}) {
    const auto first = Open();
    ASSERT_TRUE(IsOk(first->WaitForByte(byte, std::chrono::milliseconds(0))));
    EXPECT_TRUE(absl::IsUnavailable(Open()->WaitForByte(byte, kShort)));
    EXPECT_FALSE(*first->HasWaiters(byte));
    std::thread waiter([&] { EXPECT_TRUE(IsOk(Open()->WaitForByte(byte, kLong))); });
    ASSERT_TRUE(IsOk(first->UnlockByte(byte)));
    waiter.join();
  }
}

TEST_F(LockQueueTest, ServedWaiterHoldsTheByteAlone) {
  std::thread waiter([&] {
    const auto file = Open();
    EXPECT_TRUE(IsOk(file->WaitForByte(kByte, kLong)));
    EXPECT_TRUE(*holder_->IsLocked(kByte, 1));
    EXPECT_FALSE(*holder_->IsLocked(0, kByte));
    EXPECT_FALSE(*holder_->IsLocked(kByte + 1, INT64_MAX - kByte));
  });
  AwaitWaiters(1);
  ASSERT_TRUE(IsOk(holder_->UnlockByte(kByte)));
  waiter.join();
}

}  // namespace
}  // namespace cairn
