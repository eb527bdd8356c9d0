// Tests that a file that is not a frame is the caller's mistake, not damage.
#include <algorithm>
#include <string>
#include <sys/stat.h>
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

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

class NotAFrameTest : public testing::Test {
 protected:
  absl::Status OpenWith(Bytes bytes) const {
    PutFileBytes(path_, bytes);
    return Frame::Open(path_).status();
  }

  TempDir dir_;
  std::string path_ = dir_.Path("f");
};

TEST_F(NotAFrameTest, AnotherFileIsInvalid) {
  const absl::Status status = OpenWith(AsBytes("PNG or anything else, and long enough"));
  EXPECT_EQ(status, absl::InvalidArgumentError(path_ + ": not a Blosc2 frame"));
}

// Nobody opens the other end of the FIFO.
TEST_F(NotAFrameTest, WhatIsNoFileIsNamedWithItsOwnerAndNeverWaitedFor) {
  for (const mode_t kind : {S_IFIFO, S_IFSOCK}) {
    ASSERT_EQ(::mknod(path_.c_str(), kind | 0644, 0), 0);
    const std::string what = kind == S_IFIFO ? "a FIFO of user " : "a socket of user ";
    const auto refused = [&](const absl::Status& status) {
      return Fails(status, absl::StatusCode::kFailedPrecondition, what);
    };
    for (const bool mmap : {false, true}) {
      EXPECT_TRUE(refused(Frame::Open(path_, {.use_mmap = mmap}).status()));
    }
    EXPECT_TRUE(refused(Recover(path_).status()));
    EXPECT_TRUE(refused(Salvage(path_, dir_.Path("g")).status()));
    CreateOptions over;
    over.overwrite = true;
    EXPECT_TRUE(refused(Frame::Create(path_, over).status()));
    auto frame = Frame::CreateInMemory();
    ASSERT_TRUE(IsOk(frame));
    CopyOptions copy;
    copy.overwrite = true;
    EXPECT_TRUE(refused(frame->snapshot().CopyTo(path_, copy)));
    ASSERT_EQ(::remove(path_.c_str()), 0);
  }
}

TEST_F(NotAFrameTest, EmptyFileIsInvalid) {
  EXPECT_TRUE(Fails(OpenWith({}), kInvalid, "not a Blosc2 frame"));
}

TEST_F(NotAFrameTest, AnotherBufferIsInvalid) {
  EXPECT_TRUE(Fails(Frame::OpenBuffer(AsBytes("not it")).status(), kInvalid, "not a Blosc2 frame"));
}

TEST_F(NotAFrameTest, AnotherDirectoryIsInvalid) {
  ASSERT_EQ(::mkdir(path_.c_str(), 0755), 0);
  const std::string reason = "a directory without chunks.b2frame is not a Blosc2 frame";
  EXPECT_EQ(Frame::Open(path_).status(), absl::InvalidArgumentError(path_ + ": " + reason));
  PutFileBytes(path_ + "/another", AsBytes("file"));
  EXPECT_TRUE(Fails(Frame::Open(path_).status(), kInvalid, reason));
}

TEST_F(NotAFrameTest, FrameThatIsCutShortIsDamaged) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, Cut(4, 400), MakeItems(1000))));
  const std::vector<std::byte> bytes = FileBytes(path_);
  EXPECT_TRUE(IsDamage(OpenWith(Bytes(bytes).first(5)), "frame header"));
  EXPECT_TRUE(IsDamage(OpenWith(Bytes(bytes).first(50)), "frame header"));
}

TEST_F(NotAFrameTest, DamagedMagicIsDamage) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, Cut(4, 400), MakeItems(1000))));
  std::vector<std::byte> bytes = FileBytes(path_);
  bytes[3] ^= std::byte{0xff};
  EXPECT_TRUE(IsDamage(OpenWith(bytes), "magic"));
}

TEST_F(NotAFrameTest, SparseFrameWithoutTheFirstBytesOfItsIndexIsDamaged) {
  CreateOptions options = Cut(4, 400);
  options.layout = Layout::kSparse;
  ASSERT_TRUE(IsOk(Frame::Create(path_, options)));
  const std::string index = path_ + "/chunks.b2frame";
  std::vector<std::byte> bytes = FileBytes(index);
  std::fill_n(bytes.begin(), 64, std::byte{0});
  PutFileBytes(index, bytes);
  EXPECT_TRUE(IsDamage(Frame::Open(path_).status(), "magic"));
}

TEST_F(NotAFrameTest, SparseFrameWithoutItsIndexIsDamaged) {
  CreateOptions options = Cut(4, 400);
  options.layout = Layout::kSparse;
  ASSERT_TRUE(IsOk(WriteFrame(path_, options, MakeItems(1000))));
  ASSERT_EQ(::remove((path_ + "/chunks.b2frame").c_str()), 0);
  EXPECT_TRUE(IsDamage(Frame::Open(path_).status(), "chunks.b2frame is missing"));
}

TEST_F(NotAFrameTest, FrameWithoutItsFirstBytesIsRecovered) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, Cut(4, 400), MakeItems(1000))));
  std::vector<std::byte> bytes = FileBytes(path_);
  std::fill_n(bytes.begin(), 64, std::byte{0});
  ASSERT_TRUE(Fails(OpenWith(bytes), kInvalid, "not a Blosc2 frame"));
  const auto report = Recover(path_);
  ASSERT_TRUE(IsOk(report));
  EXPECT_TRUE(report->header_restored);
  EXPECT_EQ(ContentOf(Frame::Open(path_)->snapshot()), MakeItems(1000));
}

TEST_F(NotAFrameTest, NothingIsRecoveredFromAnotherFile) {
  ASSERT_FALSE(OpenWith(AsBytes("PNG or anything else, and long enough")).ok());
  EXPECT_TRUE(Fails(Recover(path_).status(), kInvalid, "not a Blosc2 frame"));
}

}  // namespace
}  // namespace cairn::test
