// Collections whose ledger and members do not agree.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "cairn/frame.h"
#include "tests/collection/ints.h"
#include "tests/support/bytes.h"
#include "tests/support/dice.h"
#include "tests/support/files.h"
#include "tests/support/no_threads.h"
#include "tests/support/search.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

void Append(CollectionWriter& writer, const std::string& name, const Ints& values) {
  ASSERT_TRUE(IsOk(writer.Edit(name)->Append(values)));
}

// Makes a collection of /a and /g/b, and commits twice. The writer dies, so the second commit is in
// journals.
void MakeAndDie(const std::string& path, const CollectionOptions& options = {}) {
  Collection made = Collection::Create(path, options).value();
  CreateOptions plain;
  plain.compression.typesize = 4;
  CollectionWriter writer = made.OpenWriter().value();
  EXPECT_TRUE(IsOk(writer.Add("/a", plain)->Append(Ints{1})));
  EXPECT_TRUE(IsOk(writer.Add("/g/b", plain)->Append(Ints{2})));
  EXPECT_TRUE(IsOk(writer.EditAttributes("/g")->SetVlmetalayer("unit", {})));
  EXPECT_TRUE(IsOk(writer.Commit()));
  Append(writer, "/a", {10});
  Append(writer, "/g/b", {20});
  EXPECT_TRUE(IsOk(writer.Commit()));
}

void CheckNewest(const CollectionSnapshot& found) {
  EXPECT_EQ(found.Members(), (Names{"/a", "/g/b"}));
  EXPECT_EQ(IntsOf(found, "/a"), (Ints{1, 10}));
  EXPECT_EQ(IntsOf(found, "/g/b"), (Ints{2, 20}));
  EXPECT_TRUE(found.OpenAttributes("/g")->HasVlmetalayer("unit"));
}

const CollectionRecovery kAllAdopted = {.ledger_lost = true,
                                        .adopted = {"/a", "/g/__vlmeta__", "/g/b"}};

// No test but those on a simulated disk cuts the power.
const CollectionOptions kUnsynced = {
    .members = {.file_system = std::make_shared<UnsyncedFileSystem>()}};

class CollectionRecoverTest : public testing::Test {
 protected:
  void SetUp() override { MakeAndDie(path_); }
  void CloseWell() const {
    ASSERT_TRUE(IsOk(Collection::Open(path_, kUnsynced)->OpenWriter()->Close()));
  }
  // Appends to both members, in one commit that is complete.
  void AppendToBoth(const Ints& values) const {
    CollectionWriter writer = Collection::Open(path_, kUnsynced)->OpenWriter().value();
    Append(writer, "/a", values);
    Append(writer, "/g/b", values);
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  absl::StatusOr<CollectionRecovery> Recover() const {
    absl::StatusOr<CollectionRecovery> done = Collection::Recover(path_, kUnsynced);
    if (done.ok()) std::ranges::sort(done->adopted);
    return done;
  }
  std::optional<std::string> FileWithEnd(const std::string& end) const {
    for (const auto& entry : fs::recursive_directory_iterator(path_)) {
      if (entry.path().string().ends_with(end)) return entry.path().string();
    }
    return std::nullopt;
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("c.b2d");
};

TEST_F(CollectionRecoverTest, LostLedgerIsMadeOfWhatMembersHold) {
  fs::remove(path_ + "/embed.b2e");
  EXPECT_TRUE(Fails(Collection::Create(path_), absl::StatusCode::kFailedPrecondition,
                    "recover the collection"));
  const auto done = Recover();
  ASSERT_TRUE(IsOk(done));
  EXPECT_EQ(*done, kAllAdopted);
  CheckNewest(Collection::Open(path_)->snapshot());
  EXPECT_TRUE(Collection::Open(path_)->snapshot().Verify()->ok());
  AppendToBoth({7});
  EXPECT_EQ(IntsOf(Collection::Open(path_)->snapshot(), "/a"), (Ints{1, 10, 7}));
}

TEST_F(CollectionRecoverTest, DamagedLedgerStaysBesideTheNewOne) {
  CloseWell();
  const std::string ledger = path_ + "/embed.b2e";
  for (uintmax_t left = 0; left < fs::file_size(ledger); left += 50) {
    SCOPED_TRACE(left);
    fs::resize_file(ledger, left);
    ASSERT_FALSE(Collection::Open(path_).ok());
    ASSERT_EQ(Recover().value_or(CollectionRecovery()), kAllAdopted);
    CheckNewest(Collection::Open(path_)->snapshot());
    const std::optional<std::string> damaged = FileWithEnd(".damaged");
    ASSERT_TRUE(damaged.has_value());
    EXPECT_EQ(fs::file_size(*damaged), left);
    fs::remove(*damaged);
  }
}

// Whatever byte is damaged, the ledger is as it was, or there is one that can be written again.
TEST_F(CollectionRecoverTest, LedgerWithAChangedByteIsMadeAgain) {
  CloseWell();
  const std::string whole = dir_.Path("whole.b2d");
  fs::copy(path_, whole, fs::copy_options::recursive);
  const auto size = static_cast<int64_t>(fs::file_size(path_ + "/embed.b2e"));
  int64_t made = 0;
  for (int64_t at = 0; at < size; at += 3 * test::kTryEach) {
    SCOPED_TRACE(at);
    fs::remove_all(path_);
    fs::copy(whole, path_, fs::copy_options::recursive);
    {
      std::fstream file(path_ + "/embed.b2e", std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(at);
      const char byte = static_cast<char>(file.get() ^ 1);
      file.seekp(at);
      file.put(byte);
    }
    const auto done = Recover();
    if (absl::IsFailedPrecondition(done.status())) continue;  // it looks like another program's
    ASSERT_TRUE(IsOk(done));
    made += done->ledger_lost ? 1 : 0;
    AppendToBoth({7});
    EXPECT_EQ(IntsOf(Collection::Open(path_)->snapshot(), "/a"), (Ints{1, 10, 7}));
  }
  EXPECT_GT(made, 0);
}

TEST_F(CollectionRecoverTest, CollectionInWhichNothingDiffersIsNotChanged) {
  CloseWell();
  const uint64_t number = Collection::Open(path_)->snapshot().number();
  EXPECT_EQ(Recover().value(), CollectionRecovery());
  EXPECT_EQ(Collection::Open(path_)->snapshot().number(), number);
  CheckNewest(Collection::Open(path_)->snapshot());
}

TEST_F(CollectionRecoverTest, MembersThatChangedOutsideAreListedAsTheyAre) {
  CloseWell();
  fs::copy_file(path_ + "/a.b2f", dir_.Path("older"));
  AppendToBoth({7});
  fs::copy_file(dir_.Path("older"), path_ + "/a.b2f", fs::copy_options::overwrite_existing);
  {
    Writer outside = Frame::Open(path_ + "/g/b.b2f")->OpenWriter().value();
    ASSERT_TRUE(IsOk(outside.Append(Ints{8})));
    ASSERT_TRUE(IsOk(outside.Commit()));
  }
  fs::remove(path_ + "/g/__vlmeta__.b2f");
  EXPECT_TRUE(IsDamage(Collection::Open(path_)->snapshot().OpenMember("/a"), ""));
  const auto done = Recover();
  ASSERT_TRUE(IsOk(done));
  EXPECT_EQ(*done, (CollectionRecovery{.adopted = {"/a", "/g/b"}, .missing = {"/g/__vlmeta__"}}));
  const CollectionSnapshot now = Collection::Open(path_)->snapshot();
  EXPECT_EQ(IntsOf(now, "/a"), (Ints{1, 10}));
  EXPECT_EQ(IntsOf(now, "/g/b"), (Ints{2, 20, 7, 8}));
  EXPECT_FALSE(now.HasMember("/g/__vlmeta__"));
  EXPECT_TRUE(now.Verify()->ok());
  AppendToBoth({9});
  EXPECT_EQ(IntsOf(Collection::Open(path_)->snapshot(), "/g/b"), (Ints{2, 20, 7, 8, 9}));
  fs::copy_file(dir_.Path("older"), path_ + "/new.b2f");
  EXPECT_EQ(Recover().value(), (CollectionRecovery{.adopted = {"/new"}}));
  EXPECT_EQ(IntsOf(Collection::Open(path_)->snapshot(), "/new"), (Ints{1, 10}));
}

TEST_F(CollectionRecoverTest, MetalayerThatAnotherProgramChangedIsTakenAsItIs) {
  {
    CollectionWriter writer = Collection::Open(path_)->OpenWriter().value();
    CreateOptions options;
    options.compression.typesize = 4;
    options.metalayers = {{.name = "unit", .content = std::vector<std::byte>(8, std::byte{75})}};
    EXPECT_TRUE(IsOk(writer.Add("/m", options)->Append(Ints{1, 2})));
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  Buffer file = FileBytes(path_ + "/m.b2f");
  const size_t at = AsText(file).find("KKKKKKKK");
  ASSERT_NE(at, std::string::npos);
  file[at] = std::byte{'L'};
  PutFileBytes(path_ + "/m.b2f", file);
  {
    const CollectionSnapshot state = Collection::Open(path_)->snapshot();
    EXPECT_TRUE(IsDamage(state.OpenMember("/m"), "metalayer unit"));
    EXPECT_TRUE(IsDamage(state.CopyTo(dir_.Path("copy.b2d")), "metalayer unit"));
    EXPECT_FALSE(state.Verify()->ok());
  }
  EXPECT_EQ(Recover().value(), (CollectionRecovery{.adopted = {"/m"}}));
  const CollectionSnapshot now = Collection::Open(path_)->snapshot();
  EXPECT_EQ(IntsOf(now, "/m"), (Ints{1, 2}));
  EXPECT_TRUE(now.Verify()->ok());
  EXPECT_EQ(Recover().value(), CollectionRecovery());
}

// The ledger has bytes of the last commits, which belong to the files that the writer had.
TEST_F(CollectionRecoverTest, FilesThatTookTheirPlaceGetNoBytesOfOthers) {
  const std::string a = path_ + "/a.b2f";
  const std::string b = path_ + "/g/b.b2f";
  const std::string spare = dir_.Path("spare");
  const std::string backup = dir_.Path("backup.b2d");
  ASSERT_TRUE(IsOk(Collection::Open(path_)->snapshot().CopyTo(backup)));
  for (const std::string how : {"swapped", "restored", "foreign"}) {
    SCOPED_TRACE(how);
    fs::remove_all(path_);
    MakeAndDie(path_);
    Ints of_a = {1, 10};
    if (how == "swapped") {
      fs::rename(a, spare);
      fs::rename(b, a);
      fs::rename(spare, b);
      of_a = {2, 20};
    } else if (how == "restored") {
      fs::copy_file(backup + "/a.b2f", a, fs::copy_options::overwrite_existing);
    } else {
      CreateOptions options;
      options.compression.typesize = 4;
      options.overwrite = true;
      Frame frame = Frame::Create(a, options).value();
      Writer writer = frame.OpenWriter().value();
      of_a = Ints(3, 3);
      ASSERT_TRUE(IsOk(writer.Append(of_a)));
      ASSERT_TRUE(IsOk(writer.Close()));
    }
    const auto bytes_of = [](const std::string& path) {
      std::ifstream file(path, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(file), {});
    };
    const std::string before = bytes_of(a);
    ASSERT_TRUE(IsOk(Collection::Open(path_)->OpenWriter()));
    EXPECT_TRUE(bytes_of(a) == before);
    ASSERT_TRUE(IsOk(Recover()));
    EXPECT_EQ(IntsOf(Collection::Open(path_)->snapshot(), "/a"), of_a);
    EXPECT_TRUE(Collection::Open(path_)->snapshot().Verify()->ok());
  }
}

TEST_F(CollectionRecoverTest, FilesThatCannotBeReadAreLeftAndTold) {
  for (const bool is_lost : {false, true}) {
    if (is_lost) fs::remove(path_ + "/embed.b2e");
    std::ofstream(path_ + "/a.b2f") << "no frame";
    const auto done = Recover();
    ASSERT_TRUE(IsOk(done));
    ASSERT_EQ(done->unreadable.size(), 1);
    EXPECT_TRUE(done->unreadable[0].starts_with("/a: ")) << done->unreadable[0];
    EXPECT_EQ(fs::file_size(path_ + "/a.b2f"), 8);
    const CollectionSnapshot now = Collection::Open(path_)->snapshot();
    EXPECT_EQ(now.HasMember("/a"), !is_lost);
    EXPECT_EQ(IntsOf(now, "/g/b"), (Ints{2, 20}));
  }
}

TEST_F(CollectionRecoverTest, LinksAndDirectoriesAreNoMembers) {
  CloseWell();
  fs::create_directory(path_ + "/d.b2nd");
  fs::create_symlink("a.b2f", path_ + "/l.b2f");
  const auto done = Recover();
  ASSERT_TRUE(IsOk(done));
  EXPECT_EQ(done->adopted, Names());
  ASSERT_EQ(done->unreadable.size(), 2);
  EXPECT_EQ(Collection::Open(path_)->snapshot().Members(), (Names{"/a", "/g/b"}));
}

// A new ledger without that member would leave it out for good.
TEST_F(CollectionRecoverTest, MemberThatAWriterHoldsKeepsALostLedgerLost) {
  CloseWell();
  Collection open = Collection::Open(path_).value();
  CollectionWriter writer = open.OpenWriter().value();
  Append(writer, "/a", {3});
  fs::remove(path_ + "/embed.b2e");
  EXPECT_TRUE(absl::IsUnavailable(Recover().status()));
  EXPECT_FALSE(fs::exists(path_ + "/embed.b2e"));
}

TEST_F(CollectionRecoverTest, FramesWhoseNamesOnlyTheLedgerKnewAreFound) {
  CloseWell();
  fs::remove(path_ + "/embed.b2e");
  fs::rename(path_ + "/g/b.b2f", path_ + "/g/.cairn-0123456789abcdef");
  const auto done = Recover();
  ASSERT_TRUE(IsOk(done));
  ASSERT_EQ(done->adopted.size(), 3);
  const std::string found = done->adopted[1];
  EXPECT_TRUE(found.starts_with("/found/")) << found;
  EXPECT_EQ(IntsOf(Collection::Open(path_)->snapshot(), found), (Ints{2, 20}));
}

TEST_F(CollectionRecoverTest, CollectionInUseIsRefused) {
  Collection open = Collection::Open(path_).value();
  {
    const CollectionWriter writer = open.OpenWriter().value();
    EXPECT_TRUE(absl::IsUnavailable(Recover().status()));
  }
  CloseWell();
  fs::remove(path_ + "/a.b2f");
  EXPECT_TRUE(Fails(Recover(), absl::StatusCode::kUnavailable, "is being read"));
}

TEST_F(CollectionRecoverTest, WhatIsNoCollectionIsRefused) {
  fs::create_directory(dir_.Path("empty"));
  EXPECT_TRUE(Fails(Collection::Recover(dir_.Path("empty")), absl::StatusCode::kNotFound,
                    "neither a ledger nor a member"));
  fs::create_directory(dir_.Path("theirs"));
  ASSERT_TRUE(IsOk(Frame::Create(dir_.Path("theirs/embed.b2e"))));
  EXPECT_TRUE(Fails(Collection::Recover(dir_.Path("theirs")), absl::StatusCode::kFailedPrecondition,
                    "no layer cairn.members"));
}

TEST(CollectionRecoverCrashTest, NamesOfFilesThatOthersPutThereAreDurable) {
  const NoThreads no_threads;  // for the disk
  for (const bool loses_ledger : {true, false}) {
    SimulatedDisk disk;
    CollectionOptions options;
    options.members.file_system = disk.root();
    MakeAndDie("c", options);
    ASSERT_TRUE(IsOk(Collection::Open("c", options)->OpenWriter()->Close()));
    if (loses_ledger) {
      ASSERT_TRUE(IsOk(disk.root()->Remove("c/embed.b2e")));
    }
    ASSERT_TRUE(IsOk(disk.root()->Rename("c/g/b.b2f", "c/g/n.b2f", /*replace=*/false)));
    ASSERT_TRUE(IsOk(Collection::Recover("c", options)));
    for (uint32_t seed = 0; seed < 20; ++seed) {
      Dice dice(seed);
      const std::unique_ptr<SimulatedDisk> left = disk.PowerLoss(dice);
      options.members.file_system = left->root();
      EXPECT_EQ(IntsOf(Collection::Open("c", options)->snapshot(), "/g/n"), (Ints{2, 20}));
    }
  }
}

// Whatever step of a recovery the process dies in, and whether the power goes with it, the next
// recovery finds all members.
TEST(CollectionRecoverCrashTest, RecoveryIsRepeatable) {
  const NoThreads no_threads;  // for the disk
  for (const bool loses_ledger : {true, false}) {
    bool is_done = false;
    for (int64_t after = 0; !is_done; ++after) {
      SCOPED_TRACE(testing::Message() << "dies after " << after << " operations");
      Dice dice(static_cast<uint32_t>(after));
      SimulatedDisk disk;
      CollectionOptions options;
      options.members.file_system = disk.root();
      MakeAndDie("c", options);
      ASSERT_TRUE(IsOk(Collection::Open("c", options)->OpenWriter()->Close()));
      ASSERT_TRUE(IsOk(disk.root()->Remove(loses_ledger ? "c/embed.b2e" : "c/g/__vlmeta__.b2f")));
      ASSERT_TRUE(IsOk(disk.root()->SyncDirectoryOf("c/embed.b2e")));
      ASSERT_TRUE(IsOk(disk.root()->SyncDirectoryOf("c/g/b.b2f")));
      disk.DieAt(disk.operations() + after, dice);
      is_done = Collection::Recover("c", options).ok();
      disk.Revive();
      for (const bool cut : {false, true}) {
        const std::unique_ptr<SimulatedDisk> left = cut ? disk.PowerLoss(dice) : disk.Clone();
        options.members.file_system = left->root();
        ASSERT_TRUE(IsOk(Collection::Recover("c", options)));
        const CollectionSnapshot now = Collection::Open("c", options)->snapshot();
        EXPECT_EQ(now.Members(), (Names{"/a", "/g/b"}));
        EXPECT_EQ(IntsOf(now, "/a"), (Ints{1, 10}));
        EXPECT_EQ(IntsOf(now, "/g/b"), (Ints{2, 20}));
        EXPECT_TRUE(now.Verify()->ok());
      }
    }
  }
}

}  // namespace
}  // namespace cairn::test
