#include "tests/support/simulated_disk.h"

#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "tests/support/status.h"

namespace cairn::test {
namespace {

constexpr size_t kSector = SimulatedInode::kSector;
constexpr size_t kDraws = 400;

// The bytes of a file, or "-" when it is not there.
std::string TextOf(SimulatedDisk& disk, const std::string& path = "f") {
  const auto file = disk.root()->Open(path, FileMode::kRead);
  if (!file.ok()) return "-";
  std::string text(static_cast<size_t>(*(*file)->Size()), ' ');
  EXPECT_TRUE((*file)->ReadAt(0, std::as_writable_bytes(std::span(text))).ok());
  return text;
}

class SimulatedDiskTest : public testing::Test {
 protected:
  std::unique_ptr<File> Open(const std::string& path, FileMode mode) {
    auto file = disk_.root()->Open(path, mode);
    EXPECT_TRUE(IsOk(file));
    return *std::move(file);
  }
  // A file that is on the disk for good.
  std::unique_ptr<File> DurableFile(std::string_view text) {
    auto file = Open("f", FileMode::kCreateNew);
    EXPECT_TRUE(IsOk(file->WriteAt(0, AsBytes(text))));
    EXPECT_TRUE(IsOk(file->Sync(SyncMode::kAll)));
    EXPECT_TRUE(disk_.root()->SyncDirectoryOf("f").ok());
    return file;
  }
  // Returns the contents that many power cuts leave.
  std::set<std::string> Outcomes(const std::string& path = "f") {
    std::set<std::string> outcomes;
    for (size_t i = 0; i < kDraws; ++i) outcomes.insert(TextOf(*disk_.PowerLoss(dice_), path));
    return outcomes;
  }

  SimulatedDisk disk_;
  Dice dice_{7};
};

using Outcome = std::set<std::string>;

TEST_F(SimulatedDiskTest, WhatIsSyncedStays) {
  const auto file = DurableFile("abc");
  EXPECT_EQ(Outcomes(), Outcome{"abc"});
}

TEST_F(SimulatedDiskTest, SyncOfTheFileDoesNotKeepItsName) {
  const auto file = Open("f", FileMode::kCreateNew);
  ASSERT_TRUE(IsOk(file->WriteAt(0, AsBytes("abc"))));
  ASSERT_TRUE(IsOk(file->Sync(SyncMode::kAll)));
  EXPECT_EQ(Outcomes(), (Outcome{"-", "abc"}));
}

TEST_F(SimulatedDiskTest, SyncOfTheDirectoryDoesNotKeepTheBytes) {
  const auto file = Open("f", FileMode::kCreateNew);
  ASSERT_TRUE(IsOk(file->WriteAt(0, AsBytes("abc"))));
  ASSERT_TRUE(disk_.root()->SyncDirectoryOf("f").ok());
  EXPECT_EQ(Outcomes(), (Outcome{"", "abc", std::string(3, '\0')}));
}

TEST_F(SimulatedDiskTest, SectorHoldsAnyOfItsVersions) {
  const auto file = DurableFile("abc");
  ASSERT_TRUE(IsOk(file->WriteAt(0, AsBytes("def"))));
  ASSERT_TRUE(IsOk(file->WriteAt(1, AsBytes("xy"))));
  EXPECT_EQ(Outcomes(), (Outcome{"abc", "def", "dxy"}));
}

TEST_F(SimulatedDiskTest, SectorsReachTheDiskInAnyOrder) {
  const std::string a(kSector, 'a');
  const std::string b(kSector, 'b');
  const auto file = DurableFile(a + a);
  ASSERT_TRUE(IsOk(file->WriteAt(0, AsBytes(b + b))));
  EXPECT_EQ(Outcomes(), (Outcome{a + a, a + b, b + a, b + b}));
}

TEST_F(SimulatedDiskTest, CutMayComeBackUntilAllIsSynced) {
  const auto file = DurableFile("abcdef");
  ASSERT_TRUE(IsOk(file->Truncate(3)));
  ASSERT_TRUE(IsOk(file->Sync(SyncMode::kData)));
  EXPECT_EQ(Outcomes(), (Outcome{"abc", "abcdef"}));
  ASSERT_TRUE(IsOk(file->Sync(SyncMode::kAll)));
  EXPECT_EQ(Outcomes(), Outcome{"abc"});
}

TEST_F(SimulatedDiskTest, FileThatGrewMayBeLongWithoutItsBytes) {
  const auto file = DurableFile("ab");
  ASSERT_TRUE(IsOk(file->WriteAt(2, AsBytes("cd"))));
  EXPECT_EQ(Outcomes(), (Outcome{"ab", "abcd", std::string("ab\0\0", 4)}));
}

TEST_F(SimulatedDiskTest, ReservedSpaceIsZeroAndAHoleToo) {
  const auto file = DurableFile("ab");
  ASSERT_TRUE(IsOk(file->Reserve(4)));
  ASSERT_TRUE(IsOk(file->PunchHole(0, 1)));
  EXPECT_EQ(TextOf(disk_), std::string("\0b\0\0", 4));
  ASSERT_TRUE(IsOk(file->Sync(SyncMode::kData)));
  EXPECT_EQ(Outcomes(), (Outcome{std::string("\0b\0\0", 4)}));
}

TEST_F(SimulatedDiskTest, FullDiskHasRoomWhereSpaceWasReservedUntilTheFileIsCut) {
  const auto file = DurableFile("ab");
  disk_.SetCapacity(3 * 4096);
  const auto other = Open("g", FileMode::kCreateNew);
  ASSERT_TRUE(IsOk(file->Allocate(2, 8190)));
  EXPECT_EQ(*file->Size(), 2);
  ASSERT_TRUE(IsOk(other->Reserve(4096)));
  EXPECT_EQ(disk_.Free(), 0);
  EXPECT_TRUE(absl::IsResourceExhausted(other->WriteAt(4096, AsBytes("c"))));
  EXPECT_TRUE(IsOk(file->WriteAt(4096, AsBytes("c"))));
  ASSERT_TRUE(IsOk(file->Truncate(2)));
  EXPECT_TRUE(IsOk(other->WriteAt(4096, AsBytes("c"))));
}

TEST_F(SimulatedDiskTest, MomentKeepsWhatWasDoneBeforeIt) {
  const auto file = DurableFile("a");
  for (const char* text : {"b", "c"}) ASSERT_TRUE(IsOk(file->WriteAt(0, AsBytes(text))));
  std::vector<std::string> found;
  for (const int64_t time : disk_.PendingTimes()) {
    found.push_back(TextOf(*disk_.PowerLossAt(time)));
  }
  EXPECT_EQ(found, (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(SimulatedDiskTest, NamesOfOneDirectoryChangeInOrder) {
  const auto file = DurableFile("old");
  {
    const auto other = Open("g", FileMode::kCreateNew);
    ASSERT_TRUE(IsOk(other->WriteAt(0, AsBytes("new"))));
    ASSERT_TRUE(IsOk(other->Sync(SyncMode::kAll)));
  }
  ASSERT_TRUE(disk_.root()->SyncDirectoryOf("g").ok());
  ASSERT_TRUE(disk_.root()->Exchange("f", "g").ok());
  ASSERT_TRUE(disk_.root()->Remove("g").ok());
  Outcome both;
  for (size_t i = 0; i < kDraws; ++i) {
    const auto after = disk_.PowerLoss(dice_);
    both.insert(TextOf(*after, "f") + " " + TextOf(*after, "g"));
  }
  EXPECT_EQ(both, (Outcome{"old new", "new old", "new -"}));
  ASSERT_TRUE(disk_.root()->SyncDirectoryOf("f").ok());
  EXPECT_EQ(Outcomes("g"), Outcome{"-"});
}

TEST_F(SimulatedDiskTest, DirectoryHoldsFilesOfItsOwn) {
  ASSERT_TRUE(disk_.root()->MakeDirectory("d").ok());
  const auto directory = disk_.root()->OpenDirectory("d");
  ASSERT_TRUE(IsOk(directory));
  ASSERT_TRUE((*directory)->Open("x", FileMode::kCreateNew).ok());
  EXPECT_EQ(TextOf(disk_, "d/x"), "");
  EXPECT_EQ(*disk_.root()->List("d"), std::vector<std::string>{"x"});
  EXPECT_TRUE(absl::IsInvalidArgument((*directory)->Open("y/z", FileMode::kRead).status()));
  EXPECT_FALSE(disk_.root()->RemoveDirectory("d").ok());
  ASSERT_TRUE((*directory)->Remove("x").ok());
  EXPECT_TRUE(disk_.root()->RemoveDirectory("d").ok());
}

TEST_F(SimulatedDiskTest, FailedSyncKeepsAnyPartAndTakesAllForWritten) {
  Outcome left;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SimulatedDisk disk(seed);
    {
      const auto file = disk.root()->Open("f", FileMode::kCreateNew);
      ASSERT_TRUE(disk.root()->SyncDirectoryOf("f").ok());
      ASSERT_TRUE((*file)->WriteAt(0, AsBytes("abc")).ok());
      disk.Judge([](const DiskOperation&) { return Fate{Fate::Kind::kFail}; });
      EXPECT_FALSE((*file)->Sync(SyncMode::kAll).ok());
      disk.Judge({});
      EXPECT_EQ(TextOf(disk), "abc");
      EXPECT_TRUE((*file)->Sync(SyncMode::kAll).ok());
    }
    const std::string on_disk = TextOf(*disk.PowerLoss(dice_));
    disk.Evict();
    EXPECT_EQ(TextOf(disk), on_disk);
    left.insert(on_disk);
  }
  EXPECT_EQ(left, (Outcome{"abc", std::string(3, '\0')}));
}

TEST_F(SimulatedDiskTest, WriteBringsItsFullSectorDownAsTheCacheHasIt) {
  const auto file = DurableFile("abc");
  ASSERT_TRUE(IsOk(file->WriteAt(0, AsBytes("xyz"))));
  disk_.Judge([](const DiskOperation&) { return Fate{Fate::Kind::kFail}; });
  EXPECT_FALSE(file->Sync(SyncMode::kAll).ok());
  disk_.Judge({});
  ASSERT_TRUE(IsOk(file->WriteAt(0, AsBytes("x"))));
  Outcome left = Outcomes();
  left.erase("abc");
  EXPECT_EQ(left, Outcome{"xyz"});
}

TEST_F(SimulatedDiskTest, ProcessDiesInTheMiddleOfAWrite) {
  const auto file = DurableFile("abc");
  disk_.Judge([](const DiskOperation& operation) {
    EXPECT_EQ(operation.kind, DiskOperation::Kind::kWrite);
    return Fate{.kind = Fate::Kind::kDie, .written = 2};
  });
  EXPECT_FALSE(file->WriteAt(0, AsBytes("xyz")).ok());
  EXPECT_TRUE(disk_.dead());
  EXPECT_FALSE(file->Truncate(0).ok());
  EXPECT_EQ(TextOf(disk_), "xyc");
  EXPECT_EQ(TextOf(*disk_.Clone()), "xyc");
}

TEST_F(SimulatedDiskTest, WriteMayComeAfterTheNext) {
  const auto file = DurableFile("abc");
  Fate::Kind kind = Fate::Kind::kDefer;
  disk_.Judge([&](const DiskOperation&) { return Fate{std::exchange(kind, Fate::Kind::kRun)}; });
  ASSERT_TRUE(IsOk(file->WriteAt(0, AsBytes("x"))));
  EXPECT_EQ(TextOf(disk_), "abc");
  ASSERT_TRUE(IsOk(file->WriteAt(0, AsBytes("yz"))));
  EXPECT_EQ(TextOf(disk_), "xzc");
}

TEST_F(SimulatedDiskTest, MapShowsWhatIsWrittenLater) {
  const auto file = DurableFile("abc");
  const auto map = file->Map(1, 2, 3);
  ASSERT_TRUE(IsOk(map));
  ASSERT_TRUE(IsOk(file->WriteAt(2, AsBytes("xyz"))));
  EXPECT_EQ(AsText((*map)->bytes().first(4)), "bxyz");
  EXPECT_FALSE(file->Map(3, 3, 0).ok());
}

TEST_F(SimulatedDiskTest, LocksBelongToOneFileAndEndWithIt) {
  const auto file = DurableFile("abc");
  auto other = Open("f", FileMode::kReadWrite);
  ASSERT_TRUE(IsOk(other->LockByte(9, LockMode::kShared)));
  EXPECT_TRUE(IsOk(file->LockByte(9, LockMode::kShared)));
  EXPECT_TRUE(absl::IsUnavailable(file->LockByte(9, LockMode::kExclusive)));
  EXPECT_TRUE(*file->IsLocked(5, 5));
  EXPECT_FALSE(*file->IsLocked(5, 4));
  other.reset();
  EXPECT_FALSE(*file->IsLocked(5, 5));
  EXPECT_TRUE(IsOk(file->LockByte(9, LockMode::kExclusive)));
}

}  // namespace
}  // namespace cairn::test
