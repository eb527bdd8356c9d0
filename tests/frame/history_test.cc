// Older states, and the space that they take.
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/binary_value.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/chunk/special.h"
#include "engine/format/seal.h"
#include "engine/format/trailer.h"
#include "tests/support/bytes.h"
#include "tests/support/counting_file_system.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frame_repair.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"

namespace cairn::test {
namespace {

class HistoryTest : public testing::Test {
 protected:
  // Commits, checkpoints between them, and what each generation holds.
  void SetUp() override {
    ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(4096), MakeNoise(10'000, 1))));
    Frame frame = Open();
    Remember(frame.snapshot());
    auto writer = frame.OpenWriter(kKeepAll);
    ASSERT_TRUE(IsOk(writer));
    for (uint64_t i = 0; i < 12; ++i) {
      ASSERT_TRUE(IsOk(writer->UpdateChunk(static_cast<int64_t>(i % 2), MakeNoise(4096, i))));
      ASSERT_TRUE(IsOk(writer->Append(MakeNoise(3000, 100 + i))));
      const auto committed = writer->Commit(Durability::kProcess);
      ASSERT_TRUE(IsOk(committed));
      Remember(*committed);
      if (i % 4 == 3) {
        ASSERT_TRUE(IsOk(writer->Checkpoint()));
        Remember(frame.snapshot());
      }
    }
  }
  Frame Open(std::optional<uint64_t> generation = std::nullopt) const {
    auto frame = Frame::Open(path_, {.generation = generation});
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }
  void Remember(const Snapshot& snapshot) {
    states_[snapshot.info().generation] = DataOf(snapshot).value();
  }
  absl::StatusOr<ReclaimReport> Reclaim(const ReclaimOptions& options = {}) const {
    auto writer = Open().OpenWriter(kKeepAll);
    EXPECT_TRUE(IsOk(writer));
    return writer->Reclaim(options);
  }
  int64_t DiskUse() const {
    struct stat info = {};
    EXPECT_EQ(::stat(path_.c_str(), &info), 0);
    return int64_t{info.st_blocks} * 512;
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  std::map<uint64_t, Buffer> states_;
};

TEST_F(HistoryTest, ReclaimKeepsTheStatesOfAnEmptyFrame) {
  {
    auto writer = Open().OpenWriter(kKeepAll);
    ASSERT_TRUE(IsOk(writer->DeleteChunks(0, writer->StagedSnapshot()->info().nchunks)));
    const auto committed = writer->Commit();
    ASSERT_TRUE(IsOk(committed));
    // Only a new file can hold a frame without chunks.
    const auto kept = writer->Reclaim({.keep_generations = 100});
    ASSERT_TRUE(IsOk(kept));
    EXPECT_EQ(kept->oldest_generation, states_.begin()->first);
    EXPECT_EQ(kept->freed, 0);
    EXPECT_EQ(Open().History()->size(), states_.size() + 1);
    EXPECT_TRUE(IsOk(writer->Reclaim()));
  }
  EXPECT_EQ(Open().History()->size(), 1u);
}

TEST_F(HistoryTest, EveryGenerationCanBeOpened) {
  const auto history = Open().History();
  ASSERT_TRUE(IsOk(history));
  ASSERT_EQ(history->size(), states_.size());
  auto state = states_.begin();
  int checkpoints = 0;
  for (const GenerationInfo& one : *history) {
    EXPECT_EQ(one.generation, state->first);
    const Snapshot snapshot = Open(one.generation).snapshot();
    EXPECT_EQ(snapshot.info().generation, one.generation);
    EXPECT_EQ(snapshot.info().nbytes, one.nbytes);
    EXPECT_EQ(snapshot.info().nchunks, one.nchunks);
    EXPECT_EQ(DataOf(snapshot).value(), state->second) << one.generation;
    EXPECT_TRUE(snapshot.Verify()->ok());
    checkpoints += one.checkpoint ? 1 : 0;
    ++state;
  }
  EXPECT_EQ(checkpoints, 4);
}

TEST_F(HistoryTest, PagesAddUpToTheHistory) {
  const Frame frame = Open();
  const auto all = frame.History();
  ASSERT_TRUE(IsOk(all));
  for (int64_t limit = 1; limit <= std::ssize(*all) + 1; ++limit) {
    std::vector<uint64_t> generations;
    HistoryOptions options{.limit = limit};
    for (;;) {
      const auto page = frame.History(options);
      ASSERT_TRUE(IsOk(page));
      EXPECT_LE(std::ssize(*page), limit);
      if (page->empty()) break;
      for (auto state = page->rbegin(); state != page->rend(); ++state) {
        generations.push_back(state->generation);
        const auto& same = (*all)[all->size() - generations.size()];
        EXPECT_EQ(state->checkpoint, same.checkpoint);
        EXPECT_EQ(state->nbytes, same.nbytes);
        EXPECT_EQ(state->nchunks, same.nchunks);
        EXPECT_EQ(state->end, same.end);
      }
      options.before = page->front().generation;
    }
    std::vector<uint64_t> expected;
    for (auto state = all->rbegin(); state != all->rend(); ++state) {
      expected.push_back(state->generation);
    }
    EXPECT_EQ(generations, expected) << limit;
  }
}

TEST_F(HistoryTest, PageBeginsWhereAsked) {
  const Frame frame = Open();
  const uint64_t newest = frame.snapshot().info().generation;
  EXPECT_EQ(frame.History({.before = newest + 100, .limit = 1})->front().generation, newest);
  EXPECT_EQ(frame.History({.before = newest, .limit = 1})->front().generation, newest - 1);
  EXPECT_EQ(frame.History({.before = 0})->size(), 0u);
  EXPECT_EQ(frame.History({.before = states_.begin()->first})->size(), 0u);
  EXPECT_EQ(frame.History({.limit = 0})->size(), 0u);
  EXPECT_TRUE(absl::IsInvalidArgument(frame.History({.limit = -1}).status()));
}

TEST_F(HistoryTest, PageCostsNoMoreInALongHistory) {
  const auto calls_of_a_page = [&] {
    CountingFileSystem files;
    const auto frame = Frame::Open(path_, {.file_system = Unowned(&files)});
    EXPECT_TRUE(IsOk(frame));
    const int64_t before = files.calls();
    EXPECT_EQ(frame->History({.limit = 2})->size(), 2u);
    return files.calls() - before;
  };
  const int64_t before = calls_of_a_page();
  for (uint64_t i = 0; i < 50; ++i) ASSERT_TRUE(IsOk(AppendTo(path_, MakeNoise(100, i), kKeepAll)));
  EXPECT_EQ(Open().History()->size(), states_.size() + 50);
  EXPECT_LE(calls_of_a_page(), 2 * before);
}

TEST_F(HistoryTest, FrameWithoutHistoryHasOnePage) {
  const std::string sparse = dir_.Path("sparse");
  CreateOptions options = PlainCopies(64);
  options.layout = Layout::kSparse;
  ASSERT_TRUE(IsOk(WriteFrame(sparse, options, MakeNoise(100, 1))));
  const auto frame = Frame::Open(sparse);
  const uint64_t generation = frame->snapshot().info().generation;
  EXPECT_EQ(frame->History({.limit = 5})->size(), 1u);
  EXPECT_EQ(frame->History({.before = generation + 1})->size(), 1u);
  EXPECT_EQ(frame->History({.before = generation})->size(), 0u);
}

TEST_F(HistoryTest, GenerationThatIsNotThereIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(Frame::Open(path_, {.generation = 0}).status()));
  EXPECT_TRUE(absl::IsNotFound(Frame::Open(path_, {.generation = 1000}).status()));
}

TEST_F(HistoryTest, OldStateIsReadOnlyAndStaysTheSame) {
  const auto second = std::next(states_.begin());
  Frame old = Open(second->first);
  EXPECT_TRUE(absl::IsFailedPrecondition(old.OpenWriter(kKeepAll).status()));
  ASSERT_TRUE(IsOk(AppendTo(path_, MakeNoise(10, 1))));
  const auto refreshed = old.Refresh();
  ASSERT_TRUE(IsOk(refreshed));
  EXPECT_EQ(DataOf(*refreshed).value(), second->second);
}

TEST_F(HistoryTest, CheckpointsThatShareAnIndexAreRefused) {
  Frame frame = Open();
  auto writer = frame.OpenWriter(kKeepAll);
  ASSERT_TRUE(IsOk(writer->SetVlmetalayer("note", MakeNoise(8, 1))));
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  const Buffer before = FileBytes(path_);
  const FrameParts shared = PartsOf(before);
  ASSERT_TRUE(IsOk(writer->SetVlmetalayer("note", MakeNoise(8, 2))));
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  Buffer bytes = FileBytes(path_);
  EXPECT_EQ(Frame::OpenBuffer(bytes)->History()->size(), states_.size() + 2);
  constexpr size_t kCbytesAt = 0x27;
  StoreBe(bytes.data() + kCbytesAt, static_cast<uint64_t>(shared.index_begin - shared.header_len));
  RepairSeal(bytes);
  const auto again = Frame::OpenBuffer(bytes);
  ASSERT_TRUE(IsOk(again));
  EXPECT_TRUE(again->snapshot().Verify()->ok());
  EXPECT_TRUE(IsDamage(again->History(), "the checkpoint before"));
}

TEST_F(HistoryTest, CompactionDropsAllButTheNewest) {
  ASSERT_TRUE(IsOk(Open().Compact()));
  const auto history = Open().History();
  ASSERT_TRUE(IsOk(history));
  EXPECT_EQ(history->size(), 1u);
  EXPECT_TRUE(absl::IsNotFound(Frame::Open(path_, {.generation = 3}).status()));
  EXPECT_EQ(DataOf(Open().snapshot()).value(), states_.rbegin()->second);
}

TEST_F(HistoryTest, CompactionThatIsStoppedChangesNothing) {
  const Buffer before = FileBytes(path_);
  Frame frame = Open();
  const int64_t nchunks = frame.snapshot().info().nchunks;
  std::vector<int64_t> told;
  const auto stopped = frame.Compact({.progress = [&](int64_t chunks) {
    told.push_back(chunks);
    return chunks < 3;
  }});
  EXPECT_TRUE(absl::IsCancelled(stopped.status()));
  EXPECT_EQ(told, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(FileBytes(path_), before);
  EXPECT_EQ(NamesIn(dir_.path()), std::vector<std::string>{"f"});
  told.clear();
  const auto done =
      frame.Compact({.progress = [&](int64_t chunks) { return told.push_back(chunks), true; }});
  ASSERT_TRUE(IsOk(done));
  EXPECT_EQ(std::ssize(told), nchunks);
  EXPECT_EQ(DataOf(Open().snapshot()).value(), states_.rbegin()->second);
}

TEST_F(HistoryTest, ReclaimGivesBackWhatOnlyOlderStatesNeed) {
  const int64_t before = DiskUse();
  const auto report = Reclaim();
  ASSERT_TRUE(IsOk(report));
  EXPECT_FALSE(report->blocked);
  EXPECT_GT(report->freed, 12 * 4096 / 2);
  EXPECT_LT(DiskUse(), before - 12 * 4096 / 2);
  const Snapshot newest = Open().snapshot();
  EXPECT_EQ(DataOf(newest).value(), states_.rbegin()->second);
  EXPECT_TRUE(newest.Verify()->ok());
  EXPECT_TRUE(newest.info().sealed);
  EXPECT_EQ(Open().History()->front().generation, report->oldest_generation);
  EXPECT_TRUE(absl::IsNotFound(Frame::Open(path_, {.generation = 3}).status()));
}

TEST_F(HistoryTest, ReclaimKeepsAsManyGenerationsAsAsked) {
  const uint64_t newest = states_.rbegin()->first;
  const auto report = Reclaim({.keep_generations = 6});
  ASSERT_TRUE(IsOk(report));
  EXPECT_GT(report->freed, 0);
  EXPECT_LE(report->oldest_generation, newest - 6);
  EXPECT_GT(report->oldest_generation, states_.begin()->first);
  for (const auto& [generation, data] : states_) {
    const auto frame = Frame::Open(path_, {.generation = generation});
    if (generation < report->oldest_generation) {
      EXPECT_TRUE(absl::IsNotFound(frame.status())) << generation;
    } else {
      ASSERT_TRUE(IsOk(frame)) << generation;
      EXPECT_EQ(DataOf(frame->snapshot()).value(), data) << generation;
    }
  }
}

TEST_F(HistoryTest, ReclaimKeepsAllThatThereIsWhenAskedToKeepMore) {
  const std::vector<GenerationInfo> before = Open().History().value();
  const auto report = Reclaim({.keep_generations = UINT64_MAX});
  ASSERT_TRUE(IsOk(report));
  EXPECT_EQ(report->freed, 0);
  EXPECT_EQ(report->oldest_generation, before.front().generation);
  EXPECT_EQ(Open().History()->front().generation, before.front().generation);
}

// A frame of many vlmetalayers has no seal, and its generations begin again.
TEST_F(HistoryTest, ReaderOfAHigherGenerationKeepsItFromBeingReclaimed) {
  const Snapshot old = Open().snapshot();
  const Buffer data = DataOf(old).value();
  auto writer = Open().OpenWriter(kKeepAll);
  ASSERT_TRUE(IsOk(writer));
  for (int i = 0; i < 16; ++i) {
    ASSERT_TRUE(IsOk(writer->SetVlmetalayer(std::to_string(i), MakeNoise(8, 1))));
  }
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  for (int i = 0; i < 16; ++i) {
    ASSERT_TRUE(IsOk(writer->DeleteVlmetalayer(std::to_string(i))));
  }
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(IsOk(writer->UpdateChunk(i, MakeNoise(4096, 50))));
  }
  ASSERT_TRUE(IsOk(writer->Checkpoint()));
  const auto report = writer->Reclaim();
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->blocked);
  EXPECT_EQ(DataOf(old).value(), data);
}

TEST_F(HistoryTest, ReaderOfAnOlderStateKeepsItFromBeingReclaimed) {
  const auto first = states_.begin();
  std::optional<Snapshot> old = Open(first->first).snapshot();
  auto report = Reclaim();
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->blocked);
  ASSERT_FALSE(report->holders.empty());
  EXPECT_LE(report->holders.front().generation, first->first);
  EXPECT_EQ(report->holders.front().pid, ::getpid());
  EXPECT_EQ(DataOf(*old).value(), first->second);
  // A chunk in place keeps it as well as the snapshot does.
  std::optional<Chunk> chunk = *old->GetChunk(0);
  const Buffer bytes = ToVector(chunk->bytes());
  old.reset();
  EXPECT_TRUE(Reclaim()->blocked);
  EXPECT_EQ(ToVector(chunk->bytes()), bytes);
  chunk.reset();
  report = Reclaim();
  EXPECT_FALSE(report->blocked);
  EXPECT_GT(report->freed, 0);
}

TEST_F(HistoryTest, ReclaimRefusesStagedEdits) {
  Frame frame = Open();
  auto writer = frame.OpenWriter(kKeepAll);
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(5, 1))));
  EXPECT_TRUE(absl::IsFailedPrecondition(writer->Reclaim().status()));
  writer->Rollback();
  EXPECT_TRUE(IsOk(writer->Reclaim()));
}

TEST_F(HistoryTest, ReclaimOnAFullDiskLeavesNothingOfThePendingChunk) {
  const std::string path = dir_.Path("g");
  ASSERT_TRUE(IsOk(WriteFrame(path, PlainCopies(4 << 20), MakeNoise(100, 1))));
  {
    auto writer = Frame::Open(path)->OpenWriter(kKeepAll);
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(3 << 19, 2))));
    ASSERT_TRUE(IsOk(writer->Commit()));
  }
  FaultFileSystem files;
  auto writer = Frame::Open(path, {.file_system = Unowned(&files)})->OpenWriter(kKeepAll);
  const auto size = std::filesystem::file_size(path);
  files.Inject({.after = 1, .short_write = true});  // after the question whether holes are possible
  EXPECT_TRUE(absl::IsResourceExhausted(writer->Reclaim().status()));
  EXPECT_EQ(std::filesystem::file_size(path), size);
}

// The checkpoint has a seal, and the next one would have none.
TEST_F(HistoryTest, ReclaimRefusesWhereTheJournalLeavesNoRoomForASeal) {
  Frame frame = Open();
  auto writer = frame.OpenWriter(kKeepAll);
  ASSERT_TRUE(IsOk(writer));
  for (int i = 0; i < 15; ++i) {
    ASSERT_TRUE(IsOk(writer->SetVlmetalayer(std::to_string(i), MakeNoise(8, 1))));
  }
  ASSERT_TRUE(IsOk(writer->Commit()));
  for (const uint64_t keep : {0, 1}) {
    EXPECT_TRUE(absl::IsUnimplemented(writer->Reclaim({.keep_generations = keep}).status()));
  }
  EXPECT_EQ(frame.History()->size(), states_.size() + 1);
  for (int i = 0; i < 15; ++i) {
    ASSERT_TRUE(IsOk(writer->DeleteVlmetalayer(std::to_string(i))));
  }
  ASSERT_TRUE(IsOk(writer->Commit()));
  EXPECT_TRUE(IsOk(writer->Reclaim()));
  EXPECT_EQ(DataOf(Open().snapshot()).value(), states_.rbegin()->second);
}

// A sealed frame of that generation.
void PutGeneration(const std::string& path, uint64_t generation) {
  constexpr size_t kGenerationAt = kBinaryHead + 16;  // in the seal
  Buffer frame = FileBytes(path);
  const auto begin = static_cast<size_t>(PartsOf(frame).trailer_begin);
  const format::Trailer trailer = format::ParseTrailer(Bytes(frame).subspan(begin)).value();
  for (const format::LayerPlace& place : trailer.layers) {
    if (place.name != format::kSealLayer) continue;
    const MutableBytes chunk = MutableBytes(frame).subspan(begin + static_cast<size_t>(place.begin),
                                                           static_cast<size_t>(place.size));
    const Bytes seal = chunk::MemcpyedPayload(chunk).value();
    StoreLe(chunk.data() + (seal.data() - chunk.data()) + kGenerationAt, generation);
  }
  RepairSeal(frame);
  PutFileBytes(path, frame);
}

TEST_F(HistoryTest, NothingFollowsTheLastGeneration) {
  for (const Layout layout : {Layout::kContiguous, Layout::kSparse}) {
    const bool sparse = layout == Layout::kSparse;
    const std::string path = dir_.Path(sparse ? "sparse" : "whole");
    CreateOptions options = PlainCopies(64);
    options.layout = layout;
    ASSERT_TRUE(IsOk(WriteFrame(path, options, MakeNoise(64, 1))));
    PutGeneration(sparse ? path + "/chunks.b2frame" : path, format::kMaxGeneration - 1);
    Buffer data;
    {
      Frame frame = Frame::Open(path).value();
      auto writer = frame.OpenWriter(kKeepAll);
      ASSERT_TRUE(IsOk(writer));
      ASSERT_TRUE(IsOk(writer->Append(MakeNoise(64, 2))));
      const auto last = writer->Commit();
      ASSERT_TRUE(IsOk(last));
      EXPECT_EQ(last->info().generation, format::kMaxGeneration);
      data = DataOf(*last).value();
      EXPECT_TRUE(IsOk(writer->Commit())) << "nothing is staged";
      EXPECT_TRUE(absl::IsFailedPrecondition(writer->Reclaim().status()));
      ASSERT_TRUE(IsOk(writer->Append(MakeNoise(64, 3))));
      EXPECT_TRUE(absl::IsFailedPrecondition(writer->Commit().status()));
      EXPECT_TRUE(absl::IsFailedPrecondition(writer->Checkpoint()));
      EXPECT_TRUE(absl::IsFailedPrecondition(writer->Close()));
    }
    const Snapshot after = Frame::Open(path)->snapshot();
    EXPECT_EQ(DataOf(after).value(), data);
    EXPECT_TRUE(after.Verify()->ok());
    EXPECT_TRUE(absl::IsFailedPrecondition(Frame::Open(path)->OpenWriter(kKeepAll).status()));
  }
}

TEST_F(HistoryTest, LogThatRollsForEverTakesBoundedSpace) {
  const std::string path = dir_.Path("log");
  ASSERT_TRUE(IsOk(Frame::Create(path, PlainCopies(4096))));
  Frame frame = *Frame::Open(path);
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  int64_t most = 0;
  constexpr int64_t kKept = 20;
  for (uint64_t i = 0; i < 400; ++i) {
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(4096, i))));
    const int64_t surplus = static_cast<int64_t>(i) + 1 > kKept ? 1 : 0;
    ASSERT_TRUE(IsOk(writer->DeleteChunks(0, surplus)));
    ASSERT_TRUE(IsOk(writer->Commit(Durability::kProcess)));
    if (i % 20 == 19) {
      ASSERT_TRUE(IsOk(writer->Reclaim()));
      struct stat info = {};
      ASSERT_EQ(::stat(path.c_str(), &info), 0);
      // Space that is reserved ahead does not belong to the log.
      most = std::max(most, int64_t{info.st_blocks} * 512);
    }
  }
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_LT(static_cast<int64_t>(std::filesystem::file_size(path)), 100 * 4096);
  // Twenty chunks, as many that died since, and the room ahead.
  EXPECT_LT(most, 2 * kKept * 4096 + 3 * (1 << 20));
  struct stat info = {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_LT(int64_t{info.st_blocks} * 512, 3 * kKept * 4096);
  EXPECT_EQ(Frame::Open(path)->snapshot().info().nchunks, kKept);
}

TEST(HistoryOfOthersTest, FrameWithoutASealHasItsNewestState) {
  const TempDir dir;
  CreateOptions options = PlainCopies(64);
  options.fingerprint = FingerprintType::kNone;
  ASSERT_TRUE(IsOk(WriteFrame(dir.Path("f"), options, MakeNoise(100, 1))));
  auto frame = Frame::Open(dir.Path("f"));
  const auto history = frame->History();
  ASSERT_TRUE(IsOk(history));
  EXPECT_EQ(history->size(), 1u);
}

TEST(HistoryOfOthersTest, FrameInMemoryHasAHistoryButNoDiskSpace) {
  auto frame = Frame::CreateInMemory(PlainCopies(64));
  auto writer = frame->OpenWriter(kKeepAll);
  for (uint64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(100, i))));
    ASSERT_TRUE(IsOk(writer->Commit()));
  }
  EXPECT_EQ(frame->History()->size(), 4u);
  EXPECT_TRUE(absl::IsUnimplemented(writer->Reclaim().status()));
  EXPECT_TRUE(IsOk(writer->Append(MakeNoise(1, 1))));  // nothing broke
}

}  // namespace
}  // namespace cairn::test
