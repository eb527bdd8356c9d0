// Older states, and the space that they take.
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/chunk/plain.h"
#include "engine/format/seal.h"
#include "engine/format/trailer.h"
#include "tests/frame/small_frames.h"
#include "tests/support/counting_file_system.h"
#include "tests/support/frame_repair.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

class HistoryTest : public testing::Test {
 protected:
  // Commits, checkpoints between them, and what each generation holds.
  void SetUp() override {
    ASSERT_EQ(WriteFrame(path_, PlainCopies(4096), Noise(10'000, 1)), absl::OkStatus());
    Frame frame = Open();
    Remember(frame.snapshot());
    auto writer = frame.OpenWriter();
    ASSERT_EQ(writer.status(), absl::OkStatus());
    for (uint64_t i = 0; i < 12; ++i) {
      ASSERT_EQ(writer->UpdateChunk(static_cast<int64_t>(i % 2), Noise(4096, i)), absl::OkStatus());
      ASSERT_EQ(writer->Append(Noise(3000, 100 + i)), absl::OkStatus());
      const auto committed = writer->Commit(Durability::kProcess);
      ASSERT_EQ(committed.status(), absl::OkStatus());
      Remember(*committed);
      if (i % 4 == 3) {
        ASSERT_EQ(writer->Checkpoint(), absl::OkStatus());
        Remember(frame.snapshot());
      }
    }
  }
  Frame Open(std::optional<uint64_t> generation = std::nullopt) const {
    auto frame = Frame::Open(path_, {.generation = generation});
    EXPECT_EQ(frame.status(), absl::OkStatus());
    return *std::move(frame);
  }
  void Remember(const Snapshot& snapshot) {
    states_[snapshot.info().generation] = DataOf(snapshot).value();
  }
  absl::StatusOr<ReclaimReport> Reclaim(const ReclaimOptions& options = {}) const {
    auto writer = Open().OpenWriter();
    EXPECT_EQ(writer.status(), absl::OkStatus());
    return writer->Reclaim(options);
  }
  int64_t DiskUse() const {
    struct stat info = {};
    EXPECT_EQ(::stat(path_.c_str(), &info), 0);
    return int64_t{info.st_blocks} * 512;
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  std::map<uint64_t, std::vector<std::byte>> states_;
};

TEST_F(HistoryTest, ReclaimKeepsTheStatesOfAnEmptyFrame) {
  {
    auto writer = Open().OpenWriter();
    ASSERT_EQ(writer->DeleteChunks(0, writer->snapshot()->info().nchunks), absl::OkStatus());
    const auto committed = writer->Commit();
    ASSERT_EQ(committed.status(), absl::OkStatus());
    // Only a new file can hold a frame without chunks.
    const auto kept = writer->Reclaim({.keep_generations = 100});
    ASSERT_EQ(kept.status(), absl::OkStatus());
    EXPECT_EQ(kept->oldest_generation, states_.begin()->first);
    EXPECT_EQ(kept->freed, 0);
    EXPECT_EQ(Open().History()->size(), states_.size() + 1);
    EXPECT_EQ(writer->Reclaim().status(), absl::OkStatus());
  }
  EXPECT_EQ(Open().History()->size(), 1u);
}

TEST_F(HistoryTest, EveryGenerationCanBeOpened) {
  const auto history = Open().History();
  ASSERT_EQ(history.status(), absl::OkStatus());
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

TEST_F(HistoryTest, PagesAreTheWholeHistory) {
  const Frame frame = Open();
  const auto all = frame.History();
  ASSERT_EQ(all.status(), absl::OkStatus());
  for (int64_t limit = 1; limit <= std::ssize(*all) + 1; ++limit) {
    std::vector<uint64_t> generations;
    HistoryOptions options{.limit = limit};
    for (;;) {
      const auto page = frame.History(options);
      ASSERT_EQ(page.status(), absl::OkStatus());
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

TEST_F(HistoryTest, APageBeginsWhereItIsTold) {
  const Frame frame = Open();
  const uint64_t newest = frame.snapshot().info().generation;
  EXPECT_EQ(frame.History({.before = newest + 100, .limit = 1})->front().generation, newest);
  EXPECT_EQ(frame.History({.before = newest, .limit = 1})->front().generation, newest - 1);
  EXPECT_EQ(frame.History({.before = 0})->size(), 0u);
  EXPECT_EQ(frame.History({.before = states_.begin()->first})->size(), 0u);
  EXPECT_EQ(frame.History({.limit = 0})->size(), 0u);
  EXPECT_TRUE(absl::IsInvalidArgument(frame.History({.limit = -1}).status()));
}

TEST_F(HistoryTest, APageCostsNoMoreInALongHistory) {
  const auto calls_of_a_page = [&] {
    CountingFileSystem files;
    const auto frame = Frame::Open(path_, {.file_system = &files});
    EXPECT_EQ(frame.status(), absl::OkStatus());
    const int64_t before = files.calls();
    EXPECT_EQ(frame->History({.limit = 2})->size(), 2u);
    return files.calls() - before;
  };
  const int64_t before = calls_of_a_page();
  for (uint64_t i = 0; i < 50; ++i) ASSERT_EQ(AppendTo(path_, Noise(100, i)), absl::OkStatus());
  EXPECT_EQ(Open().History()->size(), states_.size() + 50);
  EXPECT_LE(calls_of_a_page(), 2 * before);
}

TEST_F(HistoryTest, AFrameWithoutHistoryHasOnePage) {
  const std::string sparse = dir_.Path("sparse");
  CreateOptions options = PlainCopies(64);
  options.layout = Layout::kSparse;
  ASSERT_EQ(WriteFrame(sparse, options, Noise(100, 1)), absl::OkStatus());
  const auto frame = Frame::Open(sparse);
  const uint64_t generation = frame->snapshot().info().generation;
  EXPECT_EQ(frame->History({.limit = 5})->size(), 1u);
  EXPECT_EQ(frame->History({.before = generation + 1})->size(), 1u);
  EXPECT_EQ(frame->History({.before = generation})->size(), 0u);
}

TEST_F(HistoryTest, AGenerationThatIsNotThereIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(Frame::Open(path_, {.generation = 0}).status()));
  EXPECT_TRUE(absl::IsNotFound(Frame::Open(path_, {.generation = 1000}).status()));
}

TEST_F(HistoryTest, AnOldStateIsReadOnlyAndStaysTheSame) {
  const auto second = std::next(states_.begin());
  Frame old = Open(second->first);
  EXPECT_TRUE(absl::IsFailedPrecondition(old.OpenWriter().status()));
  ASSERT_EQ(AppendTo(path_, Noise(10, 1)), absl::OkStatus());
  const auto refreshed = old.Refresh();
  ASSERT_EQ(refreshed.status(), absl::OkStatus());
  EXPECT_EQ(DataOf(*refreshed).value(), second->second);
}

TEST_F(HistoryTest, CheckpointsThatShareAnIndexAreRefused) {
  Frame frame = Open();
  auto writer = frame.OpenWriter();
  ASSERT_EQ(writer->SetVlmeta("note", Noise(8, 1)), absl::OkStatus());
  ASSERT_EQ(writer->Checkpoint(), absl::OkStatus());
  const std::vector<std::byte> before = FileBytes(path_);
  const FrameParts shared = PartsOf(before);
  ASSERT_EQ(writer->SetVlmeta("note", Noise(8, 2)), absl::OkStatus());
  ASSERT_EQ(writer->Checkpoint(), absl::OkStatus());
  std::vector<std::byte> bytes = FileBytes(path_);
  EXPECT_EQ(Frame::OpenBuffer(bytes)->History()->size(), states_.size() + 2);
  constexpr size_t kCbytesAt = 0x27;
  StoreBe(bytes.data() + kCbytesAt, static_cast<uint64_t>(shared.index_begin - shared.header_len));
  RepairSeal(bytes);
  const auto again = Frame::OpenBuffer(bytes);
  ASSERT_EQ(again.status(), absl::OkStatus());
  EXPECT_TRUE(again->snapshot().Verify()->ok());
  EXPECT_TRUE(IsDamage(again->History(), "the checkpoint before"));
}

TEST_F(HistoryTest, CompactionDropsAllButTheNewest) {
  ASSERT_EQ(Open().Compact().status(), absl::OkStatus());
  const auto history = Open().History();
  ASSERT_EQ(history.status(), absl::OkStatus());
  EXPECT_EQ(history->size(), 1u);
  EXPECT_TRUE(absl::IsNotFound(Frame::Open(path_, {.generation = 3}).status()));
  EXPECT_EQ(DataOf(Open().snapshot()).value(), states_.rbegin()->second);
}

TEST_F(HistoryTest, ACompactionThatIsStoppedChangesNothing) {
  const std::vector<std::byte> before = FileBytes(path_);
  Frame frame = Open();
  const int64_t nchunks = frame.snapshot().info().nchunks;
  std::vector<int64_t> told;
  const auto stopped = frame.Compact([&](int64_t chunks) {
    told.push_back(chunks);
    return chunks < 3;
  });
  EXPECT_TRUE(absl::IsCancelled(stopped.status()));
  EXPECT_EQ(told, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(FileBytes(path_), before);
  EXPECT_EQ(NamesIn(dir_.path()), std::vector<std::string>{"f"});
  told.clear();
  const auto done = frame.Compact([&](int64_t chunks) { return told.push_back(chunks), true; });
  ASSERT_EQ(done.status(), absl::OkStatus());
  EXPECT_EQ(std::ssize(told), nchunks);
  EXPECT_EQ(DataOf(Open().snapshot()).value(), states_.rbegin()->second);
}

TEST_F(HistoryTest, ReclaimGivesBackWhatOnlyOlderStatesNeed) {
  const int64_t before = DiskUse();
  const auto report = Reclaim();
  ASSERT_EQ(report.status(), absl::OkStatus());
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

TEST_F(HistoryTest, ReclaimKeepsAsManyGenerationsAsItIsTold) {
  const uint64_t newest = states_.rbegin()->first;
  const auto report = Reclaim({.keep_generations = 6});
  ASSERT_EQ(report.status(), absl::OkStatus());
  EXPECT_GT(report->freed, 0);
  EXPECT_LE(report->oldest_generation, newest - 6);
  EXPECT_GT(report->oldest_generation, states_.begin()->first);
  for (const auto& [generation, data] : states_) {
    const auto frame = Frame::Open(path_, {.generation = generation});
    if (generation < report->oldest_generation) {
      EXPECT_TRUE(absl::IsNotFound(frame.status())) << generation;
    } else {
      ASSERT_EQ(frame.status(), absl::OkStatus()) << generation;
      EXPECT_EQ(DataOf(frame->snapshot()).value(), data) << generation;
    }
  }
}

TEST_F(HistoryTest, ReclaimKeepsAllThatThereIsWhenToldToKeepMore) {
  const std::vector<GenerationInfo> before = Open().History().value();
  const auto report = Reclaim({.keep_generations = UINT64_MAX});
  ASSERT_EQ(report.status(), absl::OkStatus());
  EXPECT_EQ(report->freed, 0);
  EXPECT_EQ(report->oldest_generation, before.front().generation);
  EXPECT_EQ(Open().History()->front().generation, before.front().generation);
}

// A frame of many vlmetalayers has no seal, and its generations begin anew.
TEST_F(HistoryTest, AReaderOfAHigherGenerationKeepsItFromBeingReclaimed) {
  const Snapshot old = Open().snapshot();
  const std::vector<std::byte> data = DataOf(old).value();
  auto writer = Open().OpenWriter();
  ASSERT_EQ(writer.status(), absl::OkStatus());
  for (int i = 0; i < 16; ++i) {
    ASSERT_EQ(writer->SetVlmeta(std::to_string(i), Noise(8, 1)), absl::OkStatus());
  }
  ASSERT_EQ(writer->Checkpoint(), absl::OkStatus());
  for (int i = 0; i < 16; ++i) {
    ASSERT_EQ(writer->DeleteVlmeta(std::to_string(i)), absl::OkStatus());
  }
  for (int i = 0; i < 8; ++i) {
    ASSERT_EQ(writer->UpdateChunk(i, Noise(4096, 50)), absl::OkStatus());
  }
  ASSERT_EQ(writer->Checkpoint(), absl::OkStatus());
  const auto report = writer->Reclaim();
  ASSERT_EQ(report.status(), absl::OkStatus());
  EXPECT_TRUE(report->blocked);
  EXPECT_EQ(DataOf(old).value(), data);
}

TEST_F(HistoryTest, AReaderOfAnOlderStateKeepsItFromBeingReclaimed) {
  const auto first = states_.begin();
  std::optional<Snapshot> old = Open(first->first).snapshot();
  auto report = Reclaim();
  ASSERT_EQ(report.status(), absl::OkStatus());
  EXPECT_TRUE(report->blocked);
  EXPECT_EQ(report->freed, 0);
  EXPECT_EQ(DataOf(*old).value(), first->second);
  // A chunk in place keeps it as well as the snapshot does.
  std::optional<Chunk> chunk = *old->GetChunk(0);
  const std::vector<std::byte> bytes = ToVector(chunk->bytes());
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
  auto writer = frame.OpenWriter();
  ASSERT_EQ(writer->Append(Noise(5, 1)), absl::OkStatus());
  EXPECT_TRUE(absl::IsFailedPrecondition(writer->Reclaim().status()));
  writer->Rollback();
  EXPECT_EQ(writer->Reclaim().status(), absl::OkStatus());
}

// The checkpoint has a seal, and the next one would have none.
TEST_F(HistoryTest, ReclaimRefusesWhereTheJournalLeavesNoRoomForASeal) {
  Frame frame = Open();
  auto writer = frame.OpenWriter();
  ASSERT_EQ(writer.status(), absl::OkStatus());
  for (int i = 0; i < 15; ++i) {
    ASSERT_EQ(writer->SetVlmeta(std::to_string(i), Noise(8, 1)), absl::OkStatus());
  }
  ASSERT_EQ(writer->Commit().status(), absl::OkStatus());
  for (const uint64_t keep : {0, 1}) {
    EXPECT_TRUE(absl::IsUnimplemented(writer->Reclaim({.keep_generations = keep}).status()));
  }
  EXPECT_EQ(frame.History()->size(), states_.size() + 1);
  for (int i = 0; i < 15; ++i) {
    ASSERT_EQ(writer->DeleteVlmeta(std::to_string(i)), absl::OkStatus());
  }
  ASSERT_EQ(writer->Commit().status(), absl::OkStatus());
  EXPECT_EQ(writer->Reclaim().status(), absl::OkStatus());
  EXPECT_EQ(DataOf(Open().snapshot()).value(), states_.rbegin()->second);
}

// A sealed frame of that generation.
void PutGeneration(const std::string& path, uint64_t generation) {
  constexpr size_t kGenerationAt = 16;  // in the seal
  std::vector<std::byte> frame = FileBytes(path);
  const auto begin = static_cast<size_t>(PartsOf(frame).trailer_begin);
  const format::Trailer trailer = format::ParseTrailer(Bytes(frame).subspan(begin)).value();
  for (const format::LayerPlace& place : trailer.layers) {
    if (place.name != format::kSealLayer) continue;
    const MutableBytes chunk = MutableBytes(frame).subspan(begin + static_cast<size_t>(place.begin),
                                                           static_cast<size_t>(place.size));
    const Bytes seal = chunk::PlainPayload(chunk).value();
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
    ASSERT_EQ(WriteFrame(path, options, Noise(64, 1)), absl::OkStatus());
    PutGeneration(sparse ? path + "/chunks.b2frame" : path, format::kMaxGeneration - 1);
    std::vector<std::byte> data;
    {
      Frame frame = Frame::Open(path).value();
      auto writer = frame.OpenWriter();
      ASSERT_EQ(writer.status(), absl::OkStatus());
      ASSERT_EQ(writer->Append(Noise(64, 2)), absl::OkStatus());
      const auto last = writer->Commit();
      ASSERT_EQ(last.status(), absl::OkStatus());
      EXPECT_EQ(last->info().generation, format::kMaxGeneration);
      data = DataOf(*last).value();
      EXPECT_EQ(writer->Commit().status(), absl::OkStatus()) << "nothing is staged";
      EXPECT_TRUE(absl::IsFailedPrecondition(writer->Reclaim().status()));
      ASSERT_EQ(writer->Append(Noise(64, 3)), absl::OkStatus());
      EXPECT_TRUE(absl::IsFailedPrecondition(writer->Commit().status()));
      EXPECT_TRUE(absl::IsFailedPrecondition(writer->Checkpoint()));
      EXPECT_TRUE(absl::IsFailedPrecondition(writer->Close()));
    }
    const Snapshot after = Frame::Open(path)->snapshot();
    EXPECT_EQ(DataOf(after).value(), data);
    EXPECT_TRUE(after.Verify()->ok());
    EXPECT_TRUE(absl::IsFailedPrecondition(Frame::Open(path)->OpenWriter().status()));
  }
}

TEST_F(HistoryTest, ALogThatRollsForEverTakesBoundedSpace) {
  const std::string path = dir_.Path("log");
  ASSERT_EQ(Frame::Create(path, PlainCopies(4096)).status(), absl::OkStatus());
  Frame frame = *Frame::Open(path);
  auto writer = frame.OpenWriter();
  ASSERT_EQ(writer.status(), absl::OkStatus());
  int64_t most = 0;
  constexpr int64_t kKept = 20;
  for (uint64_t i = 0; i < 400; ++i) {
    ASSERT_EQ(writer->Append(Noise(4096, i)), absl::OkStatus());
    const int64_t surplus = static_cast<int64_t>(i) + 1 > kKept ? 1 : 0;
    ASSERT_EQ(writer->DeleteChunks(0, surplus), absl::OkStatus());
    ASSERT_EQ(writer->Commit(Durability::kProcess).status(), absl::OkStatus());
    if (i % 20 == 19) {
      ASSERT_EQ(writer->Reclaim().status(), absl::OkStatus());
      struct stat info = {};
      ASSERT_EQ(::stat(path.c_str(), &info), 0);
      // What is reserved ahead is not the log's.
      most = std::max(most, int64_t{info.st_blocks} * 512);
    }
  }
  ASSERT_EQ(writer->Close(), absl::OkStatus());
  EXPECT_GT(static_cast<int64_t>(std::filesystem::file_size(path)), 400 * 4096);
  // Twenty chunks, as many that died since, and the room ahead.
  EXPECT_LT(most, 2 * kKept * 4096 + 3 * (1 << 20));
  struct stat info = {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_LT(int64_t{info.st_blocks} * 512, 3 * kKept * 4096);
  EXPECT_EQ(Frame::Open(path)->snapshot().info().nchunks, kKept);
}

TEST(HistoryOfOthersTest, AFrameWithoutASealHasItsNewestState) {
  const TempDir dir;
  CreateOptions options = PlainCopies(64);
  options.fingerprint = FingerprintType::kNone;
  ASSERT_EQ(WriteFrame(dir.Path("f"), options, Noise(100, 1)), absl::OkStatus());
  auto frame = Frame::Open(dir.Path("f"));
  const auto history = frame->History();
  ASSERT_EQ(history.status(), absl::OkStatus());
  EXPECT_EQ(history->size(), 1u);
}

TEST(HistoryOfOthersTest, AFrameInMemoryHasAHistoryButNoDiskSpace) {
  auto frame = Frame::CreateInMemory(PlainCopies(64));
  auto writer = frame->OpenWriter();
  for (uint64_t i = 0; i < 3; ++i) {
    ASSERT_EQ(writer->Append(Noise(100, i)), absl::OkStatus());
    ASSERT_EQ(writer->Commit().status(), absl::OkStatus());
  }
  EXPECT_EQ(frame->History()->size(), 4u);
  EXPECT_TRUE(absl::IsUnimplemented(writer->Reclaim().status()));
  EXPECT_EQ(writer->Append(Noise(1, 1)), absl::OkStatus());  // nothing broke
}

}  // namespace
}  // namespace cairn::test
