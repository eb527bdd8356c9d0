#include "engine/base/lazy.h"

#include <atomic>
#include <chrono>
#include <latch>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(LazyTest, MakesTheValueWhenItIsFirstAskedFor) {
  int made = 0;
  Lazy<int> lazy;
  EXPECT_EQ(made, 0);
  EXPECT_EQ(lazy.Get([&] { return ++made; }), 1);
  EXPECT_EQ(lazy.Get([&] { return ++made; }), 1);
}

TEST(LazyTest, CopyMakesAValueOfItsOwn) {
  Lazy<int> lazy;
  lazy.Get([] { return 1; });
  Lazy<int> copy = lazy;
  EXPECT_EQ(copy.Get([] { return 2; }), 2);
}

// Under ThreadSanitizer this also shows that threads that waited see the value.
TEST(LazyTest, ThreadsThatAskAtOnceGetOneValue) {
  constexpr int kThreads = 4;
  for (int round = 0; round < 20; ++round) {
    Lazy<std::vector<int>> lazy;
    std::atomic<int> made = 0;
    std::atomic<int> right = 0;
    std::latch start(kThreads);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        const std::vector<int>& value = lazy.Get([&] {
          ++made;
          std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the others wait
          return std::vector<int>{1, 2, 3};
        });
        if (value.size() == 3 && value[2] == 3) ++right;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(made, 1);
    EXPECT_EQ(right, kThreads);
  }
}

}  // namespace
}  // namespace cairn
