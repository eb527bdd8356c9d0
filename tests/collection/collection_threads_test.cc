// Threads that share a collection, and threads of the writer. ThreadSanitizer runs them, too.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

constexpr int kMembers = 4;

std::string MemberName(int number) {
  return "/g/" + std::string(1, static_cast<char>('a' + number));
}

class CollectionThreadsTest : public testing::Test {
 protected:
  CollectionThreadsTest() {
    EXPECT_TRUE(IsOk(Collection::Create(path_)));
    CollectionWriter writer = OpenWriter();
    for (int i = 0; i < kMembers; ++i) {
      CreateOptions options;
      options.compression.typesize = 4;
      options.array = {.shape = {0}, .chunkshape = {1000}, .dtype = "<i4"};
      EXPECT_TRUE(IsOk(writer.Add(MemberName(i), options)));
    }
    EXPECT_TRUE(IsOk(writer.Commit()));
  }

  CollectionWriter OpenWriter() const { return Collection::Open(path_)->OpenWriter().value(); }

  // Appends the same values to all members, in one commit.
  static absl::Status Append(CollectionWriter& writer, size_t count) {
    std::vector<uint32_t> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<uint32_t>(i * 2654435761U);
    for (int i = 0; i < kMembers; ++i) {
      absl::StatusOr<MemberWriter> member = writer.Edit(MemberName(i));
      if (!member.ok()) return member.status();
      if (absl::Status status = member->AppendSlices(0, values); !status.ok()) return status;
    }
    return writer.Commit().status();
  }

  // Expects the members to have equally many items, and returns how many.
  static int64_t SizeOfAll(const CollectionSnapshot& snapshot) {
    int64_t size = -1;
    for (int i = 0; i < kMembers; ++i) {
      const absl::StatusOr<Snapshot> member = snapshot.OpenMember(MemberName(i));
      if (!IsOk(member)) {
        ADD_FAILURE() << member.status();
        return -1;
      }
      if (i == 0) size = member->info().nitems;
      EXPECT_EQ(member->info().nitems, size);
    }
    return size;
  }

  TempDir dir_;
  const std::string path_ = dir_.Path("c.b2d");
};

TEST_F(CollectionThreadsTest, ReadersOfOneHandleSeeWholeCommitsMeanwhile) {
  Collection collection = Collection::Open(path_).value();
  std::atomic<bool> ended = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&collection, &ended] {
      int64_t seen = 0;
      do {
        const absl::StatusOr<CollectionSnapshot> now = collection.Refresh();
        ASSERT_TRUE(IsOk(now));
        const int64_t size = SizeOfAll(*now);
        EXPECT_GE(size, seen);
        seen = size;
        EXPECT_EQ(SizeOfAll(*now), size);
      } while (!ended);
    });
  }
  CollectionWriter writer = collection.OpenWriter().value();
  for (int i = 0; i < 15; ++i) {
    // Parts of more than 64 KiB are synced in threads.
    EXPECT_TRUE(IsOk(Append(writer, i % 3 == 0 ? 30'000 : 10)));
  }
  EXPECT_TRUE(IsOk(writer.Close()));
  ended = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(SizeOfAll(collection.Refresh().value()), 5 * 30'000 + 10 * 10);
}

TEST_F(CollectionThreadsTest, WriterThatTakesOverCompletesAllMembersAtTheSameTime) {
  for (int i = 0; i < 3; ++i) {
    CollectionWriter writer = OpenWriter();  // the one before did not close
    ASSERT_TRUE(IsOk(Append(writer, 10)));
  }
  CollectionWriter last = OpenWriter();
  EXPECT_EQ(SizeOfAll(Collection::Open(path_)->snapshot()), 30);
  EXPECT_TRUE(IsOk(last.Close()));
  EXPECT_TRUE(Collection::Open(path_)->snapshot().Verify()->ok());
}

// Each commit appends to a member that one thread has alone, and to one that all want.
TEST_F(CollectionThreadsTest, WritersThatShareCommitWholeStates) {
  constexpr int kCommits = 15;
  std::atomic<int> running = kMembers - 1;
  std::vector<std::thread> writers;
  for (int i = 1; i < kMembers; ++i) {
    writers.emplace_back([&, i] {
      absl::StatusOr<CollectionWriter> writer =
          Collection::Open(path_)->OpenWriter({.wait = std::chrono::minutes(2), .shared = true});
      for (int commit = 0; commit < kCommits && IsOk(writer.status()); ++commit) {
        for (const int member : {i, 0}) {
          absl::StatusOr<MemberWriter> edited = writer->Edit(MemberName(member));
          ASSERT_TRUE(IsOk(edited.status()));
          ASSERT_TRUE(IsOk(edited->AppendSlices(0, std::vector<int32_t>{commit})));
        }
        EXPECT_TRUE(IsOk(writer->Commit().status()));
      }
      EXPECT_TRUE(IsOk(writer->Close()));
      --running;
    });
  }
  Collection collection = Collection::Open(path_).value();
  int64_t common = 0;
  do {
    const absl::StatusOr<CollectionSnapshot> now = collection.Refresh();
    ASSERT_TRUE(IsOk(now.status()));
    int64_t own = 0;
    for (int i = 0; i < kMembers; ++i) {
      const absl::StatusOr<Snapshot> member = now->OpenMember(MemberName(i));
      ASSERT_TRUE(IsOk(member.status()));
      (i == 0 ? common : own) = (i == 0 ? 0 : own) + member->info().nitems;
    }
    EXPECT_EQ(own, common) << "half of a commit";
  } while (running > 0 && !HasFailure());
  for (std::thread& writer : writers) writer.join();
  const CollectionSnapshot last = collection.Refresh().value();
  EXPECT_EQ(last.OpenMember(MemberName(0))->info().nitems, kCommits * (kMembers - 1));
}

}  // namespace
}  // namespace cairn::test
