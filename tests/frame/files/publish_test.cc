// How a frame gets its name, and what of a published one is ever written again.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/format/frame_header.h"
#include "engine/format/journal.h"
#include "tests/support/bytes.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"

namespace cairn::test {
namespace {

using Kind = Operation::Kind;
using Names = std::vector<std::string>;

class PublishTest : public testing::Test {
 protected:
  CreateOptions Logged(CreateOptions options) {
    options.file_system = Unowned(&files_);
    files_.StartLog();
    return options;
  }
  Writer OpenLoggedWriter() {
    auto frame = Frame::Open(path_, {.file_system = Unowned(&files_)});
    EXPECT_TRUE(IsOk(frame));
    files_.StartLog();
    auto writer = frame->OpenWriter(kKeepAll);
    EXPECT_TRUE(IsOk(writer));
    return *std::move(writer);
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  FaultFileSystem files_;
};

TEST_F(PublishTest, BuiltFrameHasNoNameBeforeItsFirstCommit) {
  auto writer = Frame::BeginCreate(path_, PlainCopies(64));
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(200, 1))));
  EXPECT_TRUE(absl::IsNotFound(Frame::Open(path_).status()));
  ASSERT_TRUE(IsOk(writer->Commit()));
  EXPECT_EQ(NamesIn(dir_.path()), Names{"f"});
  EXPECT_EQ(DataOf(Frame::Open(path_)->snapshot()).value(), MakeNoise(200, 1));
}

TEST_F(PublishTest, NameComesAfterTheSyncOfEveryByte) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, Logged(PlainCopies(64)), MakeNoise(200, 1))));
  const std::vector<Operation> log = files_.TakeLog();
  const auto rename = std::ranges::find(log, Kind::kRename, &Operation::kind);
  ASSERT_TRUE(rename != log.end() && rename - log.begin() > 1);
  EXPECT_EQ((rename - 1)->kind, Kind::kSync);
  EXPECT_EQ((rename - 1)->sync_mode, SyncMode::kAll);
  EXPECT_EQ((rename + 1)->kind, Kind::kSyncDirectory);
  EXPECT_TRUE(std::none_of(rename + 1, log.end(),
                           [](const Operation& op) { return op.kind == Kind::kWrite; }));
}

TEST_F(PublishTest, DroppedBuildLeavesNothing) {
  {
    auto writer = Frame::BeginCreate(path_, PlainCopies(64));
    ASSERT_TRUE(IsOk(writer));
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(200, 1))));
    EXPECT_EQ(writer->StagedSnapshot()->info().nbytes, 200);
  }
  EXPECT_EQ(NamesIn(dir_.path()), Names{});
}

TEST_F(PublishTest, FailedCreateLeavesNothing) {
  files_.Inject({.after = 2});
  EXPECT_FALSE(Frame::Create(path_, Logged(PlainCopies(64))).ok());
  EXPECT_EQ(NamesIn(dir_.path()), Names{});
}

TEST_F(PublishTest, NewFrameWhoseNameIsNotDurableGoesAgain) {
  for (const Layout layout : {Layout::kContiguous, Layout::kSparse}) {
    for (const bool overwrite : {false, true}) {
      CreateOptions options = Logged(PlainCopies(64));
      options.layout = layout;
      options.overwrite = overwrite;
      ASSERT_TRUE(IsOk(WriteFrame(path_, options, MakeNoise(200, 1))));
      const std::vector<Operation> log = files_.TakeLog();
      std::filesystem::remove_all(path_);
      const auto rename = std::ranges::find(log, Kind::kRename, &Operation::kind);
      ASSERT_TRUE(rename != log.end() && (rename + 1)->kind == Kind::kSyncDirectory);

      files_.Inject({.after = rename - log.begin() + 1});
      EXPECT_TRUE(absl::IsResourceExhausted(WriteFrame(path_, options, MakeNoise(200, 1))));
      EXPECT_EQ(NamesIn(dir_.path()), Names{});
      EXPECT_TRUE(IsOk(WriteFrame(path_, options, MakeNoise(200, 1))));
      std::filesystem::remove_all(path_);
    }
  }
}

TEST_F(PublishTest, ReplacementWhoseNameIsNotDurableSaysSo) {
  CreateOptions options = Logged(PlainCopies(64));
  options.overwrite = true;
  ASSERT_TRUE(IsOk(WriteFrame(path_, options, MakeNoise(200, 1))));
  const std::vector<Operation> log = files_.TakeLog();
  const auto rename = std::ranges::find(log, Kind::kRename, &Operation::kind);
  files_.Inject({.after = rename - log.begin() + 1});
  EXPECT_TRUE(Fails(WriteFrame(path_, options, MakeNoise(300, 2)),
                    absl::StatusCode::kResourceExhausted,
                    path_ + " was replaced, but perhaps not for good: "));
  EXPECT_EQ(DataOf(Frame::Open(path_)->snapshot()).value(), MakeNoise(300, 2));
  EXPECT_EQ(NamesIn(dir_.path()), Names{"f"});
}

TEST_F(PublishTest, OldFrameStaysUnlessItMayBeReplaced) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), MakeNoise(200, 1))));
  const Buffer before = FileBytes(path_);
  EXPECT_TRUE(absl::IsAlreadyExists(Frame::Create(path_, PlainCopies(64)).status()));
  EXPECT_TRUE(absl::IsAlreadyExists(Frame::BeginCreate(path_, PlainCopies(64)).status()));
  EXPECT_EQ(FileBytes(path_), before);
  EXPECT_EQ(NamesIn(dir_.path()), Names{"f"});
}

TEST_F(PublishTest, FrameThatAppearsWhileOneIsBuiltStays) {
  auto writer = Frame::BeginCreate(path_, PlainCopies(64));
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), MakeNoise(200, 1))));
  const Buffer before = FileBytes(path_);
  EXPECT_TRUE(absl::IsAlreadyExists(writer->Close()));
  EXPECT_EQ(FileBytes(path_), before);
  writer = absl::UnknownError("dropped");
  EXPECT_EQ(NamesIn(dir_.path()), Names{"f"});
}

TEST_F(PublishTest, NewFileKeepsThePermissionsOfTheOldOne) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), {})));
  std::filesystem::permissions(
      path_, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  // An empty frame that changes is written to a new file.
  auto writer = Frame::Open(path_)->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->SetVlmetalayer("v", MakeNoise(10, 1))));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(std::filesystem::status(path_).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(PublishTest, NewFileIsNotOpenToOthersBeforeItReplacesOneThatIsNot) {
  constexpr auto kOwners = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), {})));
  std::filesystem::permissions(path_, kOwners);
  CreateOptions options = PlainCopies(64);
  options.overwrite = true;
  const auto writer = Frame::BeginCreate(path_, options);
  ASSERT_TRUE(IsOk(writer));
  int others = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
    EXPECT_EQ(entry.status().permissions(), kOwners) << entry.path();
    ++others;
  }
  EXPECT_EQ(others, 2);
}

TEST_F(PublishTest, FileThatReplacesADirectoryIsAsOpenAsANewOne) {
  CreateOptions options = PlainCopies(64);
  ASSERT_TRUE(IsOk(WriteFrame(dir_.Path("new"), options, {})));
  options.layout = Layout::kSparse;
  ASSERT_TRUE(IsOk(WriteFrame(path_, options, MakeNoise(200, 1))));
  options.layout = Layout::kContiguous;
  options.overwrite = true;
  ASSERT_TRUE(IsOk(WriteFrame(path_, options, {})));
  EXPECT_EQ(std::filesystem::status(path_).permissions(),
            std::filesystem::status(dir_.Path("new")).permissions());
}

TEST_F(PublishTest, WhatIsNoFileIsNotReplaced) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  CreateOptions options = PlainCopies(64);
  options.overwrite = true;
  EXPECT_TRUE(absl::IsFailedPrecondition(WriteFrame(path_, options, MakeNoise(200, 1))));
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
}

TEST_F(PublishTest, NewFileDoesNotRunAsTheOwnerOfTheOldOne) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), {})));
  std::filesystem::permissions(path_, std::filesystem::perms::set_uid |
                                          std::filesystem::perms::set_gid |
                                          std::filesystem::perms::owner_all);
  CreateOptions options = PlainCopies(64);
  options.overwrite = true;
  ASSERT_TRUE(IsOk(Frame::Create(path_, options)));
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms::owner_all);
}

TEST_F(PublishTest, NewFileTakesThePlaceOfALinksTarget) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), {})));
  const std::string link = dir_.Path("link");
  std::filesystem::create_symlink(path_, link);
  auto writer = Frame::Open(link)->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->SetVlmetalayer("v", MakeNoise(10, 1))));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(Frame::Open(path_)->snapshot().vlmetalayers(), std::vector<std::string>{"v"});
}

TEST_F(PublishTest, BuildThatWasRolledBackHasNoDeadByte) {
  auto writer = Frame::BeginCreate(path_, PlainCopies(64));
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(500, 1))));
  const Snapshot staged = writer->StagedSnapshot().value();
  writer->Rollback();
  ASSERT_TRUE(IsOk(writer->Close()));
  const FrameInfo info = Frame::Open(path_)->snapshot().info();
  EXPECT_EQ(info.nbytes, 0);
  EXPECT_EQ(info.dead_bytes, 0);
  EXPECT_EQ(PartsOf(FileBytes(path_)).trailer_begin, info.header_len);
  EXPECT_EQ(DataOf(staged).value(), MakeNoise(500, 1));
}

TEST_F(PublishTest, OverwriteReplacesInOneStep) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(64), MakeNoise(200, 1))));
  const auto old = Frame::Open(path_);
  CreateOptions options = Logged(PlainCopies(64));
  options.overwrite = true;
  auto writer = Frame::BeginCreate(path_, options);
  ASSERT_TRUE(IsOk(writer));
  ASSERT_TRUE(IsOk(writer->Append(MakeNoise(300, 2))));
  EXPECT_EQ(DataOf(Frame::Open(path_)->snapshot()).value(), MakeNoise(200, 1));
  ASSERT_TRUE(IsOk(writer->Close()));
  EXPECT_EQ(DataOf(Frame::Open(path_)->snapshot()).value(), MakeNoise(300, 2));
  EXPECT_EQ(DataOf(old->snapshot()).value(), MakeNoise(200, 1));
  EXPECT_EQ(NamesIn(dir_.path()), Names{"f"});
  const std::vector<Operation> log = files_.TakeLog();
  EXPECT_EQ(std::ranges::count(log, Kind::kRename, &Operation::kind), 1);
  EXPECT_EQ(std::ranges::count(log, Kind::kRemove, &Operation::kind), 0);
}

TEST_F(PublishTest, BuiltFrameHasNoDeadByte) {
  for (const FingerprintType type : {FingerprintType::kNone, FingerprintType::k64Bit}) {
    CreateOptions options = PlainCopies(64);
    options.fingerprint = type;
    options.overwrite = true;
    ASSERT_TRUE(IsOk(WriteFrame(path_, options, MakeNoise(1000, 1), {{"note", "text"}})));
    const Buffer file = FileBytes(path_);
    const FrameParts parts = PartsOf(file);
    EXPECT_EQ(parts.frame_size, static_cast<int64_t>(file.size()));
    EXPECT_EQ(StoredBytes(Frame::Open(path_)->snapshot()), parts.index_begin - parts.header_len);
  }
}

TEST_F(PublishTest, EmptyFrameHasItsTrailerRightAfterItsHeader) {
  ASSERT_TRUE(IsOk(Frame::Create(path_, PlainCopies(64))));
  auto frame = Frame::Open(path_);
  auto writer = frame->OpenWriter();
  for (const std::string_view value : {"one", "two, longer", "3"}) {
    ASSERT_TRUE(IsOk(writer->SetVlmetalayer("note", AsBytes(value))));
    ASSERT_TRUE(IsOk(writer->Checkpoint()));
    const Buffer file = FileBytes(path_);
    const FrameParts parts = PartsOf(file);
    EXPECT_EQ(parts.trailer_begin, parts.header_len);
    EXPECT_EQ(parts.index_begin, parts.header_len);
    EXPECT_EQ(parts.frame_size, static_cast<int64_t>(file.size()));
    EXPECT_EQ(AsText(Frame::Open(path_)->snapshot().GetVlmetalayer("note").value()), value);
    EXPECT_EQ(NamesIn(dir_.path()), Names{"f"});
  }
  EXPECT_EQ(AsText(frame->Refresh()->GetVlmetalayer("note").value()), "3");
}

// Follows the operations of a writer on a frame of `end` bytes, and fails where they could hurt
// the committed state.
void ExpectOnlyCarefulWrites(const std::vector<Operation>& log, int64_t end) {
  int64_t end_before = end;
  bool data_unsynced = false;
  bool header_unsynced = false;
  for (const Operation& op : log) {
    if (op.kind == Kind::kSync) {
      data_unsynced = header_unsynced = false;
    } else if (op.kind == Kind::kTruncate) {
      EXPECT_EQ(op.offset, end);
    } else if (op.kind == Kind::kSyncDirectory || op.kind == Kind::kAllocate) {
      // Only when the writer is opened; no byte.
    } else if (op.kind != Kind::kWrite) {
      ADD_FAILURE() << "a commit in place needs no operation on names";
    } else if (op.offset == 0) {
      EXPECT_LE(op.bytes.size(), 512u);
      EXPECT_FALSE(data_unsynced) << "the header is written before what it leads to is durable";
      end_before = end;
      end = static_cast<int64_t>(LoadBe<uint64_t>(op.bytes.data() + format::kFrameSizeOffset));
      header_unsynced = true;
    } else if (const auto ended = format::FindEnded(op.bytes, op.offset); ended.has_value()) {
      EXPECT_FALSE(header_unsynced) << "a crash could leave this behind the header before";
      EXPECT_GE(op.offset, end_before) << "a committed byte is overwritten";
      EXPECT_EQ(ended->frame_size, end);
    } else {
      EXPECT_GE(op.offset, end) << "a committed byte is overwritten";
      EXPECT_FALSE(header_unsynced) << "the next commit begins before the last one is durable";
      data_unsynced = true;
    }
  }
  EXPECT_FALSE(data_unsynced || header_unsynced);
}

TEST_F(PublishTest, CheckpointInPlaceSyncsTheDataThenTheHeader) {
  CreateOptions options = PlainCopies(64);
  options.metalayers = {{.name = "m", .content = ToVector(AsBytes("aaaa"))}};
  ASSERT_TRUE(IsOk(WriteFrame(path_, options, MakeNoise(100, 1))));
  const auto end = static_cast<int64_t>(FileBytes(path_).size());
  Writer writer = OpenLoggedWriter();
  ASSERT_TRUE(IsOk(writer.Append(MakeNoise(200, 2))));
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  ASSERT_TRUE(IsOk(writer.SetMetalayer("m", AsBytes("bbbb"))));
  ASSERT_TRUE(IsOk(writer.SetVlmetalayer("note", AsBytes("text"))));
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  // A staged chunk that a snapshot reads, and one that is dropped.
  ASSERT_TRUE(IsOk(writer.Append(MakeNoise(500, 3))));
  ASSERT_TRUE(IsOk(writer.StagedSnapshot()));
  writer.Rollback();
  ASSERT_TRUE(IsOk(writer.AppendSpecial(SpecialValue::kZeros, 1000)));
  ASSERT_TRUE(IsOk(writer.Close()));
  const std::vector<Operation> log = files_.TakeLog();
  // The writes are one to confirm the old header, and one for each checkpoint.
  EXPECT_EQ(std::ranges::count_if(
                log, [](const Operation& op) { return op.kind == Kind::kWrite && op.offset == 0; }),
            4);
  ExpectOnlyCarefulWrites(log, end);
}

TEST_F(PublishTest, CommitInPlaceKeepsEveryByteAfterTheFirstSector) {
  CreateOptions options = PlainCopies(64);
  options.metalayers = {{.name = "m", .content = MakeNoise(900, 5)}};
  ASSERT_TRUE(IsOk(WriteFrame(path_, options, MakeNoise(1000, 1), {{"note", "text"}})));
  Buffer before = FileBytes(path_);
  for (uint64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(IsOk(AppendTo(path_, MakeNoise(100, i), kKeepAll)));
    const Buffer after = FileBytes(path_);
    ASSERT_GT(after.size(), before.size());
    EXPECT_TRUE(std::equal(before.begin() + 512, before.end(), after.begin() + 512));
    before = after;
  }
}

TEST_F(PublishTest, MetalayersAfterTheFirstSectorAreWrittenToANewFile) {
  CreateOptions options = PlainCopies(64);
  options.metalayers = {{.name = "m", .content = MakeNoise(900, 5)}};
  ASSERT_TRUE(IsOk(WriteFrame(path_, options, MakeNoise(1000, 1))));
  const auto old = Frame::Open(path_);
  const FileIdentity identity = PosixFileSystem()->Identity(path_).value();
  Writer writer = OpenLoggedWriter();
  ASSERT_TRUE(IsOk(writer.SetMetalayer("m", MakeNoise(900, 6))));
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_FALSE(PosixFileSystem()->Identity(path_).value() == identity);
  EXPECT_EQ(old->snapshot().GetMetalayer("m").value(), MakeNoise(900, 5));
  const auto frame = Frame::Open(path_);
  EXPECT_EQ(frame->snapshot().GetMetalayer("m").value(), MakeNoise(900, 6));
  EXPECT_EQ(frame->snapshot().info().dead_bytes, 0);
  EXPECT_EQ(DataOf(frame->snapshot()).value(), MakeNoise(1000, 1));
  EXPECT_EQ(NamesIn(dir_.path()), Names{"f"});
}

TEST_F(PublishTest, ErrorsNameTheFrameThatWasAskedForAndNotItsTemporaryFile) {
  const std::string path = dir_.Path("no_folder/f");
  for (const Layout layout : {Layout::kContiguous, Layout::kSparse}) {
    const absl::Status status = Frame::BeginCreate(path, {.layout = layout}).status();
    EXPECT_TRUE(Fails(status, absl::StatusCode::kNotFound, path + ": cannot ")) << status;
  }
}

TEST_F(PublishTest, RefusesAnEmptyPath) {
  for (const Layout layout : {Layout::kContiguous, Layout::kSparse}) {
    EXPECT_TRUE(Fails(Frame::BeginCreate("", {.layout = layout}),
                      absl::StatusCode::kInvalidArgument, "a path must not be empty"));
  }
  EXPECT_TRUE(Fails(Frame::Open(""), absl::StatusCode::kNotFound, "'': cannot open"));
}

}  // namespace
}  // namespace cairn::test
