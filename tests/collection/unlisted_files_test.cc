// The writer of a collection does not look through a directory for each member in it.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "cairn/file_system.h"
#include "cairn/forwarding_file.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

// Counts how often the names of a directory are listed.
class CountedListings final : public ForwardingFileSystem {
 public:
  CountedListings(std::shared_ptr<FileSystem> base, std::shared_ptr<int64_t> count)
      : ForwardingFileSystem(std::move(base)), count_(std::move(count)) {}

  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
    ++*count_;
    return ForwardingFileSystem::List(path);
  }
  absl::StatusOr<std::vector<std::string>> ListSome(const std::string& path,
                                                    std::string_view prefix,
                                                    int64_t most) override {
    ++*count_;
    return ForwardingFileSystem::ListSome(path, prefix, most);
  }

 protected:
  std::shared_ptr<FileSystem> WrapDirectory(std::shared_ptr<FileSystem> directory,
                                            const std::string&) override {
    return std::make_shared<CountedListings>(std::move(directory), count_);
  }

 private:
  const std::shared_ptr<int64_t> count_;
};

class UnlistedFilesTest : public testing::Test {
 protected:
  static constexpr int kMembers = 5;

  static std::string NameOf(int member) { return absl::StrCat("/g/m", member); }
  void AddAll() {
    for (int member = 0; member < kMembers; ++member) {
      absl::StatusOr<MemberWriter> added =
          writer_->Add(NameOf(member), {.compression = {.typesize = 4}});
      ASSERT_TRUE(IsOk(added));
      ASSERT_TRUE(IsOk(added->Append(std::vector<int32_t>{member})));
    }
    ASSERT_TRUE(IsOk(writer_->Commit()));
  }
  void SetUp() override {
    CollectionOptions options;
    options.members.file_system = std::make_shared<CountedListings>(PosixFileSystem(), listings_);
    absl::StatusOr<Collection> made = Collection::Create(dir_.Path("c.b2d"), options);
    ASSERT_TRUE(IsOk(made));
    writer_ = made->OpenWriter();
    ASSERT_TRUE(IsOk(writer_));
    *listings_ = 0;
  }

  TempDir dir_;
  const std::shared_ptr<int64_t> listings_ = std::make_shared<int64_t>(0);
  absl::StatusOr<CollectionWriter> writer_ = absl::UnknownError("not opened");
};

TEST_F(UnlistedFilesTest, NewMembersNeedNoListing) {
  AddAll();
  EXPECT_EQ(*listings_, 0);
}

TEST_F(UnlistedFilesTest, EditedMembersNeedNoListing) {
  AddAll();
  *listings_ = 0;
  for (int member = 0; member < kMembers; ++member) {
    ASSERT_TRUE(IsOk(writer_->Edit(NameOf(member))->Append(std::vector<int32_t>{1})));
  }
  ASSERT_TRUE(IsOk(writer_->Commit()));
  EXPECT_EQ(*listings_, 0);
}

TEST_F(UnlistedFilesTest, CopiesNeedNoListing) {
  AddAll();
  *listings_ = 0;
  for (int member = 0; member < kMembers; ++member) {
    ASSERT_TRUE(IsOk(writer_->Copy(NameOf(member), absl::StrCat(NameOf(member), "x"))));
  }
  ASSERT_TRUE(IsOk(writer_->Commit()));
  EXPECT_EQ(*listings_, 0);
}

}  // namespace
}  // namespace cairn::test
