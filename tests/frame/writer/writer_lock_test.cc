// Tests that there is one writer at a time, and that it starts from the newest state.
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "engine/base/bytes.h"
#include "engine/storage/lock_file.h"
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

class WriterLockTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), MakeNoise(100, 1))));
  }
  Frame Open() const {
    auto frame = Frame::Open(path_);
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }
  // The code of OpenWriter through another Frame.
  absl::StatusCode TryHere() const { return Open().OpenWriter().status().code(); }
  absl::StatusCode TryInChild() const {
    return static_cast<absl::StatusCode>(ResultOfChild([&] {
      auto frame = Frame::Open(path_);
      return static_cast<int>(frame.ok() ? frame->OpenWriter().status().code()
                                         : absl::StatusCode::kUnknown);
    }));
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
};

TEST_F(WriterLockTest, SecondWriterIsRefusedHereAndInAnotherProcess) {
  Frame frame = Open();
  const auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  EXPECT_TRUE(absl::IsUnavailable(frame.OpenWriter().status()));
  EXPECT_EQ(TryHere(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(TryInChild(), absl::StatusCode::kUnavailable);
}

TEST_F(WriterLockTest, WriterWaitsAsLongAsAskedAndStartsFromTheNewestState) {
  Frame frame = Open();
  std::optional<Writer> first = *frame.OpenWriter();
  const WriterOptions patient = {.wait = std::chrono::seconds(60)};
  EXPECT_TRUE(
      absl::IsUnavailable(Open().OpenWriter({.wait = std::chrono::milliseconds(20)}).status()));
  std::thread closer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(IsOk(first->Append(MakeNoise(10, 2))));
    EXPECT_TRUE(IsOk(first->Close()));
  });
  auto second = Open().OpenWriter(patient);
  closer.join();
  ASSERT_TRUE(IsOk(second));
  EXPECT_EQ(second->StagedSnapshot()->info().nbytes, 110);
}

TEST_F(WriterLockTest, WriterThatWaitsForEverDoes) {
  std::optional<Writer> first = *Open().OpenWriter();
  std::thread closer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    first.reset();
  });
  const auto second = Open().OpenWriter({.wait = std::chrono::milliseconds::max()});
  closer.join();
  EXPECT_TRUE(IsOk(second));
}

TEST_F(WriterLockTest, LockFileThatLeadsElsewhereIsLeftAlone) {
  const std::string victim = dir_.Path("victim");
  PutFileBytes(victim, AsBytes("somebody else's text"));
  std::filesystem::create_symlink(victim, path_ + ".b2lock");
  for (const bool make : {false, true}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(Open().OpenWriter({.make_lock_file = make}).status()));
  }
  EXPECT_EQ(FileBytes(victim), ToVector(AsBytes("somebody else's text")));
}

TEST_F(WriterLockTest, WriterOfANewFrameHoldsTheLockFileToo) {
  const std::string path = dir_.Path("g");
  PutFileBytes(path + ".b2lock", {});
  const auto is_held = [&] {
    const auto lock = storage::TakeLockFile(*PosixFileSystem(), path + ".b2lock", false, {});
    return absl::IsUnavailable(lock.status());
  };
  std::optional<Writer> writer = *Frame::BeginCreate(path, PlainCopies(64));
  EXPECT_FALSE(is_held());
  ASSERT_TRUE(IsOk(writer->Commit()));
  EXPECT_TRUE(is_held());
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_FALSE(is_held());
}

TEST_F(WriterLockTest, NewFrameThatFoundTheDiskFullCanBeCommittedBesideItsLockFile) {
  const std::string path = dir_.Path("g");
  PutFileBytes(path + ".b2lock", {});
  FaultFileSystem files;
  CreateOptions options = PlainCopies(64);
  options.file_system = Unowned(&files);
  Writer writer = *Frame::BeginCreate(path, options);
  ASSERT_TRUE(IsOk(writer.Append(MakeNoise(100, 1))));
  files.Inject({.after = 1});  // after the count in the lock file
  EXPECT_TRUE(absl::IsResourceExhausted(writer.Commit().status()));
  files.Heal();
  writer.Rollback();
  ASSERT_TRUE(IsOk(writer.Append(MakeNoise(100, 1))));
  EXPECT_TRUE(IsOk(writer.Commit()));
}

// A file that this user may read but not write.
class OthersFile final : public UnsyncedFileSystem {
 public:
  explicit OthersFile(std::string path) : path_(std::move(path)) {}
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    if (path == path_ && mode == FileMode::kReadWrite) return absl::PermissionDeniedError(path);
    return UnsyncedFileSystem::Open(path, mode);
  }

 private:
  const std::string path_;
};

TEST_F(WriterLockTest, ResumedWriterFollowsACheckpointOfAnotherBesideTheLockFile) {
  Frame frame = Open();
  auto first = frame.OpenWriter({.make_lock_file = true});
  ASSERT_TRUE(IsOk(first));
  ASSERT_TRUE(IsOk(first->Suspend()));
  auto second = Open().OpenWriter({.make_lock_file = true});
  ASSERT_TRUE(IsOk(second));
  ASSERT_TRUE(IsOk(second->Append(test::MakeItems(100))));
  ASSERT_TRUE(IsOk(second->Checkpoint()));
  ASSERT_TRUE(IsOk(second->Suspend()));
  EXPECT_TRUE(IsOk(first->Resume()));
  EXPECT_TRUE(IsOk(first->Append(test::MakeItems(100))));
  EXPECT_TRUE(IsOk(first->Commit()));
}

TEST_F(WriterLockTest, FrameOfAnotherUserIsNotReplacedWhileItIsWritten) {
  OthersFile files(path_);
  CreateOptions options = PlainCopies(64);
  options.overwrite = true;
  options.file_system = Unowned(&files);
  std::optional<Writer> writer = *Open().OpenWriter();
  EXPECT_TRUE(absl::IsUnavailable(Frame::BeginCreate(path_, options)->Close()));
  writer.reset();
  EXPECT_TRUE(IsOk(Frame::BeginCreate(path_, options)->Close()));
}

// Puts another file in the place of one as soon as that is opened for reading.
class RotatingFiles final : public UnsyncedFileSystem {
 public:
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    if (mode == FileMode::kRead && !next_.empty()) {
      std::filesystem::rename(path, path + ".1");
      std::filesystem::rename(std::exchange(next_, {}), path);
    }
    return UnsyncedFileSystem::Open(path, mode);
  }
  void RotateTo(const std::string& next) { next_ = next; }

 private:
  std::string next_;
};

TEST_F(WriterLockTest, FrameThatIsReplacedDespiteItsLockIsNotWritten) {
  const std::string next = dir_.Path("next");
  ASSERT_TRUE(IsOk(WriteFrame(next, PlainCopies(64), MakeNoise(20, 7))));
  const Buffer before = FileBytes(path_);
  RotatingFiles files;
  auto frame = Frame::Open(path_, {.file_system = Unowned(&files)});
  ASSERT_TRUE(IsOk(frame));
  files.RotateTo(next);
  EXPECT_TRUE(absl::IsFailedPrecondition(frame->OpenWriter().status()));
  EXPECT_EQ(FileBytes(path_ + ".1"), before);
}

TEST_F(WriterLockTest, FrameThatAnotherFollowsIsNotWritten) {
  Buffer both = FileBytes(path_);
  const Buffer one = both;
  both.insert(both.end(), one.begin(), one.end());
  PutFileBytes(path_, both);
  EXPECT_TRUE(absl::IsFailedPrecondition(Open().OpenWriter().status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(Recover(path_).status()));
  EXPECT_EQ(FileBytes(path_), both);
}

TEST_F(WriterLockTest, LinkToAFrameMayHaveALinkToItsLockFile) {
  const std::string link = dir_.Path("link");
  std::filesystem::create_symlink(path_, link);
  std::filesystem::create_symlink(path_ + ".b2lock", link + ".b2lock");
  PutFileBytes(path_ + ".b2lock", {});
  EXPECT_TRUE(IsOk(Frame::Open(link)->OpenWriter()));
  EXPECT_EQ(FileBytes(path_ + ".b2lock").size(), 16u);
}

TEST_F(WriterLockTest, BuiltFrameIsHeldFromItsFirstMomentOn) {
  const std::string path = dir_.Path("g");
  auto writer = Frame::BeginCreate(path, PlainCopies(64));
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Commit()));
  EXPECT_TRUE(absl::IsUnavailable(Frame::Open(path)->OpenWriter().status()));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_TRUE(IsOk(Frame::Open(path)->OpenWriter()));
}

TEST_F(WriterLockTest, EmptyFrameStaysHeldWhenACommitReplacesTheFile) {
  const std::string path = dir_.Path("g");
  auto frame = Frame::Create(path, PlainCopies(64));
  auto writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer->SetVlmetalayer("note", AsBytes("text"))));
  ASSERT_TRUE(IsOk(writer->Commit()));
  EXPECT_TRUE(absl::IsUnavailable(Frame::Open(path)->OpenWriter().status()));
}

TEST_F(WriterLockTest, CloseFreesTheFrame) {
  Frame frame = Open();
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(TryHere(), absl::StatusCode::kOk);
  EXPECT_EQ(TryInChild(), absl::StatusCode::kOk);
}

TEST_F(WriterLockTest, EndOfTheWriterFreesTheFrame) {
  Frame frame = Open();
  {
    auto writer = frame.OpenWriter();
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(10, 2))));
  }
  EXPECT_EQ(TryHere(), absl::StatusCode::kOk);
  EXPECT_EQ(TryInChild(), absl::StatusCode::kOk);
  EXPECT_EQ(DataOf(Open().snapshot()).value(), MakeNoise(100, 1));
}

TEST_F(WriterLockTest, FileOfAnyLengthIsHeldByNoReader) {
  const Frame reader = Open();
  const Snapshot snapshot = reader.snapshot();
  EXPECT_EQ(TryInChild(), absl::StatusCode::kOk);
}

TEST_F(WriterLockTest, OlderHandleWritesOnFromTheNewestState) {
  Frame old = Open();
  const Buffer all = MakeNoise(400, 1);
  ASSERT_TRUE(IsOk(AppendTo(path_, Bytes(all).subspan(100, 200))));
  EXPECT_EQ(old.snapshot().info().nbytes, 100);
  auto writer = old.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(Bytes(all).subspan(300))));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(DataOf(Open().snapshot()).value(), all);
  EXPECT_EQ(old.snapshot().info().nbytes, 400);
  EXPECT_TRUE(Open().snapshot().Verify()->ok());
}

TEST_F(WriterLockTest, OlderHandleSeesWhatAnotherProcessWrote) {
  Frame old = Open();
  const Buffer all = MakeNoise(400, 1);
  EXPECT_EQ(
      ResultOfChild([&] { return AppendTo(path_, Bytes(all).subspan(100, 200)).ok() ? 0 : 1; }), 0);
  auto writer = old.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(Bytes(all).subspan(300))));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(DataOf(Open().snapshot()).value(), all);
}

// Another Blosc2 may change a value without changing the size of the file.
TEST_F(WriterLockTest, OlderHandleSeesAForeignEditOfTheSameSize) {
  CreateOptions options = PlainCopies(64);
  options.overwrite = true;
  options.metalayers = {{.name = "m", .content = ToVector(AsBytes("before"))}};
  ASSERT_TRUE(IsOk(WriteFrame(path_, options, MakeNoise(100, 1))));
  Frame old = Open();
  Buffer file = FileBytes(path_);
  const size_t at = AsText(file).find("before");
  CopyBytes(AsBytes("behind"), MutableBytes(file).subspan(at));
  PutFileBytes(path_, file);
  auto writer = old.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  EXPECT_EQ(AsText(writer->StagedSnapshot()->GetMetalayer("m").value()), "behind");
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(10, 2))));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(AsText(Open().snapshot().GetMetalayer("m").value()), "behind");
  EXPECT_TRUE(Open().snapshot().info().sealed);
}

TEST_F(WriterLockTest, HeldFrameIsNotReplaced) {
  Frame frame = Open();
  std::optional<Writer> writer = *frame.OpenWriter();
  CreateOptions options = PlainCopies(32);
  options.overwrite = true;
  EXPECT_TRUE(absl::IsUnavailable(Frame::Create(path_, options).status()));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(50, 3))));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_TRUE(IsOk(Frame::Create(path_, options)));
}

TEST_F(WriterLockTest, CommitToAFileThatLostItsNameFails) {
  Frame frame = Open();
  auto writer = frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(50, 3))));
  std::filesystem::rename(path_, path_ + ".moved");
  EXPECT_EQ(writer->Commit().status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(WriterLockTest, StagedSnapshotKeepsOtherWritersOut) {
  Frame frame = Open();
  std::optional<Snapshot> staged;
  {
    auto writer = frame.OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(500, 3))));
    staged = writer->StagedSnapshot().value();
  }
  EXPECT_TRUE(absl::IsUnavailable(frame.OpenWriter().status()));
  Buffer items(500);
  ASSERT_TRUE(IsOk(staged->ReadBytes(100, items)));
  EXPECT_EQ(items, MakeNoise(500, 3));
  staged.reset();
  EXPECT_TRUE(IsOk(frame.OpenWriter()));
}

TEST_F(WriterLockTest, WriterOpenedAfterTheFileWasReplacedWorksOnTheNewOne) {
  Frame old = Open();
  const Snapshot before = old.snapshot();
  CreateOptions options = PlainCopies(32);
  options.overwrite = true;
  ASSERT_TRUE(IsOk(Frame::Create(path_, options)));
  auto writer = old.OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(50, 3))));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(DataOf(Open().snapshot()).value(), MakeNoise(50, 3));
  EXPECT_EQ(Open().snapshot().info().chunksize, 32);
  EXPECT_EQ(DataOf(before).value(), MakeNoise(100, 1));
}

}  // namespace
}  // namespace cairn::test
