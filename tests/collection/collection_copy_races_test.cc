// Copies of collections next to other copies, and after copies that were killed.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "cairn/forwarding_file.h"
#include "tests/collection/ints.h"
#include "tests/support/fork.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

// Calls `visit` before each change of names, and after it.
class WatchedFiles final : public ForwardingFileSystem {
 public:
  explicit WatchedFiles(std::function<void()> visit, std::shared_ptr<FileSystem> base = nullptr)
      : ForwardingFileSystem(base == nullptr ? PosixFileSystem() : std::move(base)),
        visit_(std::move(visit)) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    if (mode != FileMode::kCreateNew) return ForwardingFileSystem::Open(path, mode);
    return Watch([&] { return ForwardingFileSystem::Open(path, mode); });
  }
  absl::StatusOr<std::unique_ptr<File>> CreateFor(const std::string& path,
                                                  const std::string& old) override {
    return Watch([&] { return ForwardingFileSystem::CreateFor(path, old); });
  }
  absl::Status Rename(const std::string& from, const std::string& to, bool replace) override {
    return Watch([&] { return ForwardingFileSystem::Rename(from, to, replace); });
  }
  absl::Status Remove(const std::string& path) override {
    return Watch([&] { return ForwardingFileSystem::Remove(path); });
  }
  absl::Status MakeDirectory(const std::string& path) override {
    return Watch([&] { return ForwardingFileSystem::MakeDirectory(path); });
  }
  absl::Status RemoveDirectory(const std::string& path) override {
    return Watch([&] { return ForwardingFileSystem::RemoveDirectory(path); });
  }

 private:
  template <typename Change>
  auto Watch(Change change) -> decltype(change()) {
    visit_();
    auto result = change();
    visit_();
    return result;
  }
  std::shared_ptr<FileSystem> WrapDirectory(std::shared_ptr<FileSystem> directory,
                                            const std::string& /*path*/) override {
    return std::make_shared<WatchedFiles>(visit_, std::move(directory));
  }

  const std::function<void()> visit_;
};

// Makes copies to a directory that is not there, or to one that is empty.
class CollectionCopyRacesTest : public testing::TestWithParam<bool> {
 protected:
  CollectionCopyRacesTest() {
    auto writer = Collection::Create(path_)->OpenWriter();
    CreateOptions options;
    options.compression.typesize = 4;
    options.array = {.shape = {0}, .chunkshape = {4}, .dtype = "<i4"};
    EXPECT_TRUE(IsOk(writer->Add("/a", options)->AppendSlices(0, a_)));
    EXPECT_TRUE(IsOk(writer->Add("/g/b", options)->AppendSlices(0, Ints{7})));
    EXPECT_TRUE(IsOk(writer->Close()));
  }

  absl::Status Copy(std::function<void()> visit = [] {}) const {
    CollectionOptions options;
    options.members.file_system = std::make_shared<WatchedFiles>(std::move(visit));
    return Collection::Open(path_, options)->snapshot().CopyTo(copy_);
  }
  void Begin() const {
    fs::remove_all(copies_);
    fs::create_directory(copies_);
    if (GetParam()) fs::create_directory(copy_);
  }
  // The copy is complete and sound, and nothing else is there.
  void ExpectCopy(const std::string& when) const {
    SCOPED_TRACE(when);
    auto copy = Collection::Open(copy_);
    ASSERT_TRUE(IsOk(copy));
    EXPECT_EQ(IntsOf(copy->snapshot(), "/a"), a_);
    EXPECT_EQ(IntsOf(copy->snapshot(), "/g/b"), Ints{7});
    const auto report = copy->snapshot().Verify();
    ASSERT_TRUE(IsOk(report));
    EXPECT_TRUE(report->findings.empty());
    ASSERT_TRUE(IsOk(copy->OpenWriter()));  // removes what it does not need
    EXPECT_EQ(CountIn(copies_), 1);
    EXPECT_EQ(CountIn(copy_), 3);
  }
  static int64_t CountIn(const std::string& directory) {
    return std::distance(fs::directory_iterator(directory), fs::directory_iterator());
  }

  TempDir dir_;
  const Ints a_ = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::string path_ = dir_.Path("c.b2d");
  const std::string copies_ = dir_.Path("copies");
  const std::string copy_ = copies_ + "/copy.b2d";
};

// The second copy begins, and ends, between any two changes of the first one.
TEST_P(CollectionCopyRacesTest, OneOfTwoCopiesStandsAndTheOtherLeavesIt) {
  bool is_done = false;
  for (int64_t at = 1; !is_done; ++at) {
    Begin();
    int64_t visits = 0;
    absl::Status second = absl::AlreadyExistsError("the first one was done");
    const absl::Status first = Copy([&] {
      if (++visits == at) second = Copy();
    });
    is_done = visits < at;
    const std::string when = "change " + std::to_string(at);
    EXPECT_NE(first.ok(), second.ok()) << when << ": " << first << ", " << second;
    const absl::Status& loser = first.ok() ? second : first;
    EXPECT_EQ(loser.code(), absl::StatusCode::kAlreadyExists) << when << ": " << loser;
    ExpectCopy(when);
  }
}

TEST_P(CollectionCopyRacesTest, NextCopyRemovesWhatAKilledOneLeft) {
  constexpr int kKilled = 3;
  int ended = kKilled;
  for (int64_t at = 1; ended == kKilled; ++at) {
    Begin();
    const pid_t child = Fork();
    if (child == 0) {
      int64_t visits = 0;
      const absl::Status copied = Copy([&] {
        if (++visits == at) ::_exit(kKilled);
      });
      ::_exit(copied.ok() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ended = WEXITSTATUS(status);
    ASSERT_TRUE(ended == kKilled || ended == 0);
    const bool is_complete = fs::exists(copy_ + "/embed.b2e");
    const absl::Status next = Copy();
    const std::string when = "killed at change " + std::to_string(at);
    EXPECT_EQ(next.code(), is_complete ? absl::StatusCode::kAlreadyExists : absl::StatusCode::kOk)
        << when << ": " << next;
    ExpectCopy(when);
  }
}

TEST_P(CollectionCopyRacesTest, WhatOthersHavePutThereStays) {
  Begin();
  fs::create_directories(copy_ + "/g");
  for (const char* const name : {"/notes.txt", "/g/b.b2nd"}) std::ofstream(copy_ + name) << "mine";
  EXPECT_TRUE(Fails(Copy(), absl::StatusCode::kAlreadyExists, "not empty"));
  EXPECT_EQ(CountIn(copy_), 2);
  EXPECT_EQ(fs::file_size(copy_ + "/g/b.b2nd"), 4U);
  fs::remove_all(copy_);
  std::ofstream(copy_) << "mine";
  EXPECT_TRUE(Fails(Copy(), absl::StatusCode::kAlreadyExists, "copy.b2d"));
  EXPECT_EQ(CountIn(copies_), 1);
}

TEST_P(CollectionCopyRacesTest, CopyThatFailsLeavesWhatWasThere) {
  Begin();
  fs::remove(path_ + "/g/b.b2nd");
  EXPECT_TRUE(IsDamage(Copy(), "b.b2nd: member: the file is missing"));
  EXPECT_EQ(CountIn(copies_), GetParam() ? 1 : 0);
  EXPECT_EQ(fs::exists(copy_), GetParam());
  if (GetParam()) {
    EXPECT_EQ(CountIn(copy_), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Places, CollectionCopyRacesTest, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& place) {
                           return place.param ? "Empty" : "Missing";
                         });

}  // namespace
}  // namespace cairn::test
