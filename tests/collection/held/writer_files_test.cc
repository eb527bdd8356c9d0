// Commits list no directories, whatever the number of members in them, and make no more syncs than
// they need.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "cairn/file_system.h"
#include "cairn/forwarding_file.h"
#include "tests/support/no_threads.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

struct Calls {
  int64_t listings = 0;
  int64_t directory_syncs = 0;
  int64_t file_syncs = 0;
};

class CountedFile final : public ForwardingFile {
 public:
  CountedFile(std::unique_ptr<File> base, std::shared_ptr<Calls> calls)
      : ForwardingFile(std::move(base)), calls_(std::move(calls)) {}

  absl::Status Sync(SyncMode mode) override {
    ++calls_->file_syncs;
    return ForwardingFile::Sync(mode);
  }

 private:
  const std::shared_ptr<Calls> calls_;
};

// Counts calls for directories, and syncs.
class CountedFiles final : public ForwardingFileSystem {
 public:
  CountedFiles(std::shared_ptr<FileSystem> base, std::shared_ptr<Calls> calls)
      : ForwardingFileSystem(std::move(base)), calls_(std::move(calls)) {}

  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
    ++calls_->listings;
    return ForwardingFileSystem::List(path);
  }
  absl::StatusOr<std::vector<std::string>> ListSome(const std::string& path,
                                                    std::string_view prefix,
                                                    int64_t most) override {
    ++calls_->listings;
    return ForwardingFileSystem::ListSome(path, prefix, most);
  }
  absl::Status SyncDirectoryOf(const std::string& path) override {
    ++calls_->directory_syncs;
    return ForwardingFileSystem::SyncDirectoryOf(path);
  }

 protected:
  absl::StatusOr<std::unique_ptr<File>> WrapFile(std::unique_ptr<File> file, const std::string&,
                                                 FileMode) override {
    return std::make_unique<CountedFile>(std::move(file), calls_);
  }
  std::shared_ptr<FileSystem> WrapDirectory(std::shared_ptr<FileSystem> directory,
                                            const std::string&) override {
    return std::make_shared<CountedFiles>(std::move(directory), calls_);
  }

 private:
  const std::shared_ptr<Calls> calls_;
};

class WriterFilesTest : public testing::Test {
 protected:
  static constexpr int kMembers = 5;

  WriterFilesTest() {
    CollectionOptions options;
    options.members.file_system = std::make_shared<CountedFiles>(PosixFileSystem(), calls_);
    EXPECT_TRUE(IsOk(Collection::Create(path_, options)));
    collection_.emplace(Collection::Open(path_, options).value());
  }

  static std::string NameOf(int member) { return absl::StrCat("/g/m", member); }
  CollectionWriter OpenWriter() { return collection_->OpenWriter().value(); }
  static void Add(CollectionWriter& writer, const std::string& name) {
    absl::StatusOr<MemberWriter> added = writer.Add(name, {.compression = {.typesize = 4}});
    ASSERT_TRUE(IsOk(added));
    ASSERT_TRUE(IsOk(added->Append(std::vector<int32_t>{1})));
  }
  static void Edit(CollectionWriter& writer, const std::string& name) {
    ASSERT_TRUE(IsOk(writer.Edit(name)->Append(std::vector<int32_t>{2})));
  }
  // Makes a collection of members that no journal follows.
  void Fill() {
    CollectionWriter writer = OpenWriter();
    for (int member = 0; member < kMembers; ++member) Add(writer, NameOf(member));
    ASSERT_TRUE(IsOk(writer.Close()));
  }

  const NoThreads no_threads_;  // calls are counted in one thread
  TempDir dir_;
  const std::string path_ = dir_.Path("c.b2d");
  const std::shared_ptr<Calls> calls_ = std::make_shared<Calls>();
  std::optional<Collection> collection_;
};

TEST_F(WriterFilesTest, NewMembersNeedNoListing) {
  CollectionWriter writer = OpenWriter();
  *calls_ = {};
  for (int member = 0; member < kMembers; ++member) Add(writer, NameOf(member));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(calls_->listings, 0);
}

TEST_F(WriterFilesTest, EditedMembersNeedNoListing) {
  Fill();
  CollectionWriter writer = OpenWriter();
  *calls_ = {};
  for (int member = 0; member < kMembers; ++member) Edit(writer, NameOf(member));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(calls_->listings, 0);
}

TEST_F(WriterFilesTest, CopiesNeedNoListing) {
  Fill();
  CollectionWriter writer = OpenWriter();
  *calls_ = {};
  for (int member = 0; member < kMembers; ++member) {
    ASSERT_TRUE(IsOk(writer.Copy(NameOf(member), absl::StrCat(NameOf(member), "x"))));
  }
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(calls_->listings, 0);
}

TEST_F(WriterFilesTest, CommitOfNewMembersSyncsEachDirectoryOnce) {
  CollectionWriter writer = OpenWriter();
  for (int member = 0; member < kMembers; ++member) {
    Add(writer, NameOf(member));
    Add(writer, absl::StrCat("/h", NameOf(member)));
  }
  *calls_ = {};
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(calls_->directory_syncs, 2);
  EXPECT_EQ(calls_->file_syncs, 2 * kMembers + 1);  // and the ledger
}

TEST_F(WriterFilesTest, CommitAfterCloseSyncsEachMemberOnce) {
  Fill();
  CollectionWriter writer = OpenWriter();
  *calls_ = {};
  for (int member = 0; member < kMembers; ++member) Edit(writer, NameOf(member));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(calls_->directory_syncs, 0);
  EXPECT_EQ(calls_->file_syncs, kMembers + 1);
}

TEST_F(WriterFilesTest, CommitOfAWriterOfItsOwnTakesEightSyncs) {
  Fill();
  const auto change = [this] {
    CollectionWriter writer = OpenWriter();
    Edit(writer, NameOf(0));
    EXPECT_TRUE(IsOk(writer.Commit()));
  };
  change();
  *calls_ = {};
  change();
  // Opening: the ledger and its name, the member that the commit before changed, and a checkpoint
  // of the ledger, which takes two. Editing: the member, and its receipt. The commit.
  EXPECT_EQ(calls_->directory_syncs, 1);
  EXPECT_EQ(calls_->file_syncs, 7);
}

}  // namespace
}  // namespace cairn::test
