// The crash tests can fail: each of these bugs, planted between the engine and the disk, is seen.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/format/journal.h"
#include "tests/crash/crash_run.h"
#include "tests/crash/tally.h"
#include "tests/support/search.h"

namespace cairn::test {
namespace {

using Kind = DiskOperation::Kind;

constexpr Fate kRun = {Fate::Kind::kRun};
constexpr Fate kSkip = {Fate::Kind::kSkip};
constexpr Fate kDefer = {Fate::Kind::kDefer};

bool IsSync(const DiskOperation& operation) {
  return operation.kind == Kind::kSync || operation.kind == Kind::kSyncDirectory;
}

struct PlantedBug {
  std::string name;
  MakeBug make;
  CrashFrame frame = {.name = "Contiguous"};
  Deaths deaths = {};
};

CrashFrame Sparse() { return {.name = "Sparse", .layout = Layout::kSparse}; }

// The chunk that hides a checkpoint in the journal, and nothing else of a commit, is lost.
Fate DropFiller(const DiskOperation& operation, const Call&) {
  constexpr size_t kFillerSize = 32;
  const bool fills = operation.kind == Kind::kWrite && operation.offset > 0 &&
                     operation.bytes.size() == kFillerSize;
  return fills ? kSkip : kRun;
}

// The call claims to have made its `nth` sync.
MakeBug DropSync(std::string call, int nth) {
  return [=] {
    return [=](const DiskOperation& operation, const Call& now) {
      return IsSync(operation) && now.name == call && now.syncs == nth ? kSkip : kRun;
    };
  };
}

MakeBug DropSyncsIn(std::string call, Kind kind) {
  return [=] {
    return [=](const DiskOperation& operation, const Call& now) {
      return operation.kind == kind && now.name == call ? kSkip : kRun;
    };
  };
}

// Drops all syncs of files with such a name.
MakeBug DropSyncsOf(Kind kind, std::string part) {
  return [=] {
    return [=](const DiskOperation& operation, const Call&) {
      return operation.kind == kind && operation.name.find(part) != std::string::npos ? kSkip
                                                                                      : kRun;
    };
  };
}

// The call does not sync the file of this name.
MakeBug DropSyncsOfFile(std::string call, std::string end) {
  return [=] {
    return [=](const DiskOperation& operation, const Call& now) {
      const bool is_file = operation.kind == Kind::kSync && operation.name.ends_with(end);
      return is_file && now.name == call ? kSkip : kRun;
    };
  };
}

// The index and the trailer after it are written only when the header names them.
Fate FlipFirst(const DiskOperation& operation, bool& waiting) {
  constexpr size_t kTailSize = 23;
  const Bytes bytes = operation.bytes;
  if (operation.kind == Kind::kWrite && operation.offset > 0 && bytes.size() > kTailSize &&
      bytes[bytes.size() - kTailSize] == std::byte{0xCE}) {
    waiting = true;
    return kDefer;
  }
  if (waiting && operation.kind == Kind::kSync) return kSkip;
  waiting = false;
  return kRun;
}

// Bytes that are there already are not written again, nor synced.
Fate WriteNothingTwice(const DiskOperation& operation, bool& wrote) {
  if (operation.kind == Kind::kSync) return std::exchange(wrote, false) ? kRun : kSkip;
  if (operation.kind != Kind::kWrite) {
    wrote = true;
    return kRun;
  }
  const auto offset = static_cast<size_t>(operation.offset);
  const bool there =
      offset + operation.bytes.size() <= operation.cached.size() &&
      std::ranges::equal(operation.bytes, operation.cached.subspan(offset, operation.bytes.size()));
  wrote = wrote || !there;
  return there ? kSkip : kRun;
}

Fate DropSyncAfterCut(const DiskOperation& operation, bool& cut) {
  if (operation.kind == Kind::kTruncate) cut = true;
  return operation.kind == Kind::kSync && std::exchange(cut, false) ? kSkip : kRun;
}

// A commit is not written again into the journal of a shrinking checkpoint: such a write
// marks where that ends.
Fate DropCopies(const DiskOperation& operation, const Call&) {
  constexpr size_t kMark = 8;
  if (operation.kind != Kind::kWrite || operation.bytes.size() <= kMark) return kRun;
  const auto is_zero = [](std::byte each) { return each == std::byte{0}; };
  const bool is_record = AsText(operation.bytes).starts_with(format::kRecordMagic);
  return is_record && std::ranges::all_of(operation.bytes.last(kMark), is_zero) ? kSkip : kRun;
}

MakeBug WithMemory(Fate (*fate)(const DiskOperation&, bool&)) {
  return [=] {
    return [=, memory = std::make_shared<bool>(false)](
               const DiskOperation& operation, const Call&) { return fate(operation, *memory); };
  };
}

std::vector<PlantedBug> Bugs() {
  return {
      {"CreateWithoutSync", DropSync("create", 0)},
      {"CreateWithoutDirectorySync", DropSync("create", 1)},
      {"CommitWithoutSync", DropSync("commit", 0)},
      {"BackgroundCheckpointWithoutSyncs", DropSyncsIn("process commit", Kind::kSync),
       CrashFrame::Gradual()},
      {"BackgroundCheckpointWithoutFiller", [] { return Bug(DropFiller); }, CrashFrame::Gradual()},
      {"CheckpointBelowWithoutCommits",
       [] { return Bug(DropCopies); },
       CrashFrame::Shrinking(),
       {.operations = 160}},
      {"CheckpointWithoutFirstSync", DropSync("checkpoint", 0)},
      {"CheckpointWithoutSecondSync", DropSync("checkpoint", 1)},
      {"CloseWithoutFirstSync", DropSync("close", 0)},
      {"CloseWithoutSecondSync", DropSync("close", 1)},
      // Compaction opens the frame for writing first.
      {"CompactWithoutSync", DropSync("compact", 2)},
      {"NewFileWithoutDirectorySync",
       DropSyncsIn("checkpoint", Kind::kSyncDirectory),
       {.name = "LongHeader", .metalayer_size = 700}},
      {"OpenWithoutSync",
       DropSync("open for writing", 0),
       {.name = "Contiguous"},
       {.disk_errors = true}},
      {"OpenWithoutDirectorySync",
       DropSync("open for writing", 1),
       {.name = "Contiguous"},
       {.kills = 60}},
      {"SparseWithoutChunkSync", DropSyncsOf(Kind::kSync, ".chunk"), Sparse()},
      {"SparseWithoutIndexSync", DropSyncsOf(Kind::kSync, ".tmp"), Sparse()},
      {"SparseCommitWithoutJournalSync", DropSyncsOfFile("commit", "chunks.b2frame"), Sparse()},
      {"SparseNothingConfirmedAtOpen",
       WithMemory(WriteNothingTwice),
       Sparse(),
       {.disk_errors = true}},
      {"SparseWithoutDirectorySync", DropSyncsOf(Kind::kSyncDirectory, "chunks.b2frame"), Sparse()},
      {"HeaderBeforeIndexAndTrailer", WithMemory(FlipFirst)},
      {"NothingConfirmedAtOpen",
       WithMemory(WriteNothingTwice),
       {.name = "Contiguous"},
       {.disk_errors = true}},
  };
}

// Returns whether runs come upon something wrong, or upon a violation of this name.
bool Finds(int64_t runs, absl::FunctionRef<void(uint64_t seed, Tally&)> examine,
           std::string_view what = {}) {
  Tally tally;
  const bool found = FindSeed(runs, [&](uint64_t seed) {
    examine(seed, tally);
    return (what.empty() ? tally.violations() : tally.violations(std::string(what))) > 0;
  });
  std::cout << tally.ToString() << '\n';
  return found;
}

class PlantedBugTest : public testing::TestWithParam<PlantedBug> {};

TEST_P(PlantedBugTest, IsSeen) {
  const PlantedBug& bug = GetParam();
  EXPECT_TRUE(Finds(6000, [&](uint64_t seed, Tally& tally) {
    const CrashRun run = {bug.frame, seed, bug.make};
    ExamineChain(run, bug.deaths, tally);
    if (seed % 200 == 0) ExamineEveryOperation(run, 40, 60, tally);
  }));
}

// Finds states that mix two histories, in a run in which a crash may keep any of the commits that
// were not synced, and the sync is missing that makes the cut after an opened journal durable.
int64_t CountMixedHistories(uint64_t seed, const frame::ReplayChecks& rules) {
  const CrashFrame frame = {.name = "OneSector",
                            .chunksize = 1 << 20,
                            .only_appends = true,
                            .one_sector = true,
                            .rules = rules};
  // Without kills, what is opened is on the disk, and only the cut is not.
  constexpr Deaths kPowerCuts = {.most = 12, .operations = 24, .kills = 0, .looks = 12};
  Tally tally;
  ExamineChain({frame, seed, WithMemory(DropSyncAfterCut)}, kPowerCuts, tally);
  return tally.violations("no committed state");
}

TEST(ReplayChecksTest, WithoutThePreviousRecordsHashHistoriesMix) {
  EXPECT_TRUE(FindSeed(600, [](uint64_t seed) {
    return CountMixedHistories(seed, {.check_prev = false}) > CountMixedHistories(seed, {});
  }));
}

TEST(ReplayChecksTest, WithoutTheChunksHashesHalfACommitIsTaken) {
  const CrashFrame frame = {
      .name = "Appends", .only_appends = true, .rules = {.check_chunks = false}};
  EXPECT_TRUE(Finds(300, [&](uint64_t seed, Tally& t) { ExamineChain({frame, seed}, {}, t); }));
}

TEST(ReplayChecksTest, WithoutTheBootOfASummaryHalfACommitIsTaken) {
  CrashFrame frame = CrashFrame::Summaries(false);
  frame.rules = {.check_boot = false};
  EXPECT_TRUE(Finds(6000, [&](uint64_t seed, Tally& t) { ExamineChain({frame, seed}, {}, t); }));
}

TEST(ReplayChecksTest, WithoutTheFilesHashesHalfACommitOfASparseFrameIsTaken) {
  CrashFrame frame = Sparse();
  frame.rules = {.check_chunks = false};
  EXPECT_TRUE(Finds(300, [&](uint64_t seed, Tally& t) { ExamineChain({frame, seed}, {}, t); }));
}

// Opening makes the state durable, but later states that it follows may not be.
TEST(DurableReaderTest, WithoutAskingWhatIsDurableItSeesWhatAPowerCutTakes) {
  const CrashFrame frame = {.name = "Appends",
                            .only_appends = true,
                            .durable_reader = true,
                            .rules = {.check_durable = false}};
  EXPECT_TRUE(Finds(
      6000,
      [&](uint64_t seed, Tally& tally) {
        ExamineChain({frame, seed}, {}, tally);
      },
      "a commit is lost by a power cut"));
}

// The calls of the reader have no name.
TEST(DurableReaderTest, WithoutItsSyncsItSeesCheckpointsThatAPowerCutTakes) {
  const auto examine = [](uint64_t seed, Tally& tally) {
    const MakeBug drop = [] {
      return [](const DiskOperation& operation, const Call& now) {
        return IsSync(operation) && now.name.empty() ? kSkip : kRun;
      };
    };
    ExamineEveryOperation({{.name = "Contiguous"}, seed, drop}, 40, 2, tally);
  };
  EXPECT_TRUE(Finds(10, examine, "what a durable-only reader saw is lost"));
}

INSTANTIATE_TEST_SUITE_P(Bugs, PlantedBugTest, testing::ValuesIn(Bugs()),
                         [](const auto& bug) { return bug.param.name; });

}  // namespace
}  // namespace cairn::test
