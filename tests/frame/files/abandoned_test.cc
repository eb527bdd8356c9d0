// Tests that the next writer removes what dead writers left next to a frame, and leaves what living
// ones make.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/child_process.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr char kDigits[] = ".0123456789abcdef.tmp";

CreateOptions SmallChunksIn(Layout layout, bool overwrite = false) {
  CreateOptions options = PlainCopies(64);
  options.layout = layout;
  options.overwrite = overwrite;
  return options;
}

class AbandonedTest : public testing::TestWithParam<Layout> {
 protected:
  void Make() {
    ASSERT_TRUE(IsOk(WriteFrame(path_, SmallChunksIn(GetParam()), MakeNoise(200, 1))));
  }
  // A process that dies while it makes a frame.
  void BuildAndDie(Layout layout) {
    ASSERT_EQ(ResultOfChild([&] {
                auto* const writer = new absl::StatusOr<Writer>(
                    Frame::BeginCreate(path_, SmallChunksIn(layout, true)));
                return (*writer)->Append(MakeNoise(300, 2)).ok() ? 0 : 1;
              }),
              0);
  }
  void OpenWriter() {
    auto frame = Frame::Open(path_);
    ASSERT_TRUE(IsOk(frame));
    EXPECT_TRUE(IsOk(frame->OpenWriter()));
  }
  void MakeSwapped() {
    ASSERT_TRUE(IsOk(WriteFrame(path_ + kDigits, SmallChunksIn(GetParam()), MakeNoise(99, 1))));
  }
  Names All() const { return NamesIn(dir_.path()); }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
};

TEST_P(AbandonedTest, NextWriterRemovesIt) {
  Make();
  for (const Layout layout : {Layout::kContiguous, Layout::kSparse}) {
    BuildAndDie(layout);
    ASSERT_EQ(All().size(), 2u);
    OpenWriter();
    EXPECT_EQ(All(), Names{"f"});
  }
}

TEST_P(AbandonedTest, NextBuildRemovesIt) {
  BuildAndDie(GetParam());
  ASSERT_EQ(All().size(), 1u);
  Make();
  EXPECT_EQ(All(), Names{"f"});
}

TEST_P(AbandonedTest, CompactRemovesIt) {
  Make();
  BuildAndDie(GetParam());
  ASSERT_TRUE(IsOk(Frame::Open(path_)->Compact()));
  EXPECT_EQ(All(), Names{"f"});
}

TEST_P(AbandonedTest, WriterThroughALinkRemovesItBesideTheFrame) {
  Make();
  BuildAndDie(GetParam());
  fs::create_directory(dir_.Path("d"));
  fs::create_symlink(path_, dir_.Path("d/link"));
  ASSERT_TRUE(IsOk(AppendTo(dir_.Path("d/link"), MakeNoise(10, 3))));
  EXPECT_EQ(All(), (Names{"d", "f"}));
}

TEST_P(AbandonedTest, OldFrameThatWasSwappedGoesToo) {
  Make();
  MakeSwapped();
  OpenWriter();
  EXPECT_EQ(All(), Names{"f"});
}

TEST_P(AbandonedTest, WhatALivingWriterMakesStays) {
  Make();
  for (const Layout layout : {Layout::kContiguous, Layout::kSparse}) {
    auto writer = Frame::BeginCreate(path_, SmallChunksIn(layout, true));
    ASSERT_TRUE(IsOk(writer));
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(300, 2))));
    // In another process, and in this one.
    EXPECT_EQ(ResultOfChild([&] { return AppendTo(path_, MakeNoise(10, 3)).ok() ? 0 : 1; }), 0);
    OpenWriter();
    EXPECT_EQ(All().size(), 2u);
    ASSERT_TRUE(IsOk(writer->Close()));
    EXPECT_EQ(DataOf(Frame::Open(path_)->snapshot()).value(), MakeNoise(300, 2));
    EXPECT_EQ(All(), Names{"f"});
  }
}

TEST_P(AbandonedTest, OtherNamesStay) {
  Make();
  for (const std::string name :
       {"f.0123456789abcde.tmp", "f.0123456789abcdef0.tmp", "f.0123456789abcdeF.tmp",
        "f.0123456789abcdeg.tmp", "f.0123456789abcdef", "f_0123456789abcdef.tmp",
        "g.0123456789abcdef.tmp", "f.tmp", "f.0123456789abcdef.tmp.bak",
        "ff.0123456789abcdef.tmp"}) {
    PutFileBytes(dir_.Path(name), MakeNoise(10, 1));
  }
  const Names before = All();
  OpenWriter();
  EXPECT_EQ(All(), before);
}

TEST_P(AbandonedTest, WhatNoWriterMadeStays) {
  Make();
  const std::string name = path_ + kDigits;
  const std::vector<std::function<void()>> others = {
      [&] { ASSERT_EQ(::mkfifo(name.c_str(), 0600), 0); },
      [&] {
        PutFileBytes(dir_.Path("target"), MakeNoise(10, 1));
        fs::create_symlink("target", name);
      },
      [&] {
        ASSERT_TRUE(
            IsOk(WriteFrame(dir_.Path("other"), SmallChunksIn(Layout::kSparse), MakeNoise(99, 1))));
        fs::create_symlink("other", name);
      },
      [&] {
        fs::create_directory(name);
        PutFileBytes(name + "/thesis.txt", MakeNoise(10, 1));
      },
  };
  for (size_t i = 0; i < others.size(); ++i) {
    SCOPED_TRACE(i);
    others[i]();
    const Names before = All();
    OpenWriter();
    EXPECT_EQ(All(), before);
    if (fs::is_directory(name) && fs::is_symlink(name)) {
      EXPECT_EQ(DataOf(Frame::Open(dir_.Path("other"))->snapshot()).value(), MakeNoise(99, 1));
    }
    fs::remove_all(name);
  }
}

TEST_P(AbandonedTest, DirectoryWithoutItsIndexGoes) {
  Make();
  fs::create_directory(path_ + kDigits);
  PutFileBytes(path_ + kDigits + "/00000000.chunk", MakeNoise(10, 1));
  OpenWriter();
  EXPECT_EQ(All(), Names{"f"});
}

// Calls a function once, right after something temporary was made.
class WatchedFiles final : public UnsyncedFileSystem {
 public:
  void AfterNext(std::function<void(const std::string&)> watch) { watch_ = std::move(watch); }

  absl::StatusOr<std::unique_ptr<File>> WrapFile(std::unique_ptr<File> file,
                                                 const std::string& path, FileMode mode) override {
    if (mode == FileMode::kCreateNew) Made(path);
    return UnsyncedFileSystem::WrapFile(std::move(file), path, mode);
  }
  absl::Status MakeDirectory(const std::string& path) override {
    const absl::Status status = UnsyncedFileSystem::MakeDirectory(path);
    Made(path);
    return status;
  }
  absl::Status MakeDirectoryFor(const std::string& path, const std::string& old) override {
    const absl::Status status = UnsyncedFileSystem::MakeDirectoryFor(path, old);
    Made(path);
    return status;
  }

 private:
  void Made(const std::string& path) {
    if (watch_ && path.ends_with(".tmp")) std::exchange(watch_, nullptr)(path);
  }

  std::function<void(const std::string&)> watch_;
};

// The moment between making and locking, in which it looks like what a dead writer left.
TEST_P(AbandonedTest, WriterWhoseFileWasTakenForItMakesAnother) {
  for (const Layout layout : {Layout::kContiguous, Layout::kSparse}) {
    Make();
    WatchedFiles files;
    int taken = 0;
    files.AfterNext([&](const std::string& made) {
      OpenWriter();
      taken += fs::exists(made) ? 0 : 1;
    });
    CreateOptions options = SmallChunksIn(layout, true);
    options.file_system = Unowned(&files);
    ASSERT_TRUE(IsOk(WriteFrame(path_, options, MakeNoise(300, 2))));
    EXPECT_EQ(taken, 1);
    EXPECT_EQ(DataOf(Frame::Open(path_)->snapshot()).value(), MakeNoise(300, 2));
    EXPECT_EQ(All(), Names{"f"});
    fs::remove_all(path_);
  }
}

TEST_P(AbandonedTest, OldFrameStaysUntilTheNewOneHasItsNameForGood) {
  Make();
  MakeSwapped();
  FaultFileSystem files;
  auto frame = Frame::Open(path_, {.file_system = Unowned(&files)});
  ASSERT_TRUE(IsOk(frame));
  files.StartLog();
  ASSERT_TRUE(IsOk(frame->OpenWriter()));
  const std::vector<Operation> log = files.TakeLog();
  const auto remove = std::ranges::find(log, Operation::Kind::kRemove, &Operation::kind);
  ASSERT_NE(remove, log.end());
  ASSERT_NE(remove, log.begin());
  EXPECT_EQ((remove - 1)->kind, Operation::Kind::kSyncDirectory);

  MakeSwapped();
  files.Inject({.after = remove - log.begin() - 1});
  ASSERT_TRUE(IsOk(frame->OpenWriter()));
  EXPECT_EQ(All().size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(Layouts, AbandonedTest,
                         testing::Values(Layout::kContiguous, Layout::kSparse),
                         [](const auto& info) {
                           return info.param == Layout::kSparse ? "Sparse" : "Contiguous";
                         });

}  // namespace
}  // namespace cairn::test
