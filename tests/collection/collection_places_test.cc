// Collections beside what does not belong to them: other files, other collections, and members that
// another ledger lists.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

class CollectionPlacesTest : public testing::Test {
 protected:
  // Makes a collection with the member /g/a, which holds `value`.
  static Collection Make(const std::string& path, int32_t value) {
    Collection made = Collection::Create(path).value();
    CollectionWriter writer = made.OpenWriter().value();
    Append(writer.Add("/g/a", Bare()).value(), value);
    EXPECT_TRUE(IsOk(writer.Commit()));
    EXPECT_TRUE(IsOk(made.Refresh()));
    return made;
  }
  static CreateOptions Bare() { return {.compression = {.typesize = 4}}; }
  static void Append(MemberWriter member, int32_t value) {
    EXPECT_TRUE(IsOk(member.Append(std::vector<int32_t>{value})));
  }
  static int32_t ValueOf(const CollectionSnapshot& snapshot) {
    const absl::StatusOr<Snapshot> member = snapshot.OpenMember("/g/a");
    EXPECT_TRUE(IsOk(member));
    if (!member.ok()) return -1;
    std::vector<int32_t> values(static_cast<size_t>(member->info().nitems));
    EXPECT_TRUE(IsOk(member->ReadItems(0, values)));
    return values.back();
  }
  static void Touch(const std::string& path) { std::ofstream(path) << "x"; }

  TempDir dir_;
  const std::string path_ = dir_.Path("c.b2d");
};

TEST_F(CollectionPlacesTest, FilesThatNoCollectionNamedSoAreLeft) {
  Collection collection = Make(path_, 1);
  std::vector<std::string> own;
  for (const std::string name :
       {".cairn-", ".cairn-notes", "g/.cairn-0123456789abcdef0", "g/.cairn-0123456789ABCDEF",
        ".cairn-0123456789abcdeg", ".cairn-0123456789abcdef.txt",
        ".cairn-0123456789abcdef.0123456789abcdef"}) {
    own.push_back(path_ + "/" + name);
    Touch(own.back());
  }
  own.push_back(path_ + "/.cairn-0123456789abcdef");
  fs::create_directory(own.back());
  ASSERT_TRUE(IsOk(collection.OpenWriter()->Close()));
  for (const std::string& file : own) EXPECT_TRUE(fs::exists(file)) << file;
}

TEST_F(CollectionPlacesTest, FilesThatAKilledWriterLeftAreRemoved) {
  Collection collection = Make(path_, 1);
  const std::string own[] = {path_ + "/.cairn-0123456789abcdef",
                             path_ + "/g/.cairn-0123456789abcdef.fedcba9876543210.tmp"};
  for (const std::string& file : own) Touch(file);
  ASSERT_TRUE(IsOk(collection.OpenWriter()->Close()));
  for (const std::string& file : own) EXPECT_FALSE(fs::exists(file)) << file;
}

TEST_F(CollectionPlacesTest, NewMemberDoesNotHideAFileOfAnotherProgram) {
  Collection collection = Make(path_, 1);
  constexpr absl::StatusCode kRefused = absl::StatusCode::kAlreadyExists;
  const std::string what = ": another program has put a file there";
  for (const std::string suffix : {".b2nd", ".b2f", ".b2b"}) {
    const std::string file = path_ + "/g/n" + suffix;
    // A file, a frame, and the directory of a sparse frame.
    for (int kind = 0; kind < 3; ++kind) {
      if (kind == 0) {
        Touch(file);
      } else if (kind == 1) {
        ASSERT_TRUE(IsOk(Frame::Create(file, Bare())));
      } else {
        fs::create_directory(file);
      }
      CollectionWriter writer = collection.OpenWriter().value();
      EXPECT_TRUE(Fails(writer.Add("/g/n", Bare()), kRefused, file + what));
      EXPECT_TRUE(Fails(writer.Copy("/g/a", "/g/n"), kRefused, file + what));
      EXPECT_TRUE(Fails(writer.Move("/g/a", "/g/n"), kRefused, file + what));
      EXPECT_EQ(writer.Commit().value(), 1U) << "nothing is staged";
      EXPECT_TRUE(fs::exists(file));
      fs::remove(file);
    }
  }
  Touch(path_ + "/g/__vlmeta__.b2f");
  CollectionWriter writer = collection.OpenWriter().value();
  EXPECT_TRUE(Fails(writer.EditAttributes("/g"), kRefused, "__vlmeta__.b2f" + what));
  // Files of members are no others'.
  ASSERT_TRUE(IsOk(writer.Remove("/g/a")));
  Append(writer.Add("/g/a", Bare()).value(), 2);
  ASSERT_TRUE(IsOk(writer.Commit()));
  ASSERT_TRUE(IsOk(writer.Move("/g/a", "/g/c")));
  ASSERT_TRUE(IsOk(writer.Commit()));
  Append(writer.Add("/g/a", Bare()).value(), 3);
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(ValueOf(collection.Refresh().value()), 3);
}

TEST_F(CollectionPlacesTest, FilesOfACollectionInsideAreLeft) {
  Collection outer = Make(path_, 1);
  Collection inner = Make(path_ + "/inner", 2);
  CollectionWriter writer = inner.OpenWriter().value();
  ASSERT_TRUE(IsOk(writer.Remove("/g/a")));
  ASSERT_TRUE(IsOk(writer.Commit()));
  ASSERT_TRUE(IsOk(outer.OpenWriter()->Close()));
  EXPECT_EQ(ValueOf(inner.snapshot()), 2);
}

TEST_F(CollectionPlacesTest, MembersInsideAnotherCollectionAreRefused) {
  Collection outer = Make(path_, 1);
  const Collection inner = Make(path_ + "/inner", 2);
  CollectionWriter writer = outer.OpenWriter().value();
  for (const std::string name : {"/inner/x", "/inner/g/x", "/inner/new/x"}) {
    EXPECT_TRUE(Fails(writer.Add(name, Bare()), absl::StatusCode::kFailedPrecondition,
                      "c.b2d/inner: belongs to another collection"));
    EXPECT_TRUE(Fails(writer.Copy("/g/a", name), absl::StatusCode::kFailedPrecondition, "another"));
  }
  EXPECT_TRUE(
      Fails(writer.EditAttributes("/inner"), absl::StatusCode::kFailedPrecondition, "another"));
  EXPECT_FALSE(fs::exists(path_ + "/inner/new"));
  EXPECT_TRUE(IsOk(writer.Add("/innermost/x", Bare())));
}

TEST_F(CollectionPlacesTest, MembersWithoutALedgerAreRefused) {
  ASSERT_TRUE(IsOk(Make(path_, 1).OpenWriter()->Close()));
  fs::remove(path_ + "/embed.b2e");
  EXPECT_TRUE(Fails(Collection::Create(path_), absl::StatusCode::kFailedPrecondition,
                    "c.b2d: members but no ledger; restore embed.b2e"));
  EXPECT_FALSE(fs::exists(path_ + "/embed.b2e"));
}

TEST_F(CollectionPlacesTest, NewMembersWithoutALedgerAreRefused) {
  fs::create_directories(path_ + "/g");
  Touch(path_ + "/g/.cairn-0123456789abcdef");
  EXPECT_TRUE(Fails(Collection::Create(path_), absl::StatusCode::kFailedPrecondition, "no ledger"));
}

TEST_F(CollectionPlacesTest, GroupOfACollectionBecomesNoCollection) {
  const Collection collection = Make(path_, 1);
  EXPECT_TRUE(
      Fails(Collection::Create(path_ + "/g"), absl::StatusCode::kFailedPrecondition, "no ledger"));
}

TEST_F(CollectionPlacesTest, DirectoryWithoutFramesBecomesACollection) {
  fs::create_directories(path_ + "/notes/more");
  Touch(path_ + "/notes/a.txt");
  fs::create_directory_symlink(path_, path_ + "/loop");
  const Collection inner = Make(path_ + "/inner", 2);
  EXPECT_TRUE(IsOk(Collection::Create(path_)));
}

TEST_F(CollectionPlacesTest, CollectionThatIsThereAlreadyIsToldAsSuch) {
  const Collection collection = Make(path_, 1);
  EXPECT_TRUE(Fails(Collection::Create(path_), absl::StatusCode::kAlreadyExists, "embed.b2e"));
}

TEST_F(CollectionPlacesTest, CollectionThatWasReplacedIsNotShown) {
  Collection old = Make(path_, 1);
  fs::remove_all(path_);
  EXPECT_TRUE(Fails(old.Refresh(), absl::StatusCode::kFailedPrecondition, "ledger was removed"));
  const Collection made_anew = Make(path_, 2);
  EXPECT_TRUE(
      Fails(old.Refresh(), absl::StatusCode::kFailedPrecondition, "c.b2d: is another collection"));
}

TEST_F(CollectionPlacesTest, CollectionThatWasReplacedIsNotWritten) {
  Collection old = Make(path_, 1);
  fs::remove_all(path_);
  Collection made_anew = Make(path_, 2);
  EXPECT_TRUE(
      Fails(old.OpenWriter(), absl::StatusCode::kFailedPrecondition, "is another collection"));
}

TEST_F(CollectionPlacesTest, WriterStopsIfItsCollectionWasReplaced) {
  Collection old = Make(path_, 1);
  CollectionWriter idle = old.OpenWriter().value();
  fs::remove_all(path_);
  const Collection made_anew = Make(path_, 2);
  constexpr auto kCode = absl::StatusCode::kFailedPrecondition;
  EXPECT_TRUE(Fails(idle.Edit("/g/a"), kCode, "is another collection"));
  EXPECT_TRUE(Fails(idle.Add("/b", Bare()), kCode, "is another collection"));
  EXPECT_TRUE(Fails(idle.Commit(), kCode, "is another collection"));
  EXPECT_EQ(ValueOf(made_anew.snapshot()), 2);
}

TEST_F(CollectionPlacesTest, StagedEditsDoNotReachACollectionMadeAnew) {
  Collection old = Make(path_, 1);
  CollectionWriter writer = old.OpenWriter().value();
  Append(writer.Edit("/g/a").value(), 10);
  Append(writer.Add("/b", Bare()).value(), 11);
  fs::remove_all(path_);
  Collection made_anew = Make(path_, 2);
  EXPECT_TRUE(Fails(writer.Commit(), absl::StatusCode::kFailedPrecondition, "another"));
  EXPECT_TRUE(Fails(writer.Close(), absl::StatusCode::kFailedPrecondition, "another"));
  EXPECT_EQ(ValueOf(made_anew.Refresh().value()), 2);
  EXPECT_TRUE(IsOk(made_anew.OpenWriter()->Close()));
}

// Copies a collection file by file while a commit comes in between.
class TornCollectionCopyTest : public CollectionPlacesTest {
 protected:
  void SetUp() override {
    Collection collection = Make(path_, 1);
    CollectionWriter writer = collection.OpenWriter().value();
    Append(writer.Add("/b", Bare()).value(), 1);
    ASSERT_TRUE(IsOk(writer.Commit()));
    ASSERT_TRUE(IsOk(writer.Close()));
    fs::create_directory(copy_);
    fs::copy_file(path_ + "/embed.b2e", copy_ + "/embed.b2e");
    fs::copy_file(path_ + "/b.b2f", copy_ + "/b.b2f");
    writer = collection.OpenWriter().value();
    Append(writer.Edit("/g/a").value(), 2);
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  Collection Copied() {
    fs::copy(path_ + "/g", copy_ + "/g", fs::copy_options::recursive);
    return Collection::Open(copy_).value();
  }

  const std::string copy_ = dir_.Path("copy.b2d");
};

TEST_F(TornCollectionCopyTest, ShowsTheListedStates) { EXPECT_EQ(ValueOf(Copied().snapshot()), 1); }

TEST_F(TornCollectionCopyTest, DoesNotWriteUponMoreThanTheLedgerLists) {
  Collection copied = Copied();
  CollectionWriter writer = copied.OpenWriter().value();
  EXPECT_TRUE(Fails(writer.Edit("/g/a"), absl::StatusCode::kDataLoss,
                    "g/a.b2f: member: is ahead of the ledger"));
  Append(writer.Edit("/b").value(), 3);
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(ValueOf(copied.Refresh().value()), 1);
}

TEST_F(TornCollectionCopyTest, DoesNotWriteUponALaterCheckpoint) {
  Collection original = Collection::Open(path_).value();
  ASSERT_TRUE(IsOk(original.OpenWriter()->Close()));
  Collection copied = Copied();
  EXPECT_TRUE(
      Fails(copied.OpenWriter()->Edit("/g/a"), absl::StatusCode::kDataLoss, "ahead of the ledger"));
}

TEST_F(TornCollectionCopyTest, VerifyTellsWhatIsAhead) {
  const VerifyReport report = Copied().snapshot().Verify().value();
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].section, "/g/a");
  EXPECT_NE(report.findings[0].reason.find("ahead of the ledger"), std::string::npos);
}

TEST_F(TornCollectionCopyTest, VerifyOfAnOlderStateTakesNoCommitForAhead) {
  Collection collection = Collection::Open(path_).value();
  CollectionWriter writer = collection.OpenWriter().value();
  Append(writer.Edit("/g/a").value(), 3);
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_TRUE(collection.snapshot().Verify()->ok());
}

}  // namespace
}  // namespace cairn::test
