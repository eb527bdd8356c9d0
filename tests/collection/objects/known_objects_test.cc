// Small objects that a collection keeps in memory.
#include "engine/collection/members/known_objects.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/status.h"

namespace cairn::collection {
namespace {

constexpr size_t kSize = 16 << 10;

KnownObjects::BytesPtr Filled(size_t size, int value) {
  return std::make_shared<const std::vector<std::byte>>(size, static_cast<std::byte>(value));
}

TEST(KnownObjectsTest, ThoseThatWereUsedLastAreKept) {
  KnownObjects known(std::chrono::hours(24));
  known.Add("large", Filled(kSize + 1, 0));
  EXPECT_EQ(known.Find("large"), nullptr);
  known.Add("used", Filled(kSize, 1));
  known.Add("removed", Filled(kSize, 2));
  known.Add("changed", Filled(9, 3));
  known.Add("changed", Filled(kSize, 4));
  known.Remove("removed");
  EXPECT_EQ(known.Find("removed"), nullptr);
  ASSERT_NE(known.Find("changed"), nullptr);
  EXPECT_EQ(known.Find("changed")->front(), std::byte{4});
  for (int i = 0; i < 1000; ++i) {
    known.Add(std::to_string(i), Filled(kSize, i));
    ASSERT_NE(known.Find("used"), nullptr) << i;
  }
  EXPECT_EQ(known.Find("changed"), nullptr);
  int kept = 0;
  for (int i = 0; i < 1000; ++i) kept += known.Find(std::to_string(i)) != nullptr;
  EXPECT_EQ(kept, 511);  // 8 MiB with the one that is used
  EXPECT_NE(known.Find("999"), nullptr);
}

TEST(KnownObjectsTest, AFileHasTheBytes) {
  const auto file = MakeKnownFile("day/a", Filled(5, 7), 0);
  std::vector<std::byte> bytes(9);
  const auto got = file->ReadSome(3, bytes);
  ASSERT_TRUE(IsOk(got));
  EXPECT_EQ(*got, 2U);
  EXPECT_EQ(bytes[1], std::byte{7});
  EXPECT_TRUE(
      Fails(file->ReadAt(3, bytes), absl::StatusCode::kOutOfRange, "day/a: expected 9 bytes"));
  EXPECT_EQ(file->Size().value_or(0), 5);
  EXPECT_TRUE(Fails(file->WriteAt(0, bytes), absl::StatusCode::kUnimplemented, "day/a"));
}

}  // namespace
}  // namespace cairn::collection
