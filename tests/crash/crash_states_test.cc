// Nothing that was committed is ever lost, no file ever unreadable, no byte ever wrong: whatever a
// crash at whatever moment leaves.
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/crash/crash_run.h"
#include "tests/crash/tally.h"

namespace cairn::test {
namespace {

std::vector<CrashFrame> Frames() {
  return {
      {.name = "Contiguous"},
      {.name = "Appends", .most_bytes = 300, .only_appends = true},
      {.name = "LargeChunks", .chunksize = 1500, .most_bytes = 5000},
      {.name = "LongHeader", .metalayer_size = 700},
      {.name = "NoFingerprints", .fingerprint = FingerprintType::kNone, .chunksize = 400},
      {.name = "Sparse", .layout = Layout::kSparse},
      {.name = "SparseNoFingerprints",
       .layout = Layout::kSparse,
       .fingerprint = FingerprintType::kNone,
       .chunksize = 400},
  };
}

class CrashStatesTest : public testing::TestWithParam<CrashFrame> {
 protected:
  CrashRun Run(uint64_t number) const { return {GetParam(), CrashSeed() * 1000003 + number}; }
  void Expect(const Tally& tally) const {
    std::cout << tally.ToString() << '\n';
    EXPECT_EQ(tally.violations(), 0) << tally.ToString();
    EXPECT_GT(tally.states(), 0);
  }
};

TEST_P(CrashStatesTest, ACrashBeforeAnyOperationLeavesACommittedState) {
  Tally tally;
  for (int64_t i = 0; i < Scaled(4); ++i) {
    ExamineEveryOperation(Run(static_cast<uint64_t>(i)), 40, 60, tally);
  }
  Expect(tally);
}

TEST_P(CrashStatesTest, CrashesOneAfterTheOtherLeaveACommittedState) {
  Tally tally;
  for (int64_t i = 0; i < Scaled(500); ++i) {
    ExamineChain(Run(static_cast<uint64_t>(i)), {}, tally);
  }
  Expect(tally);
}

TEST_P(CrashStatesTest, FailedOperationsAndCrashesLeaveACommittedState) {
  Tally tally;
  for (int64_t i = 0; i < Scaled(500); ++i) {
    ExamineChain(Run(static_cast<uint64_t>(i)), {.disk_errors = true}, tally);
  }
  Expect(tally);
}

INSTANTIATE_TEST_SUITE_P(Frames, CrashStatesTest, testing::ValuesIn(Frames()),
                         [](const auto& frame) { return frame.param.name; });

}  // namespace
}  // namespace cairn::test
