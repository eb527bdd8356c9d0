// Nothing that was committed is ever lost, no file ever unreadable, no byte ever wrong: whatever a
// crash at whatever moment leaves.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/format/frame_header.h"
#include "engine/format/journal_summary.h"
#include "engine/frame/replay/summary.h"
#include "tests/crash/crash_run.h"
#include "tests/crash/tally.h"
#include "tests/support/search.h"

namespace cairn::test {
namespace {

CrashFrame Reuse() {
  return {.name = "Reuse", .chunksize = 1500, .most_bytes = 40000, .reuses = true};
}

CrashFrame SmallCommits() {
  return {.name = "SmallCommits", .chunksize = 400, .most_bytes = 60, .small_commits = true};
}

// A log: an array that gets a few items with each commit, and a header of more than a sector.
CrashFrame Series() {
  CrashFrame frame = SmallCommits();
  frame.name = "Series";
  frame.metalayer_size = 700;
  frame.line = true;
  return frame;
}

CrashFrame GradualSeries() {
  CrashFrame frame = CrashFrame::Summaries(true);
  frame.name = "GradualSeries";
  frame.line = true;
  return frame;
}

CrashFrame SparseFreeSizes() {
  CrashFrame frame = CrashFrame::FreeSizes();
  frame.name = "SparseFreeSizes";
  frame.layout = Layout::kSparse;
  return frame;
}

CrashFrame SummariesOfFreeSizes() {
  CrashFrame frame = CrashFrame::Summaries(true);
  frame.name = "SummariesOfFreeSizes";
  frame.free_sizes = true;
  frame.late_size = true;
  return frame;
}

std::vector<CrashFrame> Frames() {
  return {
      {.name = "Contiguous"},
      {.name = "Appends", .most_bytes = 300, .only_appends = true},
      {.name = "OneSector", .chunksize = 1 << 20, .only_appends = true, .one_sector = true},
      SmallCommits(),
      Reuse(),
      CrashFrame::Gradual(),
      CrashFrame::Shrinking(),
      CrashFrame::Summaries(false),
      CrashFrame::Summaries(true),
      {.name = "LargeChunks", .chunksize = 1500, .most_bytes = 5000},
      {.name = "LongHeader", .metalayer_size = 700},
      {.name = "NoFingerprints", .fingerprint = FingerprintType::kNone, .chunksize = 400},
      {.name = "Array", .line = true},
      Series(),
      GradualSeries(),
      CrashFrame::FreeSizes(),
      SparseFreeSizes(),
      SummariesOfFreeSizes(),
      {.name = "Sparse", .layout = Layout::kSparse},
      CrashFrame::SparseReusing(),
      {.name = "SparseNoFingerprints",
       .layout = Layout::kSparse,
       .fingerprint = FingerprintType::kNone,
       .chunksize = 400},
  };
}

class CrashStatesTest : public testing::TestWithParam<CrashFrame> {
 protected:
  static CrashFrame WithDurableReader() {
    CrashFrame frame = GetParam();
    frame.durable_reader = true;
    return frame;
  }
  // A life is long enough for what its frame is about.
  static size_t Operations() {
    const bool is_long = GetParam().small_commits || GetParam().shrinks;
    return is_long ? 120 : Deaths().operations;
  }
  void Expect(const Tally& tally) const {
    std::cout << tally.ToString() << '\n';
    EXPECT_EQ(tally.violations(), 0) << tally.ToString();
    EXPECT_GT(tally.states(), 0);
  }
};

TEST_P(CrashStatesTest, CrashBeforeAnyOperationLeavesACommittedState) {
  Tally tally;
  // Many files, or many small records, make many more states.
  const bool many =
      GetParam().layout == Layout::kSparse || GetParam().one_sector || GetParam().small_commits;
  const int64_t runs = many ? 10 : 60;
  ForEachSeed(runs, [&](uint64_t seed) {
    ExamineEveryOperation({WithDurableReader(), seed}, 50, 60, tally);
  });
  Expect(tally);
}

TEST_P(CrashStatesTest, CrashesOneAfterTheOtherLeaveACommittedState) {
  Tally tally;
  ForEachSeed(2000, [&](uint64_t seed) {
    ExamineChain({WithDurableReader(), seed}, {.operations = Operations()}, tally);
  });
  Expect(tally);
}

TEST_P(CrashStatesTest, FailedOperationsAndCrashesLeaveACommittedState) {
  Tally tally;
  ForEachSeed(2000, [&](uint64_t seed) {
    ExamineChain({GetParam(), seed}, {.operations = Operations(), .disk_errors = true}, tally);
  });
  Expect(tally);
}

// Or crashes would not show what they do to space that is used again.
TEST(ReuseTest, ChunksGoWhereOthersDiedAndMoveAndCheckpointsShrink) {
  Tally tally;
  int64_t reused = 0;
  int64_t moved = 0;
  int64_t went_down = 0;
  uint64_t frame_size = 0;
  std::string written;  // all, one after the other
  const Bug count = [&](const DiskOperation& operation, const Call& call) {
    if (operation.kind != DiskOperation::Kind::kWrite || operation.name != "frame") return Fate();
    if (operation.offset > 0) {
      const bool opens = call.name == "open for writing";
      reused += !opens && operation.offset < static_cast<int64_t>(frame_size) ? 1 : 0;
      // Else only opening writes as many bytes again; the examiner's calls have no name.
      const std::string_view bytes = AsText(operation.bytes);
      if (opens || call.name.empty()) return Fate();
      moved += bytes.size() > 256 && written.find(bytes) != written.npos ? 1 : 0;
      written += bytes;
    } else {
      const auto next = LoadBe<uint64_t>(operation.bytes.data() + format::kFrameSizeOffset);
      went_down += next < frame_size ? 1 : 0;
      frame_size = next;
    }
    return Fate();
  };
  ForEachSeed(40, 4, [&](uint64_t seed) {
    frame_size = 0;
    written.clear();
    ExamineEveryOperation({Reuse(), seed, [&] { return count; }}, 100, 1, tally);
  });
  EXPECT_EQ(tally.violations(), 0) << tally.ToString();
  EXPECT_GT(reused, SearchShare(20));
  EXPECT_GT(moved, SearchShare(5));
  EXPECT_GT(went_down, SearchShare(5));
}

// Or crashes would not show what they do to such a checkpoint.
TEST(GradualTest, CheckpointsAreMadeBesideCommits) {
  Tally tally;
  int64_t fillers = 0;
  int64_t flips = 0;
  const Bug count = [&](const DiskOperation& operation, const Call& call) {
    const bool commits = call.name == "commit" || call.name == "process commit";
    if (operation.kind != DiskOperation::Kind::kWrite || operation.name != "frame" || !commits) {
      return Fate();
    }
    flips += operation.offset == 0 ? 1 : 0;
    fillers += operation.offset > 0 && operation.bytes.size() == 32 ? 1 : 0;
    return Fate();
  };
  ForEachSeed(80, 8, [&](uint64_t seed) {
    ExamineEveryOperation({CrashFrame::Gradual(), seed, [&] { return count; }}, 100, 1, tally);
  });
  EXPECT_EQ(tally.violations(), 0) << tally.ToString();
  EXPECT_GT(fillers, SearchShare(20));
  EXPECT_GT(flips, SearchShare(10));
}

// The header is the first that such a commit syncs; what it leads to was synced before.
TEST(GradualTest, CheckpointsShrinkTheFrameBesideCommits) {
  Tally tally;
  int64_t went_down = 0;
  uint64_t frame_size = 0;
  const Bug count = [&](const DiskOperation& operation, const Call& call) {
    if (operation.kind != DiskOperation::Kind::kWrite || operation.name != "frame") return Fate();
    if (operation.offset > 0) return Fate();
    const auto next = LoadBe<uint64_t>(operation.bytes.data() + format::kFrameSizeOffset);
    went_down += call.name == "process commit" && call.syncs == 0 && next < frame_size ? 1 : 0;
    frame_size = next;
    return Fate();
  };
  ForEachSeed(80, 16, [&](uint64_t seed) {
    frame_size = 0;
    ExamineEveryOperation({CrashFrame::Shrinking(), seed, [&] { return count; }}, 200, 1, tally);
  });
  EXPECT_EQ(tally.violations(), 0) << tally.ToString();
  EXPECT_GT(went_down, SearchShare(2));
}

// Or crashes would not show what they do to summaries.
TEST(SummariesTest, AreWrittenAndMarkedAsDurable) {
  constexpr size_t kSlotSize = 48;
  Tally tally;
  int64_t slots = 0;
  int64_t durable = 0;
  const Bug count = [&](const DiskOperation& operation, const Call& call) {
    const bool commits = call.name == "commit" || call.name == "process commit";
    if (operation.kind != DiskOperation::Kind::kWrite || !commits) return Fate();
    if (operation.bytes.size() != kSlotSize) return Fate();
    constexpr size_t kBootAt = 32;
    const auto boot = LoadLe<uint64_t>(operation.bytes.data() + kBootAt);
    (boot == 0 ? durable : slots) += 1;
    return Fate();
  };
  ForEachSeed(80, 8, [&](uint64_t seed) {
    const CrashFrame frame = CrashFrame::Summaries(false);
    ExamineEveryOperation({frame, seed, [&] { return count; }}, 100, 1, tally);
  });
  EXPECT_EQ(tally.violations(), 0) << tally.ToString();
  EXPECT_GT(slots, SearchShare(20));
  EXPECT_GT(durable, SearchShare(10));
}

// Or crashes would not show what comes of a summary for a checkpoint that has no header yet.
TEST(SummariesTest, AreWrittenForACheckpointBeforeItsHeader) {
  Tally tally;
  std::set<int64_t> slots;
  int64_t flips = 0;
  const Bug count = [&](const DiskOperation& operation, const Call& call) {
    if (operation.kind != DiskOperation::Kind::kWrite || call.name != "process commit") {
      return Fate();
    }
    if (operation.bytes.size() == format::kSlotSize) slots.insert(operation.offset);
    if (operation.offset == 0) {
      const auto end = LoadBe<uint64_t>(operation.bytes.data() + format::kFrameSizeOffset);
      const auto anchor = frame::AnchorAfter(static_cast<int64_t>(end), true, 0);
      flips += slots.contains(anchor.slot(0)) ? 1 : 0;
    }
    return Fate();
  };
  ForEachSeed(200, 40, [&](uint64_t seed) {
    slots.clear();
    const CrashFrame frame = CrashFrame::Summaries(true);
    ExamineEveryOperation({frame, seed, [&] { return count; }}, 100, 1, tally);
  });
  EXPECT_EQ(tally.violations(), 0) << tally.ToString();
  EXPECT_GT(flips, SearchShare(1));
}

// Or crashes among small commits would not show what they are to show.
TEST(SmallCommitsTest, WriteZerosAhead) {
  Tally tally;
  int64_t zeros = 0;
  const Bug count = [&](const DiskOperation& operation, const Call&) {
    const bool ahead = operation.kind == DiskOperation::Kind::kWrite &&
                       operation.bytes.size() == 1 && operation.bytes[0] == std::byte{0};
    zeros += ahead ? 1 : 0;
    return Fate();
  };
  ExamineEveryOperation({SmallCommits(), 1, [&] { return count; }}, 50, 2, tally);
  EXPECT_EQ(tally.violations(), 0) << tally.ToString();
  EXPECT_GT(zeros, 0);
}

INSTANTIATE_TEST_SUITE_P(Frames, CrashStatesTest, testing::ValuesIn(Frames()),
                         [](const auto& frame) { return frame.param.name; });

}  // namespace
}  // namespace cairn::test
