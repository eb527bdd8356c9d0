// Salvage of a frame whose journal is damaged: what the damage does not hide stays what it is.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "tests/frame/repair/salvaging.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

constexpr int32_t kJournalChunk = 400;
constexpr int64_t kCheckpointed = 2;  // chunks

Buffer JournalItems(int64_t n) { return MakeNoise(kJournalChunk, static_cast<uint32_t>(n)); }

// The last chunk of the saved frame may be shorter than the one that it stands for.
bool Begins(Bytes items, Bytes with) {
  return items.size() >= with.size() && std::ranges::equal(items.first(with.size()), with);
}

class SalvageStrandedTest : public Salvaging {
 protected:
  // Makes a frame with two chunks in a checkpoint, and what `edit` commits after it.
  template <typename Edit>
  Buffer MakeJournal(CreateOptions options, const Edit& edit) {
    options.metalayers = {{"unit", MakeItems(9)}};
    options.overwrite = true;
    const std::string path = dir_.Path("journal");
    auto frame = Frame::Create(path, options);
    EXPECT_TRUE(IsOk(frame));
    auto writer = frame->OpenWriter();
    EXPECT_TRUE(IsOk(writer));
    for (int64_t i = 0; i < kCheckpointed; ++i) {
      EXPECT_TRUE(IsOk(options.array ? writer->AppendSlices(0, JournalItems(i))
                                     : writer->Append(JournalItems(i))));
    }
    EXPECT_TRUE(IsOk(writer->Commit()));
    EXPECT_TRUE(IsOk(writer->Checkpoint()));
    edit(*writer);
    return Written(path);
  }

  // Without the space that is reserved ahead.
  static Buffer Written(const std::string& path) {
    Buffer bytes = FileBytes(path);
    const auto last = std::find_if(bytes.rbegin(), bytes.rend(),
                                   [](std::byte byte) { return byte != std::byte{}; });
    bytes.erase(last.base(), bytes.end());
    return bytes;
  }

  static void Commit(Writer& writer, const Buffer& items) {
    EXPECT_TRUE(IsOk(writer.Append(items)));
    EXPECT_TRUE(IsOk(writer.Commit()));
  }

  // Calls `check` for flipped bytes of the journal that are damage.
  template <typename Check>
  void ForEachDamage(const Buffer& frame, const Check& check) {
    int64_t damaged = 0;
    for (int64_t at = PartsOf(frame).frame_size; at < std::ssize(frame); at += 7) {
      Buffer flipped = frame;
      flipped[static_cast<size_t>(at)] ^= std::byte{0x10};
      const std::string path = dir_.Path("flipped");
      PutFileBytes(path, flipped);
      const auto opened = Frame::Open(path);
      if (!opened.ok() || !opened->snapshot().info().journal_damaged) continue;
      ++damaged;
      const auto report = SalvageBytes(flipped);
      ASSERT_TRUE(IsOk(report)) << at;
      EXPECT_EQ(*Saved().GetMetalayer("unit"), MakeItems(9)) << at;
      EXPECT_FALSE(report->lost.empty()) << at;
      ASSERT_NO_FATAL_FAILURE(check(*report, at));
    }
    EXPECT_GT(damaged, 20);
  }

  static bool IsNamed(const SalvageReport& report, int64_t nchunk) {
    return std::ranges::count(report.holes, nchunk) + std::ranges::count(report.unproven, nchunk) >
           0;
  }
};

// Each chunk that is not named is the one that was written there, and the named ones are some of
// those that came after, in their order.
TEST_F(SalvageStrandedTest, AppendedChunksFollowTheStateBeforeTheDamage) {
  constexpr int64_t kAppended = 4;
  const Buffer frame = MakeJournal(Cut(4, kJournalChunk), [](Writer& writer) {
    for (int64_t i = 0; i < kAppended; ++i) Commit(writer, JournalItems(kCheckpointed + i));
  });
  int64_t most = 0;
  ForEachDamage(frame, [&](const SalvageReport& report, int64_t at) {
    const Snapshot saved = Saved();
    ASSERT_GE(saved.info().nchunks, kCheckpointed) << at;
    most = std::max(most, saved.info().nchunks);
    Buffer items(kJournalChunk);
    int64_t next = 0;
    for (int64_t i = 0; i < saved.info().nchunks; ++i) {
      ASSERT_TRUE(IsOk(saved.ReadChunk(i, items))) << at;
      while (next < kCheckpointed + kAppended && items != JournalItems(next)) ++next;
      ASSERT_LT(next, kCheckpointed + kAppended) << at << ", chunk " << i;
      EXPECT_TRUE(next == i || IsNamed(report, i)) << at << ", chunk " << i;
      ++next;
    }
  });
  EXPECT_EQ(most, kCheckpointed + kAppended);
}

TEST_F(SalvageStrandedTest, ChunkThatPendingItemsBeginHoldsThemOnce) {
  Buffer all = JournalItems(0);
  AddTo(all, JournalItems(1));
  std::vector<Buffer> commits;
  for (int64_t i = 2; i < 8; ++i)
    commits.push_back(MakeNoise(kJournalChunk / 2 + 40, static_cast<uint32_t>(i)));
  for (const Buffer& items : commits) AddTo(all, items);
  const Buffer frame = MakeJournal(Cut(4, kJournalChunk), [&](Writer& writer) {
    for (const Buffer& items : commits) Commit(writer, items);
  });
  int64_t whole = 0;
  ForEachDamage(frame, [&](const SalvageReport& report, int64_t at) {
    const Snapshot saved = Saved();
    for (int64_t i = 0; i < saved.info().nchunks; ++i) {
      if (IsNamed(report, i)) continue;
      Buffer items(static_cast<size_t>(*saved.ChunkNbytes(i)));
      ASSERT_TRUE(IsOk(saved.ReadChunk(i, items))) << at;
      EXPECT_TRUE(Begins(Bytes(all).subspan(static_cast<size_t>(i * kJournalChunk)), items)) << at;
    }
    Buffer items(static_cast<size_t>(saved.info().nbytes));
    ASSERT_TRUE(IsOk(saved.ReadItems(0, MutableItems(items)))) << at;
    if (items == all) ++whole;
  });
  // A lost record of pending items loses nothing where a later chunk holds them.
  EXPECT_GT(whole, 0);
}

// A chunk that was replaced is not beside one of a later commit.
TEST_F(SalvageStrandedTest, ReplacedChunksAreThoseOfOneGeneration) {
  const Buffer frame = MakeJournal(Cut(4, kJournalChunk), [](Writer& writer) {
    for (int64_t n = 0; n < 6; ++n) {
      EXPECT_TRUE(IsOk(writer.UpdateChunk(n % kCheckpointed, JournalItems(100 + n))));
      EXPECT_TRUE(IsOk(writer.Commit()));
    }
  });
  ForEachDamage(frame, [&](const SalvageReport& report, int64_t at) {
    const Snapshot saved = Saved();
    ASSERT_EQ(saved.info().nchunks, kCheckpointed) << at;
    EXPECT_TRUE(report.unproven.empty()) << at;
    Buffer first(kJournalChunk);
    Buffer second(kJournalChunk);
    ASSERT_TRUE(IsOk(saved.ReadChunk(0, first)) && IsOk(saved.ReadChunk(1, second))) << at;
    bool is_generation = first == JournalItems(0) && second == JournalItems(1);
    for (int64_t n = 0; n < 6; ++n) {
      const Buffer old = n == 0 ? JournalItems(1) : JournalItems(100 + n - 1);
      const Buffer& changed = n % 2 == 0 ? first : second;
      const Buffer& kept = n % 2 == 0 ? second : first;
      is_generation = is_generation || (changed == JournalItems(100 + n) && kept == old);
    }
    EXPECT_TRUE(is_generation) << at;
  });
}

TEST_F(SalvageStrandedTest, LineIsAsLongAsItsChunks) {
  CreateOptions options = Cut(4, kJournalChunk);
  options.array = ArrayInfo{.shape = {0}, .chunkshape = {100}, .blockshape = {50}, .dtype = "<i4"};
  Buffer all = JournalItems(0);
  AddTo(all, JournalItems(1));
  const Buffer frame = MakeJournal(options, [&](Writer& writer) {
    for (uint32_t i = 2; i < 8; ++i) {
      const Buffer items = MakeNoise(240, i);
      AddTo(all, items);
      EXPECT_TRUE(IsOk(writer.AppendSlices(0, items)));
      EXPECT_TRUE(IsOk(writer.Commit()));
    }
  });
  int64_t whole = 0;
  ForEachDamage(frame, [&](const SalvageReport& /*report*/, int64_t at) {
    const Snapshot saved = Saved();
    ASSERT_TRUE(saved.array().has_value()) << at;
    EXPECT_TRUE(saved.Verify()->ok()) << at;
    EXPECT_GE(saved.array()->shape[0], 2 * 100) << at;
    Buffer items(static_cast<size_t>(saved.info().nitems * 4));
    ASSERT_TRUE(IsOk(saved.ReadItems(0, MutableItems(items)))) << at;
    EXPECT_TRUE(Begins(items, Bytes(all).first(2 * kJournalChunk))) << at;
    if (items == all) ++whole;
  });
  EXPECT_GT(whole, 0);
}

// Its items are pending again once more of them follow.
TEST_F(SalvageStrandedTest, ShortChunkIsNotReadWithItsPadding) {
  for (const bool is_line : {true, false}) {
    CreateOptions options = Cut(4, 600);
    if (is_line) {
      options.array =
          ArrayInfo{.shape = {0}, .chunkshape = {150}, .blockshape = {50}, .dtype = "<i4"};
    }
    Buffer all = JournalItems(0);
    AddTo(all, JournalItems(1));
    const Buffer frame = MakeJournal(options, [&](Writer& writer) {
      for (uint32_t i = 2; i < 8; ++i) {
        const Buffer items = MakeNoise(40, i);
        AddTo(all, items);
        EXPECT_TRUE(IsOk(is_line ? writer.AppendSlices(0, items) : writer.Append(items)));
        EXPECT_TRUE(IsOk(writer.Commit()));
      }
    });
    ForEachDamage(frame, [&](const SalvageReport& report, int64_t at) {
      const Snapshot saved = Saved();
      EXPECT_TRUE(saved.Verify()->ok()) << at;
      Buffer items(static_cast<size_t>(saved.info().nitems * 4));
      ASSERT_TRUE(IsOk(saved.ReadItems(0, MutableItems(items)))) << at;
      ASSERT_LE(items.size(), all.size()) << at;
      EXPECT_TRUE(Begins(items, Bytes(all).first(800))) << at;
      EXPECT_TRUE(Begins(all, items) || IsNamed(report, 1)) << at;
    });
  }
}

// In which box of an array a chunk was is not known.
TEST_F(SalvageStrandedTest, BoxesAreThoseOfTheStateBeforeTheDamage) {
  CreateOptions options = Cut(4, kJournalChunk);
  options.array =
      ArrayInfo{.shape = {20, 10}, .chunkshape = {10, 10}, .blockshape = {5, 10}, .dtype = "<i4"};
  const std::string path = dir_.Path("boxes");
  options.metalayers = {{"unit", MakeItems(9)}};
  auto frame = Frame::Create(path, options);
  ASSERT_TRUE(IsOk(frame));
  auto writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  for (int64_t n = 0; n < 6; ++n) {
    ASSERT_TRUE(IsOk(writer->UpdateChunk(n % 2, JournalItems(n))));
    ASSERT_TRUE(IsOk(writer->Commit()));
  }
  ForEachDamage(Written(path), [&](const SalvageReport& report, int64_t at) {
    const Snapshot saved = Saved();
    EXPECT_EQ(saved.array(), options.array) << at;
    EXPECT_TRUE(saved.Verify()->ok()) << at;
    EXPECT_TRUE(report.unproven.empty()) << at;
  });
}

}  // namespace
}  // namespace cairn::test
