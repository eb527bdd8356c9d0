#include "engine/frame/index/decoded_offsets.h"

#include <gtest/gtest.h>

#include "engine/base/status.h"
#include "tests/support/status.h"

namespace cairn::frame {
namespace {

// Chunks of 1, 2, 3, 1, 2, 3, … bytes.
class Cycle {
 public:
  explicit Cycle(int64_t nchunks) : nchunks_(nchunks), nbytes_(StartOf(nchunks)) {}

  static int64_t StartOf(int64_t nchunk) {
    constexpr int64_t kBefore[] = {0, 1, 3};
    return nchunk / 3 * 6 + kBefore[nchunk % 3];
  }
  int64_t nbytes() const { return nbytes_; }
  absl::StatusOr<DecodedOffsets::Place> Find(const DecodedOffsets& starts, int64_t position) const {
    const auto size_of = [&](int64_t nchunk) {
      return nchunk == unreadable_ ? absl::StatusOr<int32_t>(DataLoss("unreadable"))
                                   : static_cast<int32_t>(1 + nchunk % 3);
    };
    const auto check = [&](int64_t nchunk) {
      return nchunk == damaged_ ? DataLoss("damaged") : absl::OkStatus();
    };
    return starts.Find(
        position, {.nchunks = nchunks_, .nbytes = nbytes_, .size_of = size_of, .check = check});
  }

  void SetDamaged(int64_t nchunk) {
    damaged_ = nchunk;
    ++nbytes_;  // its size is not what the header of the frame counted
  }
  void SetUnreadable(int64_t nchunk) { unreadable_ = nchunk; }

 private:
  int64_t nchunks_;
  int64_t nbytes_;
  int64_t damaged_ = -1;
  int64_t unreadable_ = -1;
};

void ExpectFound(const DecodedOffsets& starts, const Cycle& sizes, int64_t nchunk) {
  const int64_t begin = Cycle::StartOf(nchunk);
  for (const int64_t position : {begin, Cycle::StartOf(nchunk + 1) - 1}) {
    const auto place = sizes.Find(starts, position);
    ASSERT_TRUE(IsOk(place));
    EXPECT_EQ(place->nchunk, nchunk) << position;
    EXPECT_EQ(place->begin, begin) << position;
  }
}

class DecodedOffsetsTest : public testing::TestWithParam<int64_t> {};

TEST_P(DecodedOffsetsTest, EveryByteIsFound) {
  const int64_t nchunks = GetParam();
  const Cycle sizes(nchunks);
  const DecodedOffsets starts;
  for (int64_t i = 0; i < nchunks; i += 1 + nchunks / 1000) ExpectFound(starts, sizes, i);
  ExpectFound(starts, sizes, nchunks - 1);
  EXPECT_TRUE(absl::IsOutOfRange(sizes.Find(starts, sizes.nbytes()).status()));
}

TEST_P(DecodedOffsetsTest, WhatLiesBeforeADamagedChunkIsFound) {
  const int64_t damaged = GetParam() / 2;
  for (const bool readable : {true, false}) {
    Cycle sizes(GetParam());
    readable ? sizes.SetDamaged(damaged) : sizes.SetUnreadable(damaged);
    const DecodedOffsets starts;
    ExpectFound(starts, sizes, 0);
    ExpectFound(starts, sizes, damaged - 1);
    const auto after = sizes.Find(starts, Cycle::StartOf(damaged)).status();
    EXPECT_EQ(after, readable ? DataLoss("damaged") : DataLoss("unreadable"));
  }
}

INSTANTIATE_TEST_SUITE_P(FewAndMoreThanAreKept, DecodedOffsetsTest,
                         testing::Values(7, 2 * DecodedOffsets::kMostKept + 5));

}  // namespace
}  // namespace cairn::frame
