#include "engine/format/increment.h"

#include <gtest/gtest.h>

#include "engine/base/binary_value.h"
#include "engine/format/index_entry.h"
#include "tests/support/bytes.h"
#include "tests/support/status.h"

namespace cairn::format {
namespace {

using Kind = IncrementRun::Kind;

Increment Full() {
  return {
      .base = 1,
      .result = 2,
      .since_generation = 3,
      .generation = 4,
      .nbytes = 1000,
      .chunksize = 100,
      .vlblocks = true,
      .partial_kept = 5,
      .partial_added = 6,
      .runs = {{.kind = Kind::kBase, .value = 7, .count = 2},
               {.kind = Kind::kNew, .value = 0, .count = 3},
               {.kind = Kind::kSpecial, .value = EntryOfSpecial(SpecialValue::kZeros), .count = 4}},
      .layers = {
          {.kind = LayerEdit::Kind::kSetVlmeta, .name = "station", .content = test::Buffer(9)}}};
}

TEST(ParseIncrementTest, ParsesWhatItEncodes) {
  const absl::StatusOr<Increment> parsed = ParseIncrement(EncodeIncrement(Full()));
  ASSERT_TRUE(IsOk(parsed));
  EXPECT_EQ(*parsed, Full());
}

TEST(ParseIncrementTest, EveryTruncationIsRefused) {
  const std::vector<std::byte> bytes = EncodeIncrement(Full());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(IsDamage(ParseIncrement(Bytes(bytes).first(size)), "increment")) << size;
  }
}

TEST(ParseIncrementTest, MoreBytesAreRefused) {
  std::vector<std::byte> bytes = EncodeIncrement(Full());
  bytes.push_back(std::byte{0});
  EXPECT_TRUE(IsDamage(ParseIncrement(bytes), "size"));
  const Bytes without_head = Bytes(bytes).subspan(kBinaryHead);
  EXPECT_TRUE(IsDamage(ParseIncrement(without_head), "1 more bytes"));
}

TEST(ParseIncrementTest, LayersOfOlderCairnsHaveNoHead) {
  const std::vector<std::byte> bytes = EncodeIncrement(Full());
  const auto parsed = ParseIncrement(Bytes(bytes).subspan(kBinaryHead));
  ASSERT_TRUE(IsOk(parsed));
  EXPECT_EQ(EncodeIncrement(*parsed), bytes);
}

TEST(ParseIncrementTest, AnotherVersionIsNotRead) {
  std::vector<std::byte> bytes = EncodeIncrement(Full());
  bytes[0] = std::byte{2};
  EXPECT_EQ(ParseIncrement(bytes).status().code(), absl::StatusCode::kUnimplemented);
}

TEST(ParseIncrementTest, RunsOfTooManySpecialValuesAreRefused) {
  std::vector<IncrementRun> runs = Full().runs;
  runs.push_back(runs[2]);
  EXPECT_TRUE(IsOk(CheckSpecials(runs)));
  runs.back().count = kMaxNewSpecials;
  EXPECT_EQ(CheckSpecials(runs).code(), absl::StatusCode::kResourceExhausted);
}

TEST(ParseIncrementTest, RunsThatMeanNothingAreRefused) {
  for (const IncrementRun& run : {IncrementRun{.kind = Kind::kBase, .value = -1, .count = 1},
                                  IncrementRun{.kind = Kind::kBase, .value = INT64_MAX, .count = 1},
                                  IncrementRun{.kind = Kind::kNew, .value = 0, .count = 0},
                                  IncrementRun{.kind = Kind::kNew, .value = 1, .count = 1},
                                  IncrementRun{.kind = Kind::kSpecial, .value = 1, .count = 1},
                                  IncrementRun{.kind = static_cast<Kind>(9), .count = 1}}) {
    Increment wrong = Full();
    wrong.runs[1] = run;
    EXPECT_TRUE(IsDamage(ParseIncrement(EncodeIncrement(wrong)), "run"));
  }
}

}  // namespace
}  // namespace cairn::format
