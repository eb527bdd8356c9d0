// A process that writes a collection and is killed, beside a reader in this process: the reader
// sees all of a commit or nothing, and no acknowledged commit is lost.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "tests/support/dice.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

const char* const kNames[] = {"/g/a", "/g/b", "/c"};

CreateOptions Counters() {
  CreateOptions options;
  options.compression.typesize = 4;
  options.array = {.shape = {0}, .chunkshape = {500}, .dtype = "<i4"};
  return options;
}

// Makes a collection of empty members.
Collection MakeCollection(const std::string& path) {
  Collection collection = Collection::Create(path).value();
  CollectionWriter writer = collection.OpenWriter().value();
  for (const char* const name : kNames) EXPECT_TRUE(IsOk(writer.Add(name, Counters())));
  EXPECT_TRUE(IsOk(writer.Close()));
  return collection;
}

// Appends the number of values so far to each member, in one commit, until it is killed. Now and
// then a member is removed and added again with the same content.
[[noreturn]] void CountUntilKilled(const std::string& path, int32_t next,
                                   std::atomic<int32_t>& taken) {
  absl::StatusOr<Collection> collection = Collection::Open(path);
  if (!collection.ok()) std::_Exit(1);
  std::vector<int32_t> all;
  for (int32_t value = 0; value < next; ++value) all.push_back(value);
  for (;;) {
    absl::StatusOr<CollectionWriter> writer =
        collection->OpenWriter({.wait = std::chrono::seconds(60)});
    if (!writer.ok()) std::_Exit(2);
    for (int i = 0; i < 40; ++i) {
      all.push_back(next);
      for (const char* const name : kNames) {
        const bool replaces = next % 50 == 7 && name == kNames[1];
        if (replaces && !writer->Remove(name).ok()) std::_Exit(3);
        absl::StatusOr<MemberWriter> member =
            replaces ? writer->Add(name, Counters()) : writer->Edit(name);
        if (!member.ok()) std::_Exit(4);
        const std::vector<int32_t> values = replaces ? all : std::vector<int32_t>{next};
        if (!member->AppendSlices(0, values).ok()) std::_Exit(5);
      }
      if (!writer->Commit().ok()) std::_Exit(6);
      taken = ++next;
    }
    if (!writer->Close().ok()) std::_Exit(7);
  }
}

// Checks that all members have the same count, and returns it.
int32_t CountOf(const CollectionSnapshot& snapshot) {
  std::vector<int64_t> counts;
  for (const char* const name : kNames) {
    const absl::StatusOr<Snapshot> member = snapshot.OpenMember(name);
    EXPECT_TRUE(IsOk(member)) << name;
    if (!member.ok()) return -1;
    std::vector<int32_t> values(static_cast<size_t>(member->info().nitems));
    EXPECT_TRUE(IsOk(member->ReadItems(0, values))) << name;
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] != static_cast<int32_t>(i)) ADD_FAILURE() << name << ": " << values[i];
    }
    counts.push_back(member->info().nitems);
  }
  EXPECT_EQ(std::ranges::count(counts, counts[0]), 3) << "half of a commit";
  return static_cast<int32_t>(counts[0]);
}

TEST(CollectionKillTest, ReadersSeeWholeCommitsAndNoneIsLost) {
  const TempDir temp;
  const std::string path = temp.Path("c");
  Collection collection = MakeCollection(path);
  void* const shared = ::mmap(nullptr, sizeof(std::atomic<int32_t>), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto& taken = *new (shared) std::atomic<int32_t>(0);
  Dice dice(3);
  for (int life = 0; life < 20 && !HasFailure(); ++life) {
    const int32_t before = taken;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) CountUntilKilled(path, before, taken);
    const int32_t last = before + static_cast<int32_t>(dice.Below(100));
    int result = 0;
    pid_t ended = 0;
    while (taken <= last && ended == 0 && !HasFailure()) {
      const int32_t least = taken;
      const absl::StatusOr<CollectionSnapshot> snapshot = collection.Refresh();
      ASSERT_TRUE(IsOk(snapshot));
      std::this_thread::sleep_for(std::chrono::microseconds(dice.Below(2000)));
      EXPECT_GE(CountOf(*snapshot), least);
      ended = ::waitpid(child, &result, WNOHANG);
    }
    if (ended == 0) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &result, 0);
    }
    EXPECT_TRUE(WIFSIGNALED(result)) << "it ended by itself: " << WEXITSTATUS(result);
    const absl::StatusOr<CollectionSnapshot> found = collection.Refresh();
    ASSERT_TRUE(IsOk(found));
    const int32_t count = CountOf(*found);
    EXPECT_GE(count, taken) << "an acknowledged commit is lost";
    EXPECT_LE(count, taken + 1) << "a commit that was not made";
    taken = count;
  }
  ::munmap(shared, sizeof(std::atomic<int32_t>));
}

// Appends to the member of this number, and to the one that all want, until it is killed.
[[noreturn]] void ShareUntilKilled(const std::string& path, int number,
                                   std::atomic<int32_t>& taken) {
  absl::StatusOr<Collection> collection = Collection::Open(path);
  if (!collection.ok()) std::_Exit(1);
  for (;;) {
    absl::StatusOr<CollectionWriter> writer =
        collection->OpenWriter({.wait = std::chrono::seconds(60), .shared = true});
    if (!writer.ok()) std::_Exit(2);
    for (int i = 0; i < 20; ++i) {
      for (const char* const name : {kNames[number], kNames[2]}) {
        absl::StatusOr<MemberWriter> member = writer->Edit(name);
        if (!member.ok()) std::_Exit(4);
        const absl::StatusOr<Snapshot> now = member->StagedSnapshot();
        if (!now.ok()) std::_Exit(8);
        const std::vector<int32_t> value = {static_cast<int32_t>(now->info().nitems)};
        if (!member->AppendSlices(0, value).ok()) std::_Exit(5);
      }
      if (!writer->Commit().ok()) std::_Exit(6);
      ++taken;
    }
    if (!writer->Close().ok()) std::_Exit(7);
  }
}

TEST(CollectionKillTest, WritersThatShareLoseNothingWhenOneIsKilled) {
  const TempDir temp;
  const std::string path = temp.Path("c");
  Collection collection = MakeCollection(path);
  constexpr size_t kWriters = 2;
  using Counts = std::array<std::atomic<int32_t>, kWriters>;
  void* const shared =
      ::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  Counts& taken = *new (shared) Counts();
  std::array<pid_t, kWriters> children = {};
  const auto begin = [&](size_t number) {
    children[number] = ::fork();
    ASSERT_GE(children[number], 0);
    if (children[number] == 0) ShareUntilKilled(path, static_cast<int>(number), taken[number]);
  };
  const auto end = [&](size_t number) {
    ::kill(children[number], SIGKILL);
    int result = 0;
    ::waitpid(children[number], &result, 0);
    EXPECT_TRUE(WIFSIGNALED(result)) << "it ended by itself: " << WEXITSTATUS(result);
  };
  for (size_t i = 0; i < kWriters; ++i) begin(i);
  Dice dice(5);
  std::array<int64_t, kWriters> least = {};
  for (int life = 0; life < 30 && !testing::Test::HasFailure(); ++life) {
    std::this_thread::sleep_for(std::chrono::milliseconds(dice.Below(60)));
    const size_t number = dice.Below(kWriters);
    end(number);
    const int32_t acknowledged = taken[number];
    const absl::StatusOr<CollectionSnapshot> found = collection.Refresh();
    ASSERT_TRUE(IsOk(found.status()));
    std::array<int64_t, 3> counts = {};
    for (size_t i = 0; i < counts.size(); ++i) {
      const absl::StatusOr<Snapshot> member = found->OpenMember(kNames[i]);
      ASSERT_TRUE(IsOk(member.status())) << kNames[i];
      std::vector<int32_t> values(static_cast<size_t>(member->info().nitems));
      ASSERT_TRUE(IsOk(member->ReadItems(0, values)));
      for (size_t j = 0; j < values.size(); ++j) EXPECT_EQ(values[j], static_cast<int32_t>(j));
      counts[i] = static_cast<int64_t>(values.size());
    }
    EXPECT_EQ(counts[0] + counts[1], counts[2]) << "half of a commit";
    EXPECT_GE(counts[number], least[number] + acknowledged) << "an acknowledged commit is lost";
    EXPECT_LE(counts[number], least[number] + acknowledged + 1) << "a commit that was not made";
    least[number] = counts[number];
    taken[number] = 0;
    begin(number);
  }
  for (size_t i = 0; i < kWriters; ++i) end(i);
  EXPECT_GT(least[0] + least[1], 0);
  ::munmap(shared, sizeof(Counts));
}

}  // namespace
}  // namespace cairn::test
