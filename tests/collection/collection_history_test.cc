// Older commits of collections, and the space that they take.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "tests/collection/ints.h"
#include "tests/support/dice.h"
#include "tests/support/files.h"
#include "tests/support/search.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

using Contents = std::map<std::string, Ints>;
using Names = std::vector<std::string>;

class CollectionHistoryTest : public testing::Test {
 protected:
  CollectionHistoryTest() {
    EXPECT_TRUE(IsOk(Collection::Create(path_)));
    collection_.emplace_back(Collection::Open(path_).value());
  }

  Collection& collection() { return collection_[0]; }
  CollectionWriter OpenWriter(std::optional<uint64_t> keep = {}) {
    return collection().OpenWriter({.keep_commits = keep}).value();
  }
  static void Add(CollectionWriter& writer, const std::string& name, const Ints& numbers) {
    CreateOptions options;
    options.compression.typesize = 4;
    options.array = {.shape = {0}, .chunkshape = {100}, .dtype = "<i4"};
    ASSERT_TRUE(IsOk(writer.Add(name, options)->AppendSlices(0, numbers)));
  }
  static void Append(CollectionWriter& writer, const std::string& name, const Ints& numbers) {
    ASSERT_TRUE(IsOk(writer.Edit(name)->AppendSlices(0, numbers)));
  }
  static Contents ContentsOf(const CollectionSnapshot& snapshot) {
    Contents contents;
    for (const std::string& name : snapshot.Members()) contents[name] = IntsOf(snapshot, name);
    return contents;
  }
  std::vector<uint64_t> Kept() {
    const std::vector<CommitInfo> history = collection().History().value();
    std::vector<uint64_t> numbers;
    for (const CommitInfo& commit : history) {
      numbers.push_back(commit.number);
    }
    return numbers;
  }
  int64_t FilesAside() const {
    const std::filesystem::directory_iterator files(path_);
    return std::ranges::count_if(files, [](const auto& file) {
      return file.path().filename().string().starts_with(".cairn-");
    });
  }
  int64_t DiskSpace() const {
    int64_t size = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(path_)) {
      if (file.is_regular_file()) size += static_cast<int64_t>(file.file_size());
    }
    return size;
  }

  TempDir dir_;
  const std::string path_ = dir_.Path("c.b2d");
  std::vector<Collection> collection_;
};

TEST_F(CollectionHistoryTest, KeptCommitsCanBeOpened) {
  CollectionWriter writer = OpenWriter(2);
  Add(writer, "/a", {1});
  ASSERT_EQ(writer.Commit().value(), 1);
  for (int32_t i = 2; i <= 5; ++i) {
    Append(writer, "/a", {i});
    ASSERT_EQ(writer.Commit().value(), i);
  }
  EXPECT_EQ(Kept(), (std::vector<uint64_t>{3, 4, 5}));
  EXPECT_EQ(IntsOf(collection().OpenCommit(3).value(), "/a"), (Ints{1, 2, 3}));
  EXPECT_EQ(IntsOf(collection().OpenCommit(4).value(), "/a"), (Ints{1, 2, 3, 4}));
  EXPECT_EQ(collection().OpenCommit(5)->number(), 5);
  EXPECT_TRUE(Fails(collection().OpenCommit(2).status(), absl::StatusCode::kNotFound,
                    "commit 2 is not kept; there are 3 to 5"));
  EXPECT_TRUE(Fails(collection().OpenCommit(6).status(), absl::StatusCode::kNotFound,
                    "commit 6 is not kept"));
}

TEST_F(CollectionHistoryTest, TellsWhatEachCommitChanged) {
  CollectionWriter writer = OpenWriter(100);
  Add(writer, "/b", {1});
  Add(writer, "/a", {1});
  ASSERT_TRUE(IsOk(writer.Commit()));
  Append(writer, "/a", {2});
  ASSERT_TRUE(IsOk(writer.EditAttributes("/")->SetVlmetalayer("t", {})));
  ASSERT_TRUE(IsOk(writer.Commit()));
  ASSERT_TRUE(IsOk(writer.Remove("/b")));
  ASSERT_TRUE(IsOk(writer.Compact("/a")));
  ASSERT_TRUE(IsOk(writer.Commit()));
  const std::vector<CommitInfo> expected = {{.number = 0},
                                            {.number = 1, .added = {"/a", "/b"}},
                                            {.number = 2, .changed = {"/a"}, .attributes = {"/"}},
                                            {.number = 3, .removed = {"/b"}}};
  EXPECT_EQ(collection().History().value(), expected);
  ASSERT_TRUE(IsOk(writer.Close()));
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(collection().History()->at(i), expected[i]);
  }
}

TEST_F(CollectionHistoryTest, NumberOfKeptCommitsIsRemembered) {
  EXPECT_EQ(Kept(), (std::vector<uint64_t>{0})) << "none are kept at first";
  { OpenWriter(3); }
  CollectionWriter writer = OpenWriter();
  Add(writer, "/a", {1});
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(Kept(), (std::vector<uint64_t>{0, 1}));
  Append(writer, "/a", {2});
  ASSERT_TRUE(IsOk(writer.Commit()));
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_EQ(Kept(), (std::vector<uint64_t>{0, 1, 2, 3})) << "Close does not count";
  { OpenWriter(2); }
  EXPECT_EQ(Kept(), (std::vector<uint64_t>{0, 1, 2, 3}));
  { OpenWriter(1); }
  EXPECT_EQ(Kept(), (std::vector<uint64_t>{1, 2, 3}));
  { OpenWriter(0); }
  EXPECT_EQ(Kept(), (std::vector<uint64_t>{3}));
  { OpenWriter(9); }
  EXPECT_EQ(Kept(), (std::vector<uint64_t>{3})) << "what was given up comes back";
}

TEST_F(CollectionHistoryTest, CommitsWithoutContentPushNoneOut) {
  {
    CollectionWriter writer = OpenWriter(2);
    Add(writer, "/a", {1});
    Add(writer, "/empty", {});
    ASSERT_TRUE(IsOk(writer.EditAttributes("/")->SetVlmetalayer("t", {})));
    ASSERT_EQ(writer.Commit().value(), 1);
    Append(writer, "/a", {2});
    ASSERT_TRUE(IsOk(writer.Edit("/empty")->SetVlmetalayer("u", {})));
    ASSERT_TRUE(IsOk(writer.EditAttributes("/")->SetVlmetalayer("u", {})));
    ASSERT_EQ(writer.Commit().value(), 2);
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  const uint64_t closed = collection().Refresh()->number();
  ASSERT_GT(closed, 2);
  std::optional<CollectionSnapshot> between = collection().snapshot();
  CollectionWriter writer = OpenWriter();
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(IsOk(writer.Compact("/a")));
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  const std::vector<CommitInfo> expected = {
      {.number = 0},
      {.number = 1, .added = {"/a", "/empty"}, .attributes = {"/"}},
      {.number = 2, .changed = {"/a", "/empty"}, .attributes = {"/"}},
      {.number = closed + 10}};
  EXPECT_EQ(collection().History().value(), expected);
  EXPECT_EQ(IntsOf(collection().OpenCommit(1).value(), "/a"), (Ints{1}));
  EXPECT_EQ(IntsOf(collection().OpenCommit(2).value(), "/a"), (Ints{1, 2}));
  EXPECT_EQ(collection().OpenCommit(closed + 3)->number(), 2) << "has the same content";
  EXPECT_EQ(IntsOf(*between, "/a"), (Ints{1, 2})) << "a reader keeps what the history does not";
  between.reset();
  ASSERT_TRUE(IsOk(collection().Refresh()));
  Append(writer, "/a", {3});
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(Kept(), (std::vector<uint64_t>{1, 2, closed + 11}));
  // Files of commit 2 lie aside: of /a, /empty and the attributes. No copy between does.
  EXPECT_EQ(FilesAside(), 3);
  EXPECT_EQ(collection().OpenCommit(2)->OpenMember("/empty")->vlmetalayers().size(), 1);
}

TEST_F(CollectionHistoryTest, CompactedCopyThatIsEditedCountsAsAChange) {
  CollectionWriter writer = OpenWriter(5);
  Add(writer, "/a", {1});
  ASSERT_TRUE(IsOk(writer.Commit()));
  ASSERT_TRUE(IsOk(writer.Compact("/a")));
  Append(writer, "/a", {2});
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(collection().History()->back(),
            (CommitInfo{.number = 2, .added = {"/a"}, .removed = {"/a"}}));
  EXPECT_EQ(IntsOf(collection().OpenCommit(1).value(), "/a"), (Ints{1}));
  EXPECT_EQ(IntsOf(collection().OpenCommit(2).value(), "/a"), (Ints{1, 2}));
}

TEST_F(CollectionHistoryTest, RecoveryOfAHealthyCollectionMakesNoCommit) {
  {
    CollectionWriter writer = OpenWriter(5);
    Add(writer, "/a", {1});
    ASSERT_TRUE(IsOk(writer.Commit()));
    Append(writer, "/a", {2});
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  EXPECT_EQ(Collection::Recover(path_).value(), CollectionRecovery());
  ASSERT_TRUE(IsOk(collection().Refresh()));
  EXPECT_EQ(Kept(), (std::vector<uint64_t>{0, 1, 2}));
}

TEST_F(CollectionHistoryTest, CopiesHaveNoHistory) {
  CollectionWriter writer = OpenWriter(5);
  Add(writer, "/a", {1});
  ASSERT_TRUE(IsOk(writer.Commit()));
  ASSERT_TRUE(IsOk(writer.Close()));
  for (const std::string name : {"copy.b2d", "copy.b2z"}) {
    ASSERT_TRUE(IsOk(collection().OpenCommit(1)->CopyTo(dir_.Path(name))));
  }
  EXPECT_EQ(Collection::Open(dir_.Path("copy.b2d"))->History()->size(), 1);
  // Copies remember the number all the same, also by way of a packed one.
  ASSERT_TRUE(
      IsOk(Collection::Open(dir_.Path("copy.b2z"))->snapshot().CopyTo(dir_.Path("again.b2d"))));
  for (const std::string name : {"copy.b2d", "again.b2d"}) {
    Collection copy = Collection::Open(dir_.Path(name)).value();
    CollectionWriter copied = copy.OpenWriter().value();
    Append(copied, "/a", {2});
    ASSERT_TRUE(IsOk(copied.Commit()));
    EXPECT_EQ(copy.History()->size(), 2) << name;
  }
  EXPECT_TRUE(Fails(Collection::Open(dir_.Path("copy.b2z"))->History().status(),
                    absl::StatusCode::kFailedPrecondition, "has no commits"));
}

TEST_F(CollectionHistoryTest, IncrementBeginsAtAKeptCommit) {
  CollectionWriter writer = OpenWriter(5);
  Add(writer, "/a", {1});
  ASSERT_TRUE(IsOk(writer.Commit()));
  ASSERT_TRUE(IsOk(collection().Refresh()->CopyTo(dir_.Path("copy.b2d"))));
  Append(writer, "/a", {2, 3});
  ASSERT_TRUE(IsOk(writer.Commit()));
  const std::string increment = dir_.Path("new.b2z");
  ASSERT_TRUE(
      IsOk(collection().Refresh()->WriteIncrement(increment, collection().OpenCommit(1).value())));
  Collection copy = Collection::Open(dir_.Path("copy.b2d")).value();
  EXPECT_TRUE(copy.ApplyIncrement(Collection::Open(increment)->snapshot()).value());
  EXPECT_EQ(IntsOf(copy.Refresh().value(), "/a"), (Ints{1, 2, 3}));
}

TEST_F(CollectionHistoryTest, RecoveryGivesUpWhatItMayOverwrite) {
  CollectionWriter writer = OpenWriter(5);
  Add(writer, "/a", {1});
  Add(writer, "/b", {1});
  ASSERT_TRUE(IsOk(writer.Commit()));
  std::filesystem::copy_file(path_ + "/a.b2nd", dir_.Path("older"));
  Append(writer, "/a", {2});
  ASSERT_TRUE(IsOk(writer.Commit()));
  ASSERT_TRUE(IsOk(writer.Close()));
  collection_.clear();
  std::filesystem::rename(dir_.Path("older"), path_ + "/a.b2nd");
  EXPECT_EQ(Collection::Recover(path_)->adopted, (Names{"/a"}));
  collection_.emplace_back(Collection::Open(path_).value());
  const std::vector<uint64_t> kept = Kept();
  for (const uint64_t number : kept) {
    EXPECT_EQ(IntsOf(collection().OpenCommit(number).value(), "/a"), (Ints{1}));
  }
  writer = OpenWriter();
  Append(writer, "/a", {3});
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(Kept(), (std::vector<uint64_t>{kept[0], kept.back() + 1}))
      << "the number of kept commits is forgotten";
}

// A collection that many writers change, one after the other, each for few commits.
class Growth {
 public:
  Growth(Collection& collection, uint64_t keep, uint64_t seed)
      : collection_(collection), keep_(keep), dice_(seed) {}

  void RunWriter() {
    CollectionWriter writer = collection_.OpenWriter({.keep_commits = keep_}).value();
    for (uint64_t i = 1 + dice_.Below(2); i > 0; --i) {
      for (int edits = 0; edits < 3; ++edits) Edit(writer);
      busy_.clear();
      const absl::StatusOr<uint64_t> number = writer.Commit();
      ASSERT_TRUE(IsOk(number));
      states_[*number] = contents_;
    }
    if (dice_.Percent(60)) {
      ASSERT_TRUE(IsOk(writer.Close()));
    }
    // Close may take several commits, which change no content.
    const uint64_t newest = collection_.Refresh()->number();
    for (uint64_t number = states_.rbegin()->first; number <= newest; ++number) {
      states_[number] = contents_;
    }
  }

  // Opens all commits that are kept, and those between that changed no content.
  void Check() {
    std::vector<uint64_t> expected;
    for (const auto& [number, contents] : states_) {
      if (number == 0 || contents != states_[number - 1]) expected.push_back(number);
    }
    const auto dropped = std::ssize(expected) - static_cast<ptrdiff_t>(keep_) - 1;
    if (dropped > 0) expected.erase(expected.begin(), expected.begin() + dropped);
    const uint64_t newest = states_.rbegin()->first;
    if (expected.back() != newest) expected.push_back(newest);
    std::vector<uint64_t> listed;
    const std::vector<CommitInfo> history = collection_.History().value();
    for (const CommitInfo& commit : history) listed.push_back(commit.number);
    EXPECT_EQ(listed, expected);
    for (uint64_t number = expected[0]; number <= newest; ++number) {
      const absl::StatusOr<CollectionSnapshot> snapshot = collection_.OpenCommit(number);
      ASSERT_TRUE(IsOk(snapshot));
      EXPECT_EQ(snapshot->number(), *std::prev(std::ranges::upper_bound(expected, number)));
      Contents found;
      for (const std::string& name : snapshot->Members()) found[name] = IntsOf(*snapshot, name);
      EXPECT_TRUE(found == states_[number]) << "commit " << number;
    }
  }

 private:
  Ints Noise(size_t most) {
    Ints numbers(1 + dice_.Below(most));
    for (int32_t& number : numbers) number = static_cast<int32_t>(dice_.Below(UINT32_MAX));
    return numbers;
  }

  void Edit(CollectionWriter& writer) {
    const std::string name = absl::StrCat("/m", dice_.Below(6));
    if (!busy_.insert(name).second) return;
    const auto member = contents_.find(name);
    if (member == contents_.end()) {
      CreateOptions options;
      options.compression.typesize = 4;
      options.array = {.shape = {0}, .chunkshape = {1000}, .dtype = "<i4"};
      contents_[name] = Noise(2000);
      ASSERT_TRUE(IsOk(writer.Add(name, options)->AppendSlices(0, contents_[name])));
    } else if (dice_.Percent(10)) {
      contents_.erase(member);
      ASSERT_TRUE(IsOk(writer.Remove(name)));
    } else if (dice_.Percent(10)) {
      ASSERT_TRUE(IsOk(writer.Compact(name)));
    } else if (member->second.size() < 3000) {
      const Ints more = Noise(1000);
      ASSERT_TRUE(IsOk(writer.Edit(name)->AppendSlices(0, more)));
      member->second.insert(member->second.end(), more.begin(), more.end());
    } else {
      Ints noise = Noise(2000);
      std::ranges::copy(noise, member->second.begin());
      const int64_t start[] = {0};
      const int64_t shape[] = {std::ssize(noise)};
      ASSERT_TRUE(IsOk(writer.Edit(name)->WriteBox(start, shape, noise)));
    }
  }

  Collection& collection_;
  const uint64_t keep_;
  Dice dice_;
  Contents contents_;
  std::set<std::string> busy_;  // members of the commit under way
  std::map<uint64_t, Contents> states_ = {{0, {}}};
};

TEST_F(CollectionHistoryTest, AnyWritersKeepWhatTheyMustAndNoMore) {
  ForEachSeed(4, [&](uint64_t seed) {
    if (HasFailure()) return;
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::filesystem::remove_all(path_);
    collection_.clear();
    collection_.emplace_back(Collection::Create(path_).value());
    const uint64_t keep = 2 + seed % 12;
    Growth growth(collection(), keep, seed);
    int64_t early = 0;
    for (int i = 0; i < 120 && !HasFailure(); ++i) {
      growth.RunWriter();
      if (i % 5 == 0) growth.Check();
      // The ledger of a writer that has not closed may have reserved space.
      if (i <= 40) early = std::max(early, DiskSpace());
    }
    EXPECT_LT(DiskSpace(), 2 * early) << "space of commits that are not kept is not used again";
  });
}

TEST_F(CollectionHistoryTest, StoresAndOldReadersAreTold) {
  // A table with a history is of a newer version, which a Cairn without one refuses to write.
  { OpenWriter(1); }
  const CollectionSnapshot old = collection().OpenCommit(0).value();
  CollectionWriter writer = OpenWriter();
  for (int32_t i = 0; i < 6; ++i) {
    Add(writer, absl::StrCat("/m", i), {i});
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  EXPECT_EQ(Kept().size(), 2);
  EXPECT_TRUE(old.Members().empty());
  ASSERT_TRUE(IsOk(writer.Remove("/m0")));
  const CollectionSnapshot before = collection().OpenCommit(6).value();
  ASSERT_TRUE(IsOk(writer.Commit()));
  ASSERT_TRUE(IsOk(writer.Remove("/m1")));
  ASSERT_TRUE(IsOk(writer.Commit()));
  ASSERT_TRUE(IsOk(writer.Remove("/m2")));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(ContentsOf(before).size(), 6) << "a reader keeps what the history does not";
}

}  // namespace
}  // namespace cairn::test
