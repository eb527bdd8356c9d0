#include "engine/base/status.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include <gtest/gtest.h>

#include "cairn/error.h"

namespace cairn {
namespace {

TEST(StatusTest, SuccessHasNoDetails) {
  EXPECT_EQ(DetailsOf(absl::OkStatus()), ErrorDetails());
  EXPECT_TRUE(Annotate(absl::OkStatus(), "chunk %d", 5).ok());
}

TEST(StatusTest, MessageOfOthersHasNoDetails) {
  EXPECT_EQ(DetailsOf(absl::DataLossError("chunk 5: damaged")), ErrorDetails());
}

TEST(StatusTest, SectionIsWhatStandsBeforeTheColon) {
  EXPECT_EQ(DetailsOf(DataLoss("frame header: version: 9")).section, "frame header");
}

TEST(StatusTest, SectionHasNoNumber) {
  EXPECT_EQ(DetailsOf(DataLoss("chunk %d: is cut off", 5)).section, "chunk");
  EXPECT_EQ(DetailsOf(DataLoss("chunk block %d: is cut off", 5)).section, "chunk block");
}

TEST(StatusTest, WordBeforeTheFirstNumberIsASection) {
  EXPECT_EQ(DetailsOf(OutOfRange("chunk %d of %d", 5, 4)).section, "chunk");
  EXPECT_EQ(DetailsOf(OutOfRange("item %d of %d", -5, 4)).section, "item");
}

TEST(StatusTest, SentencesHaveNoSection) {
  EXPECT_EQ(DetailsOf(OutOfRange("items from %d on: %d of them", 5, 4)).section, "");
  EXPECT_EQ(DetailsOf(InvalidArgument("dst is NULL")).section, "");
  EXPECT_EQ(DetailsOf(DataLoss("%s", "")).section, "");
}

TEST(StatusTest, NumbersAreThoseOfTheMessageInItsOrder) {
  const absl::Status status = DataLoss("chunk %d: %s: expected %d, got %d", 5, "size", 10, -1);
  EXPECT_EQ(DetailsOf(status), (ErrorDetails{"chunk", {5, 10, -1}}));
}

TEST(StatusTest, NumberThatFitsIn64BitsIsKept) {
  const absl::Status status = DataLoss("%d %x", std::numeric_limits<int64_t>::min(), ~uint64_t{0});
  EXPECT_EQ(DetailsOf(status).numbers,
            (std::vector<int64_t>{std::numeric_limits<int64_t>::min(), -1}));
}

TEST(StatusTest, OutermostSectionWinsAndNumbersStayInOrder) {
  const absl::Status status = Annotate(DataLoss("chunk header: version %d", 9), "chunk %d", 5);
  EXPECT_EQ(status.message(), "chunk 5: chunk header: version 9");
  EXPECT_EQ(DetailsOf(status), (ErrorDetails{"chunk", {5, 9}}));
}

TEST(StatusTest, PathIsNoSection) {
  const absl::Status status = AtPath("log 5", DataLoss("chunk %d: is cut off", 7));
  EXPECT_EQ(status.message(), "log 5: chunk 7: is cut off");
  EXPECT_EQ(DetailsOf(status), (ErrorDetails{"chunk", {7}}));
  EXPECT_EQ(DetailsOf(AtPath("log", DataLoss("is cut off"))).section, "");
}

TEST(StatusTest, AnotherCodeKeepsTheDetails) {
  const absl::Status status =
      WithCode(absl::StatusCode::kUnavailable, OutOfRange("chunk %d of %d", 5, 4));
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_EQ(DetailsOf(status), (ErrorDetails{"chunk", {5, 4}}));
}

}  // namespace
}  // namespace cairn
