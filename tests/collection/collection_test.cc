#include "cairn/collection.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "cairn/forwarding_file.h"
#include "cairn/frame.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

using Values = std::vector<int32_t>;

// An array of one dimension.
CreateOptions Numbers() {
  CreateOptions options;
  options.compression.typesize = 4;
  options.array = {.shape = {0}, .chunkshape = {1000}, .dtype = "<i4"};
  return options;
}

Values Range(int32_t begin, int32_t end) {
  Values values;
  for (int32_t value = begin; value < end; ++value) values.push_back(value);
  return values;
}

absl::StatusOr<Values> ReadAll(const CollectionSnapshot& snapshot, const std::string& name) {
  const absl::StatusOr<Snapshot> member = snapshot.OpenMember(name);
  if (!member.ok()) return member.status();
  Values values(static_cast<size_t>(member->info().nitems));
  const absl::Status read = member->ReadItems(0, values);
  if (!read.ok()) return read;
  return values;
}

// Files of the operating system that count syncs.
class SyncedFile final : public ForwardingFile {
 public:
  SyncedFile(std::unique_ptr<File> base, std::atomic<int>& syncs)
      : ForwardingFile(std::move(base)), syncs_(syncs) {}
  absl::Status Sync(SyncMode mode) override {
    ++syncs_;
    return ForwardingFile::Sync(mode);
  }

 private:
  std::atomic<int>& syncs_;
};

class SyncedFiles final : public ForwardingFileSystem {
 public:
  SyncedFiles() : ForwardingFileSystem(PosixFileSystem()) {}
  std::atomic<int> syncs = 0;

 protected:
  absl::StatusOr<std::unique_ptr<File>> WrapFile(std::unique_ptr<File> file, const std::string&,
                                                 FileMode) override {
    return std::make_unique<SyncedFile>(std::move(file), syncs);
  }
};

// Values that do not compress.
Values Noise(size_t size, uint32_t seed) {
  Values noise(size);
  for (int32_t& value : noise) value = static_cast<int32_t>(seed = seed * 1664525 + 1013904223);
  return noise;
}

class CollectionTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(IsOk(Collection::Create(path_))); }

  static void AddNumbers(CollectionWriter& writer, const std::string& name, const Values& values) {
    absl::StatusOr<MemberWriter> member = writer.Add(name, Numbers());
    ASSERT_TRUE(IsOk(member));
    ASSERT_TRUE(IsOk(member->AppendSlices(0, values)));
  }
  static void AppendNumbers(CollectionWriter& writer, const std::string& name,
                            const Values& values) {
    absl::StatusOr<MemberWriter> member = writer.Edit(name);
    ASSERT_TRUE(IsOk(member));
    ASSERT_TRUE(IsOk(member->AppendSlices(0, values)));
  }
  static void ExpectValues(const CollectionSnapshot& snapshot, const std::string& name,
                           const Values& expected) {
    const absl::StatusOr<Values> values = ReadAll(snapshot, name);
    ASSERT_TRUE(IsOk(values)) << name;
    EXPECT_EQ(*values, expected) << name;
  }
  Collection Opened() { return Collection::Open(path_).value(); }

  TempDir dir_;
  const std::string path_ = dir_.Path("c.b2d");
};

TEST_F(CollectionTest, NewCollectionHasNoMembers) {
  const Collection collection = Opened();
  EXPECT_EQ(collection.snapshot().number(), 0u);
  EXPECT_EQ(collection.snapshot().Members(), std::vector<std::string>());
}

TEST_F(CollectionTest, CommitShowsAllMembers) {
  Collection collection = Opened();
  CollectionWriter writer = collection.OpenWriter().value();
  AddNumbers(writer, "/g/a", Range(0, 10));
  AddNumbers(writer, "/b", Range(10, 2500));
  EXPECT_EQ(collection.Refresh()->Members(), std::vector<std::string>()) << "nothing is committed";
  EXPECT_EQ(writer.Commit().value(), 1u);
  const CollectionSnapshot snapshot = collection.Refresh().value();
  EXPECT_EQ(snapshot.number(), 1u);
  EXPECT_EQ(snapshot.Members(), (std::vector<std::string>{"/b", "/g/a"}));
  EXPECT_EQ(snapshot.Members("/g/"), std::vector<std::string>{"/g/a"});
  ExpectValues(snapshot, "/g/a", Range(0, 10));
  ExpectValues(snapshot, "/b", Range(10, 2500));
}

TEST_F(CollectionTest, SnapshotStaysAtItsCommit) {
  Collection collection = Opened();
  CollectionWriter writer = collection.OpenWriter().value();
  AddNumbers(writer, "/a", {});
  AddNumbers(writer, "/b", {});
  ASSERT_TRUE(IsOk(writer.Commit()));
  std::vector<CollectionSnapshot> snapshots;
  for (int32_t i = 0; i < 40; ++i) {
    snapshots.push_back(collection.Refresh().value());
    AppendNumbers(writer, "/a", Range(i * 300, i * 300 + 300));
    AppendNumbers(writer, "/b", {i});
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  // Members are opened only now.
  for (int32_t i = 0; i < 40; ++i) {
    SCOPED_TRACE(i);
    ExpectValues(snapshots[static_cast<size_t>(i)], "/a", Range(0, i * 300));
    ExpectValues(snapshots[static_cast<size_t>(i)], "/b", Range(0, i));
  }
}

TEST_F(CollectionTest, SnapshotKeepsWhatLaterCheckpointsReplace) {
  Collection collection = Opened();
  CollectionWriter writer = collection.OpenWriter().value();
  AddNumbers(writer, "/a", Noise(4000, 99));
  ASSERT_TRUE(IsOk(writer.Commit()));
  const CollectionSnapshot first = collection.Refresh().value();
  for (int32_t i = 1; i < 30; ++i) {
    absl::StatusOr<MemberWriter> member = writer.Edit("/a");
    ASSERT_TRUE(IsOk(member));
    // Each commit replaces all chunks.
    ASSERT_TRUE(IsOk(member->WriteItems(0, Noise(4000, static_cast<uint32_t>(i)))));
    ASSERT_TRUE(IsOk(writer.Commit()));
    if (i % 5 != 0) continue;
    ASSERT_TRUE(IsOk(writer.Close()));
    writer = collection.OpenWriter().value();
  }
  ExpectValues(first, "/a", Noise(4000, 99));
}

TEST_F(CollectionTest, RollbackDropsEditsAndNewMembers) {
  Collection collection = Opened();
  CollectionWriter writer = collection.OpenWriter().value();
  AddNumbers(writer, "/a", {1});
  ASSERT_TRUE(IsOk(writer.Commit()));
  AppendNumbers(writer, "/a", {2});
  AddNumbers(writer, "/b", {3});
  ASSERT_TRUE(IsOk(writer.Remove("/a")));
  writer.Rollback();
  AppendNumbers(writer, "/a", {4});
  EXPECT_EQ(writer.Commit().value(), 2u);
  const CollectionSnapshot snapshot = collection.Refresh().value();
  EXPECT_EQ(snapshot.Members(), std::vector<std::string>{"/a"});
  ExpectValues(snapshot, "/a", {1, 4});
}

TEST_F(CollectionTest, DroppedMembersLeaveNoFiles) {
  Collection collection = Opened();
  CollectionWriter writer = collection.OpenWriter().value();
  AddNumbers(writer, "/new/group/a", {1});
  writer.Rollback();
  EXPECT_FALSE(std::filesystem::exists(path_ + "/new"));
  AddNumbers(writer, "/other/a", {1});
  ASSERT_TRUE(IsOk(writer.Remove("/other/a")));
  EXPECT_FALSE(std::filesystem::exists(path_ + "/other"));
}

TEST_F(CollectionTest, FilesThatADeadWriterLeftAsideAreRemoved) {
  std::filesystem::create_directories(path_ + "/g/h");
  std::ofstream(path_ + "/g/h/.cairn-0123456789abcdef") << "x";
  std::filesystem::create_directory_symlink(path_, path_ + "/loop");
  const CollectionWriter writer = Opened().OpenWriter().value();
  EXPECT_FALSE(std::filesystem::exists(path_ + "/g"));
}

TEST_F(CollectionTest, WriterKnowsThatAnotherOneWaits) {
  CollectionWriter writer = Opened().OpenWriter().value();
  EXPECT_FALSE(writer.HasWaiters().value());
  std::thread other(
      [this] { EXPECT_TRUE(IsOk(Opened().OpenWriter({.wait = std::chrono::minutes(1)}))); });
  while (!writer.HasWaiters().value()) std::this_thread::yield();
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_TRUE(Fails(writer.HasWaiters(), absl::StatusCode::kFailedPrecondition, "closed"));
  other.join();
}

TEST_F(CollectionTest, CommitOfNothingIsNone) {
  Collection collection = Opened();
  CollectionWriter writer = collection.OpenWriter().value();
  EXPECT_EQ(writer.Commit().value(), 0u);
  AddNumbers(writer, "/a", {1});
  ASSERT_TRUE(IsOk(writer.Commit()));
  ASSERT_TRUE(IsOk(writer.Edit("/a")));
  EXPECT_EQ(writer.Commit().value(), 1u);
}

TEST_F(CollectionTest, RemovedMemberStaysForOlderSnapshots) {
  Collection collection = Opened();
  CollectionWriter writer = collection.OpenWriter().value();
  AddNumbers(writer, "/g/a", {1});
  ASSERT_TRUE(IsOk(writer.Commit()));
  {
    const CollectionSnapshot before = collection.Refresh().value();
    ASSERT_TRUE(IsOk(writer.Remove("/g/a")));
    AddNumbers(writer, "/g/a", {2});
    ASSERT_TRUE(IsOk(writer.Commit()));
    const CollectionSnapshot between = collection.Refresh().value();
    ASSERT_TRUE(IsOk(writer.Remove("/g/a")));
    ASSERT_TRUE(IsOk(writer.Commit()));
    ExpectValues(before, "/g/a", {1});
    ExpectValues(between, "/g/a", {2});
    const CollectionSnapshot after = collection.Refresh().value();
    EXPECT_FALSE(after.HasMember("/g/a"));
    EXPECT_TRUE(Fails(after.OpenMember("/g/a"), absl::StatusCode::kNotFound, "no member"));
  }
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_FALSE(std::filesystem::exists(path_ + "/g")) << "a group without members is gone";
  size_t files = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(path_)) {
    files += file.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files, 1u) << "nothing lies aside";
}

TEST_F(CollectionTest, CloseLeavesCheckpointsThatHoldEverything) {
  Collection collection = Opened();
  {
    CollectionWriter writer = collection.OpenWriter().value();
    AddNumbers(writer, "/a", Range(0, 10));
    ASSERT_TRUE(IsOk(writer.Commit()));
    AppendNumbers(writer, "/a", Range(10, 20));
    ASSERT_TRUE(IsOk(writer.Close()));
    EXPECT_TRUE(Fails(writer.Commit(), absl::StatusCode::kFailedPrecondition, "closed"));
  }
  for (const char* const name : {"/a.b2nd", "/embed.b2e"}) {
    const Frame frame = Frame::Open(path_ + name).value();
    EXPECT_EQ(frame.snapshot().info().journal_size, 0) << name;
  }
  ExpectValues(collection.Refresh().value(), "/a", Range(0, 20));
}

TEST_F(CollectionTest, WriterThatFollowsContinues) {
  Collection collection = Opened();
  Values expected;
  for (int32_t i = 0; i < 12; ++i) {
    SCOPED_TRACE(i);
    CollectionWriter writer = collection.OpenWriter().value();
    if (i == 0) {
      AddNumbers(writer, "/a", {});
      ASSERT_TRUE(IsOk(writer.Commit()));
    }
    for (int32_t j = 0; j < 3; ++j) {
      AppendNumbers(writer, "/a", {10 * i + j});
      expected.push_back(10 * i + j);
      ASSERT_TRUE(IsOk(writer.Commit()));
    }
    AppendNumbers(writer, "/a", {-1});
    if (i % 3 == 0) {
      writer.Rollback();
      ASSERT_TRUE(IsOk(writer.Close()));
    }
    ExpectValues(collection.Refresh().value(), "/a", expected);
  }
}

TEST_F(CollectionTest, MemberAloneIsAnOrdinaryFrame) {
  Collection collection = Opened();
  CollectionWriter writer = collection.OpenWriter().value();
  AddNumbers(writer, "/a", Range(0, 10));
  ASSERT_TRUE(IsOk(writer.Commit()));
  AppendNumbers(writer, "/a", Range(10, 20));
  const auto nitems = [&] {
    return Frame::Open(path_ + "/a.b2nd").value().snapshot().info().nitems;
  };
  EXPECT_EQ(nitems(), 10) << "nothing that is staged";
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(nitems(), 20);
}

TEST_F(CollectionTest, LargeCommitsAreReadBack) {
  Collection collection = Opened();
  CollectionWriter writer = collection.OpenWriter().value();
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) {
    names.push_back(absl::StrFormat("/g%d/m%02d", i % 3, i));
    AddNumbers(writer, names.back(), {});
  }
  ASSERT_TRUE(IsOk(writer.Commit()));
  Values expected;
  for (int32_t i = 0; i < 8; ++i) {
    const Values noise = Noise(50000, static_cast<uint32_t>(i));
    expected.insert(expected.end(), noise.begin(), noise.end());
    for (const std::string& name : names) AppendNumbers(writer, name, noise);
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  const CollectionSnapshot snapshot = collection.Refresh().value();
  for (const std::string& name : names) ExpectValues(snapshot, name, expected);
  ASSERT_TRUE(IsOk(writer.Close()));
  const CollectionSnapshot closed = collection.Refresh().value();
  for (const std::string& name : names) ExpectValues(closed, name, expected);
}

TEST_F(CollectionTest, SmallEditsOfManyMembersTakeOneSync) {
  const auto files = std::make_shared<SyncedFiles>();
  Collection collection = Collection::Open(path_, {.members = {.file_system = files}}).value();
  CollectionWriter writer = collection.OpenWriter().value();
  std::vector<std::string> names;
  for (int i = 0; i < 10; ++i) {
    names.push_back(absl::StrFormat("/m%d", i));
    AddNumbers(writer, names.back(), {});
  }
  ASSERT_TRUE(IsOk(writer.Commit()));
  const auto syncs_of_commit = [&](const Values& values) {
    for (const std::string& name : names) AppendNumbers(writer, name, values);
    const int before = files->syncs;  // opening a member may sync it
    EXPECT_TRUE(IsOk(writer.Commit()));
    return files->syncs - before;
  };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(syncs_of_commit(Noise(1000, 7)), 1) << i;
  EXPECT_EQ(syncs_of_commit(Noise(50000, 8)), 11) << "large parts are synced before";
  EXPECT_EQ(syncs_of_commit(Noise(10, 9)), 1);
}

TEST_F(CollectionTest, ManyMembersDoNotStayOpen) {
  Collection collection = Opened();
  CollectionWriter writer = collection.OpenWriter().value();
  constexpr int kMembers = 300;
  const auto name_of = [](int i) { return absl::StrFormat("/g%d/m%03d", i % 7, i); };
  for (int i = 0; i < kMembers; ++i) AddNumbers(writer, name_of(i), {});
  ASSERT_TRUE(IsOk(writer.Commit()));
  const auto open_files = [] {
    const std::filesystem::directory_iterator files("/proc/self/fd");
    return std::distance(begin(files), end(files));
  };
  const auto before = open_files();
  for (int i = 0; i < kMembers; ++i) {
    AppendNumbers(writer, name_of(i), {i});
    if (i % 10 == 9) {
      ASSERT_TRUE(IsOk(writer.Commit()));
    }
  }
  EXPECT_LT(open_files(), before + 600);
  ASSERT_TRUE(IsOk(writer.Close()));
  const CollectionSnapshot snapshot = collection.Refresh().value();
  for (int i = 0; i < kMembers; ++i) {
    const Snapshot member = snapshot.OpenMember(name_of(i)).value();
    EXPECT_EQ(member.info().nitems, 1) << i;
    EXPECT_EQ(member.info().journal_size, 0) << i;
  }
}

TEST_F(CollectionTest, OnlyOneWriterIsOpen) {
  Collection collection = Opened();
  const CollectionWriter writer = collection.OpenWriter().value();
  EXPECT_TRUE(Fails(collection.OpenWriter().status(), absl::StatusCode::kUnavailable, "writer"));
}

TEST_F(CollectionTest, NamesAreChecked) {
  Collection collection = Opened();
  CollectionWriter writer = collection.OpenWriter().value();
  const auto fails = [&](const std::string& name, std::string_view why) {
    return Fails(writer.Add(name, Numbers()), absl::StatusCode::kInvalidArgument, why);
  };
  EXPECT_TRUE(fails("a", "does not begin with a slash"));
  EXPECT_TRUE(fails("", "does not begin with a slash"));
  EXPECT_TRUE(fails("/", "has an empty part"));
  EXPECT_TRUE(fails("/a//b", "has an empty part"));
  EXPECT_TRUE(fails("/a/", "has an empty part"));
  EXPECT_TRUE(fails("/../a", "begins with a dot"));
  EXPECT_TRUE(fails("/.cairn/a", "begins with a dot"));
  EXPECT_TRUE(fails("/a.b2nd/b", "ends like a file of Blosc2"));
  EXPECT_TRUE(fails("/a\\b", "has a backslash"));
  EXPECT_TRUE(fails(std::string("/a\0b", 4), "has a control character"));
  EXPECT_TRUE(fails("/" + std::string(250, 'a'), "more than 249 bytes"));
  AddNumbers(writer, "/a b/ä", {1});
  ASSERT_TRUE(IsOk(writer.Commit()));
  ExpectValues(collection.Refresh().value(), "/a b/ä", {1});
}

TEST_F(CollectionTest, MembersAreAddedAndEditedOnce) {
  Collection collection = Opened();
  CollectionWriter writer = collection.OpenWriter().value();
  AddNumbers(writer, "/a", {1});
  EXPECT_TRUE(Fails(writer.Add("/a", Numbers()), absl::StatusCode::kAlreadyExists, "/a"));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_TRUE(Fails(writer.Add("/a", Numbers()), absl::StatusCode::kAlreadyExists, "/a"));
  EXPECT_TRUE(Fails(writer.Edit("/b"), absl::StatusCode::kNotFound, "/b"));
  EXPECT_TRUE(Fails(writer.Remove("/b"), absl::StatusCode::kNotFound, "/b"));
  ASSERT_TRUE(IsOk(writer.Remove("/a")));
  EXPECT_TRUE(Fails(writer.Edit("/a"), absl::StatusCode::kNotFound, "/a"));
}

TEST_F(CollectionTest, MissingAndForeignFilesAreTold) {
  Collection collection = Opened();
  {
    CollectionWriter writer = collection.OpenWriter().value();
    for (const char* const name : {"/a", "/b", "/c"}) AddNumbers(writer, name, {1, 2, 3});
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  std::filesystem::remove(path_ + "/a.b2nd");
  std::filesystem::copy_file(path_ + "/c.b2nd", path_ + "/b.b2nd",
                             std::filesystem::copy_options::overwrite_existing);
  const CollectionSnapshot snapshot = collection.Refresh().value();
  EXPECT_TRUE(IsDamage(snapshot.OpenMember("/a"), "a.b2nd: member: the file is missing"));
  EXPECT_TRUE(IsDamage(snapshot.OpenMember("/b"), "outside the collection"));
  ExpectValues(snapshot, "/c", {1, 2, 3});
  CollectionWriter writer = collection.OpenWriter().value();
  EXPECT_TRUE(IsDamage(writer.Edit("/b"), "outside the collection"));
}

TEST_F(CollectionTest, OlderMemberIsTold) {
  Collection collection = Opened();
  CollectionWriter writer = collection.OpenWriter().value();
  AddNumbers(writer, "/a", {1});
  ASSERT_TRUE(IsOk(writer.Close()));
  std::filesystem::copy_file(path_ + "/a.b2nd", dir_.Path("backup"));
  writer = collection.OpenWriter().value();
  AppendNumbers(writer, "/a", {2});
  ASSERT_TRUE(IsOk(writer.Close()));
  std::filesystem::copy_file(dir_.Path("backup"), path_ + "/a.b2nd",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(IsDamage(collection.Refresh()->OpenMember("/a"), "restored outside"));
}

TEST_F(CollectionTest, OtherDirectoriesAreRefused) {
  EXPECT_TRUE(Fails(Collection::Open(dir_.Path("none")).status(), absl::StatusCode::kNotFound,
                    "embed.b2e"));
  EXPECT_TRUE(
      Fails(Collection::Create(path_).status(), absl::StatusCode::kAlreadyExists, "embed.b2e"));
  std::filesystem::create_directory(dir_.Path("empty"));
  EXPECT_TRUE(Fails(Collection::Open(dir_.Path("empty")).status(), absl::StatusCode::kNotFound,
                    "embed.b2e"));
}

}  // namespace
}  // namespace cairn::test
