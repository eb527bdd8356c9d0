// A frame that was opened by a relative path stays the same one when the process goes elsewhere.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "engine/base/bytes.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

CreateOptions PlainCopiesIn(Layout layout) {
  CreateOptions options = PlainCopies(64);
  options.layout = layout;
  return options;
}

// Two directories, `here` and `there`, each with a frame "f"; the process is in `here`.
class WorkingDirectoryTest : public testing::TestWithParam<Layout> {
 protected:
  void SetUp() override {
    for (const std::string& directory : {here_, there_}) {
      fs::create_directory(directory);
      ASSERT_TRUE(IsOk(WriteFrame(directory + "/f", PlainCopiesIn(GetParam()),
                                  MakeNoise(200, directory == here_ ? 1 : 2))));
    }
    fs::current_path(here_);
  }
  void TearDown() override { fs::current_path(before_); }

  static Buffer Content(const std::string& path) {
    const auto frame = Frame::Open(path);
    EXPECT_TRUE(IsOk(frame));
    return frame.ok() ? DataOf(frame->snapshot()).value() : Buffer();
  }
  void ExpectThereIsAsBefore() const {
    EXPECT_EQ(NamesIn(there_), std::vector<std::string>{"f"});
    EXPECT_EQ(Content(there_ + "/f"), MakeNoise(200, 2));
  }

  const fs::path before_ = fs::current_path();
  const TempDir dir_;
  const std::string here_ = dir_.Path("here");
  const std::string there_ = dir_.Path("there");
};

TEST_P(WorkingDirectoryTest, RefreshLooksAtTheFrameThatWasOpened) {
  auto frame = Frame::Open("f");
  ASSERT_TRUE(IsOk(frame));
  fs::current_path(there_);
  ASSERT_TRUE(IsOk(AppendTo(here_ + "/f", MakeNoise(10, 3))));
  const auto refreshed = frame->Refresh();
  ASSERT_TRUE(IsOk(refreshed));
  Buffer expected = MakeNoise(200, 1);
  const Buffer more = MakeNoise(10, 3);
  expected.insert(expected.end(), more.begin(), more.end());
  EXPECT_EQ(DataOf(*refreshed).value(), expected);
}

TEST_P(WorkingDirectoryTest, WriterWritesTheFrameThatWasOpened) {
  auto frame = Frame::Open("f");
  ASSERT_TRUE(IsOk(frame));
  fs::current_path(there_);
  auto writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->UpdateChunk(0, MakeNoise(64, 3))));
  fs::current_path(dir_.path());
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_NE(Content(here_ + "/f"), MakeNoise(200, 1));
  ExpectThereIsAsBefore();
}

TEST_P(WorkingDirectoryTest, CompactWritesTheFrameThatWasOpened) {
  auto frame = Frame::Open("f");
  ASSERT_TRUE(IsOk(frame));
  const FileIdentity there = *PosixFileSystem()->Identity(there_ + "/f");
  fs::current_path(there_);
  ASSERT_TRUE(IsOk(frame->Compact()));
  EXPECT_EQ(Content(here_ + "/f"), MakeNoise(200, 1));
  EXPECT_EQ(*PosixFileSystem()->Identity(there_ + "/f"), there);
  ExpectThereIsAsBefore();
}

TEST_P(WorkingDirectoryTest, FrameIsBuiltWhereItWasBegun) {
  auto writer = Frame::BeginCreate("new", PlainCopiesIn(GetParam()));
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(100, 4))));
  fs::current_path(there_);
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(Content(here_ + "/new"), MakeNoise(100, 4));
  ExpectThereIsAsBefore();
}

TEST_P(WorkingDirectoryTest, BuildThatIsDroppedElsewhereLeavesNothing) {
  {
    const auto writer = Frame::BeginCreate("new", PlainCopiesIn(GetParam()));
    ASSERT_TRUE(IsOk(writer));
    fs::current_path(there_);
  }
  EXPECT_EQ(NamesIn(here_), std::vector<std::string>{"f"});
  ExpectThereIsAsBefore();
}

TEST_P(WorkingDirectoryTest, FrameThatWasCreatedIsFoundAgain) {
  CreateOptions options = PlainCopiesIn(GetParam());
  options.overwrite = true;
  auto frame = Frame::Create("f", options);
  ASSERT_TRUE(IsOk(frame));
  fs::current_path(there_);
  auto writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(50, 5))));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(Content(here_ + "/f"), MakeNoise(50, 5));
  ExpectThereIsAsBefore();
}

TEST_P(WorkingDirectoryTest, LinkIsFollowedAtEachLook) {
  const std::string link = here_ + "/link";
  fs::create_symlink("f", link);
  auto frame = Frame::Open("link");
  ASSERT_TRUE(IsOk(frame));
  fs::remove(link);
  fs::create_symlink(there_ + "/f", link);
  const auto refreshed = frame->Refresh();
  ASSERT_TRUE(IsOk(refreshed));
  // A sparse frame is its opened directory.
  EXPECT_EQ(DataOf(*refreshed).value(), MakeNoise(200, GetParam() == Layout::kSparse ? 1 : 2));
}

TEST_P(WorkingDirectoryTest, MessagesNameTheAbsolutePath) {
  EXPECT_TRUE(Fails(Frame::Open("none").status(), absl::StatusCode::kNotFound,
                    here_ + "/none: cannot open: "));
  auto frame = Frame::Open("f");
  const auto writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  EXPECT_TRUE(Fails(frame->OpenWriter().status(), absl::StatusCode::kUnavailable, here_ + "/f"));
}

INSTANTIATE_TEST_SUITE_P(Layouts, WorkingDirectoryTest,
                         testing::Values(Layout::kContiguous, Layout::kSparse),
                         [](const auto& info) {
                           return info.param == Layout::kSparse ? "Sparse" : "Contiguous";
                         });

TEST(AbsolutePathTest, KeepsWhatIsAbsoluteAndLinks) {
  const TempDir dir;
  const fs::path before = fs::current_path();
  fs::current_path(dir.path());
  const std::shared_ptr<FileSystem> files = PosixFileSystem();
  EXPECT_EQ(*files->Absolute("/a/b"), "/a/b");
  const std::string here = fs::current_path();
  EXPECT_EQ(*files->Absolute("a/../b"), here + "/a/../b");
  fs::create_symlink("nowhere", "link");
  EXPECT_EQ(*files->Absolute("link"), here + "/link");
  fs::current_path("/");
  EXPECT_EQ(*files->Absolute("a"), "/a");
  fs::create_directory(dir.Path("gone"));
  fs::current_path(dir.Path("gone"));
  fs::remove(dir.Path("gone"));
  EXPECT_TRUE(Fails(files->Absolute("a"), absl::StatusCode::kNotFound,
                    "a: cannot find the working directory"));
  fs::current_path(before);
}

}  // namespace
}  // namespace cairn::test
