#include "engine/storage/mapping_cache.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/file_system.h"
#include "tests/support/status.h"

namespace cairn::storage {
namespace {

using Shared = std::shared_ptr<const Mapping>;

class OneByte final : public Mapping {
 public:
  explicit OneByte(uint64_t value) : byte_(static_cast<std::byte>(value)) {}
  Bytes bytes() const override { return Bytes(&byte_, 1); }

 private:
  const std::byte byte_;
};

class MappingCacheTest : public testing::Test {
 protected:
  // Gets a byte with the value of the key.
  Shared Get(MappingCache& cache, uint64_t key) {
    const absl::StatusOr<Shared> mapping = cache.Get(key, [&]() -> absl::StatusOr<Shared> {
      ++made_;
      return std::make_shared<OneByte>(key);
    });
    EXPECT_TRUE(IsOk(mapping));
    EXPECT_EQ((*mapping)->bytes()[0], static_cast<std::byte>(key));
    return *mapping;
  }
  bool Keeps(MappingCache& cache, uint64_t key) {
    const int before = made_;
    Get(cache, key);
    return made_ == before;
  }

  std::atomic<int> made_ = 0;
};

TEST_F(MappingCacheTest, MakesEachMappingOnce) {
  MappingCache cache(2);
  const Shared first = Get(cache, 1);
  EXPECT_EQ(Get(cache, 1), first);
  EXPECT_NE(Get(cache, 2), first);
  EXPECT_EQ(made_, 2);
}

TEST_F(MappingCacheTest, LeastRecentlyUsedGoesFirst) {
  MappingCache cache(3);
  for (const uint64_t key : {1, 2, 3, 1, 4}) Get(cache, key);
  EXPECT_TRUE(Keeps(cache, 1));
  EXPECT_TRUE(Keeps(cache, 3));
  EXPECT_TRUE(Keeps(cache, 4));
  EXPECT_FALSE(Keeps(cache, 2));
  EXPECT_FALSE(Keeps(cache, 1));  // it had to go for 2
}

TEST_F(MappingCacheTest, MappingInUseOutlivesItsPlace) {
  MappingCache cache(1);
  Shared used = Get(cache, 1);
  const std::weak_ptr<const Mapping> watched = used;
  Get(cache, 2);
  EXPECT_EQ(used->bytes()[0], std::byte{1});
  used.reset();
  EXPECT_TRUE(watched.expired());
}

TEST_F(MappingCacheTest, WithoutCapacityKeepsNothing) {
  MappingCache cache(0);
  const std::weak_ptr<const Mapping> watched = Get(cache, 1);
  EXPECT_TRUE(watched.expired());
  EXPECT_FALSE(Keeps(cache, 1));
}

TEST_F(MappingCacheTest, FailureIsNotKept) {
  MappingCache cache(1);
  const auto fail = []() -> absl::StatusOr<Shared> { return absl::NotFoundError("none"); };
  EXPECT_EQ(cache.Get(1, fail).status(), absl::NotFoundError("none"));
  Get(cache, 1);
  EXPECT_EQ(made_, 1);
}

TEST_F(MappingCacheTest, MakingMayUseTheCache) {
  MappingCache cache(2);
  const auto mapping = cache.Get(1, [&]() -> absl::StatusOr<Shared> { return Get(cache, 2); });
  ASSERT_TRUE(IsOk(mapping));
  EXPECT_EQ(*mapping, Get(cache, 2));
  EXPECT_EQ(made_, 1);
}

TEST_F(MappingCacheTest, TwoMakersOfOneMappingShareTheFirst) {
  MappingCache cache(2);
  Shared first;
  const auto second = cache.Get(1, [&]() -> absl::StatusOr<Shared> {
    first = Get(cache, 1);
    return std::make_shared<OneByte>(9);
  });
  EXPECT_EQ(*second, first);
  EXPECT_EQ(Get(cache, 1), first);
}

TEST_F(MappingCacheTest, ThreadsGetWhatTheyAskFor) {
  MappingCache cache(4);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 1000; ++i) Get(cache, (i * (t + 1)) % 7);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(made_, 7);
}

}  // namespace
}  // namespace cairn::storage
