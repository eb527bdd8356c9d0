// Pages of objects, in memory.
#include "engine/object/page_cache.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/bytes.h"
#include "tests/support/status.h"

namespace cairn::object {
namespace {

TEST(PageCacheTest, KeepsNoMoreThanItsCapacity) {
  PageCache cache(10 * kPageBytes);
  for (int64_t page = 0; page < 100; ++page) {
    EXPECT_TRUE(cache.Get({"a", page}, kPageBytes).is_new);
    EXPECT_LE(cache.kept_bytes(), 10 * kPageBytes);
  }
  EXPECT_FALSE(cache.Get({"a", 99}, kPageBytes).is_new);
  EXPECT_FALSE(cache.Get({"a", 90}, kPageBytes).is_new);
  EXPECT_TRUE(cache.Get({"a", 89}, kPageBytes).is_new);
}

TEST(PageCacheTest, WhatIsUsedStays) {
  PageCache cache(4 * kPageBytes);
  cache.Get({"a", 0}, kPageBytes);
  for (int64_t page = 1; page < 50; ++page) {
    cache.Get({"a", page}, kPageBytes);
    EXPECT_FALSE(cache.Get({"a", 0}, kPageBytes).is_new);
  }
}

TEST(PageCacheTest, ContentsOfObjectsAreDistinct) {
  PageCache cache(4 * kPageBytes);
  cache.Get({"a\n1", 0}, 10).page->Set(test::MakeItems(10));
  EXPECT_TRUE(cache.Get({"a\n2", 0}, 10).is_new);
}

TEST(PageCacheTest, ReadersKeepAPageThatIsEvicted) {
  PageCache cache(kPageBytes);
  const PageCache::Found found = cache.Get({"a", 0}, kPageBytes);
  cache.Get({"a", 1}, kPageBytes);
  const test::Buffer bytes = test::MakeItems(100);
  found.page->Set(bytes);
  EXPECT_TRUE(std::ranges::equal(found.page->Wait().value(), bytes));
}

TEST(PageCacheTest, EveryWaiterGetsTheErrorAndTheNextCallerTriesAgain) {
  PageCache cache(kPageBytes);
  const PageCache::Found found = cache.Get({"a", 0}, kPageBytes);
  std::vector<std::thread> waiters;
  for (int i = 0; i < 4; ++i) {
    waiters.emplace_back([&] {
      EXPECT_TRUE(
          Fails(cache.Get({"a", 0}, kPageBytes).page->Wait(), absl::StatusCode::kUnavailable, "x"));
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  found.page->Fail(absl::UnavailableError("x"));
  for (std::thread& waiter : waiters) waiter.join();
  cache.Drop({"a", 0}, found.page);
  EXPECT_TRUE(cache.Get({"a", 0}, kPageBytes).is_new);
}

}  // namespace
}  // namespace cairn::object
