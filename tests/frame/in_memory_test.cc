#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/file_system.h"
#include "cairn/frame.h"
#include "tests/support/bytes.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"

namespace cairn::frame {
namespace {

using absl::StatusCode;
using test::Buffer;
using test::Cut;
using test::ExpectHolds;
using test::MakeItems;

TEST(InMemoryTest, BytesOpenAsTheSameFrame) {
  CreateOptions options = Cut(4, 1000);
  options.metalayers = {{.name = "fixed", .content = MakeItems(8)}};
  Frame frame = test::NewInMemory(options);
  Writer writer = *frame.OpenWriter();
  Buffer content = MakeItems(2500);
  ASSERT_TRUE(IsOk(writer.Append(content)));
  ASSERT_TRUE(IsOk(writer.AppendSpecial(SpecialValue::kZeros, 1000)));
  ASSERT_TRUE(IsOk(writer.SetVlmetalayer("layer", MakeItems(50))));
  test::AddTo(content, Buffer(4000));
  ASSERT_TRUE(IsOk(writer.Close()));

  const Buffer bytes = *frame.snapshot().ToBuffer();
  EXPECT_EQ(std::ssize(bytes), frame.snapshot().info().frame_size);
  const Frame opened = *Frame::OpenBuffer(bytes);
  ExpectHolds(opened.snapshot(), content);
  EXPECT_TRUE(opened.snapshot().info().sealed);
  EXPECT_EQ(*opened.snapshot().GetMetalayer("fixed"), MakeItems(8));
  EXPECT_EQ(*opened.snapshot().GetVlmetalayer("layer"), MakeItems(50));
  EXPECT_EQ(*opened.snapshot().ToBuffer(), bytes);
}

TEST(InMemoryTest, EmptyFrameHasBytesToo) {
  const Frame frame = test::NewInMemory(Cut(4, 1000));
  const Buffer bytes = *frame.snapshot().ToBuffer();
  const Snapshot snapshot = Frame::OpenBuffer(bytes)->snapshot();
  ExpectHolds(snapshot, {});
  EXPECT_EQ(snapshot.info().nchunks, 0);
  EXPECT_EQ(snapshot.info().chunksize, 1000);
}

TEST(InMemoryTest, BytesLeaveOutWhatIsStaged) {
  Frame frame = test::NewInMemory(Cut(4, 1000));
  Writer writer = *frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(1500))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(9000))));
  const Buffer bytes = *frame.snapshot().ToBuffer();
  ExpectHolds(Frame::OpenBuffer(bytes)->snapshot(), MakeItems(1500));
}

TEST(InMemoryTest, BufferIsReadOnly) {
  const Buffer bytes = *test::NewInMemory(Cut(4, 1000)).snapshot().ToBuffer();
  Frame opened = *Frame::OpenBuffer(bytes);
  EXPECT_EQ(opened.OpenWriter().status().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(IsOk(opened.Refresh()));
}

TEST(InMemoryTest, FrameOfMemoryFilesIsBuiltWithoutSealAndReadFromThem) {
  const std::shared_ptr<FileSystem> files = MakeMemoryFileSystem();
  CreateOptions options = Cut(4, 1000);
  options.fingerprint = FingerprintType::kNone;
  options.file_system = files;
  {
    Writer writer = *Frame::BeginCreate("chunk", options);
    ASSERT_TRUE(IsOk(writer.Append(MakeItems(2500))));
    EXPECT_EQ(files->Open("chunk", FileMode::kRead).status().code(), StatusCode::kNotFound);
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  const std::unique_ptr<File> file = *files->Open("chunk", FileMode::kRead);
  Buffer bytes(static_cast<size_t>(*file->Size()));
  ASSERT_TRUE(IsOk(file->ReadAt(0, bytes)));
  const Snapshot snapshot = Frame::OpenBuffer(bytes)->snapshot();
  ExpectHolds(snapshot, MakeItems(2500));
  EXPECT_FALSE(snapshot.info().sealed);
  ExpectHolds(Frame::Open("chunk", {.file_system = files})->snapshot(), MakeItems(2500));
}

TEST(InMemoryTest, OneWriterAtATime) {
  Frame frame = test::NewInMemory(Cut(4, 1000));
  std::optional<Writer> writer = *frame.OpenWriter();
  EXPECT_EQ(frame.OpenWriter().status().code(), StatusCode::kUnavailable);
  writer.reset();
  EXPECT_TRUE(IsOk(frame.OpenWriter()));
}

TEST(InMemoryTest, SparseFrameIsRefused) {
  CreateOptions options = Cut(4, 1000);
  options.layout = Layout::kSparse;
  EXPECT_EQ(Frame::CreateInMemory(options).status().code(), StatusCode::kInvalidArgument);
}

TEST(InMemoryTest, ReclaimIsRefusedAndHistoryStays) {
  Frame frame = test::NewInMemory(Cut(4, 1000));
  Writer writer = *frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(1500))));
  ASSERT_TRUE(IsOk(writer.Checkpoint()));
  const size_t generations = frame.History()->size();
  EXPECT_EQ(writer.Reclaim().status().code(), StatusCode::kUnimplemented);
  EXPECT_EQ(frame.History()->size(), generations);
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(500))));
  EXPECT_TRUE(IsOk(writer.Close()));
}

TEST(InMemoryTest, CompactedFrameHoldsTheSame) {
  Frame frame = test::NewInMemory(Cut(4, 1000));
  Writer writer = *frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(3000))));
  ASSERT_TRUE(IsOk(writer.Close()));
  const Snapshot before = frame.snapshot();
  const CompactReport report = *frame.Compact();
  EXPECT_LE(report.size_after, report.size_before);
  ExpectHolds(*frame.Refresh(), MakeItems(3000));
  ExpectHolds(before, MakeItems(3000));
  EXPECT_TRUE(IsOk(frame.OpenWriter()));
}

TEST(InMemoryTest, OldSnapshotsStayWhileTheMemoryGrows) {
  Frame frame = test::NewInMemory(Cut(4, 1000));
  Buffer content;
  std::vector<Snapshot> snapshots = {frame.snapshot()};
  std::vector<size_t> sizes = {0};
  for (uint64_t i = 0; i < 12; ++i) {
    Writer writer = *frame.OpenWriter();
    const Buffer items = test::MakeNoise(size_t{100} << i, i);
    ASSERT_TRUE(IsOk(writer.Append(items)));
    test::AddTo(content, items);
    snapshots.push_back(*writer.Commit());
    sizes.push_back(content.size());
    if (i % 2 == 0) {
      ASSERT_TRUE(IsOk(writer.Close()));
    }
  }
  for (size_t i = 0; i < snapshots.size(); ++i) {
    SCOPED_TRACE(i);
    ExpectHolds(snapshots[i], Bytes(content).first(sizes[i]));
  }
}

TEST(InMemoryTest, SnapshotAndWriterOutliveTheFrame) {
  std::optional<Frame> frame = test::NewInMemory(Cut(4, 1000));
  Writer writer = *frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(1500))));
  const Snapshot first = *writer.Commit();
  frame.reset();
  ASSERT_TRUE(IsOk(writer.Append(test::MakeNoise(100'000))));
  const Snapshot second = *writer.Commit();
  ASSERT_TRUE(IsOk(writer.Close()));
  ExpectHolds(first, MakeItems(1500));
  EXPECT_EQ(second.info().nbytes, 101'500);
}

// The header's metalayers lie after the sector that one write can flip, so the frame moves.
TEST(InMemoryTest, FrameMovesWhenItsMetalayersNeedAnotherFile) {
  CreateOptions options = Cut(4, 1000);
  options.metalayers = {{.name = "large", .content = MakeItems(2000)}};
  Frame frame = test::NewInMemory(options);
  Writer writer = *frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(1500))));
  const Snapshot before = *writer.Commit();
  ASSERT_TRUE(IsOk(writer.SetMetalayer("large", Buffer(2000))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(frame.OpenWriter().status().code(), StatusCode::kUnavailable);
  ASSERT_TRUE(IsOk(writer.Append(MakeItems(500))));
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_TRUE(IsOk(frame.OpenWriter()));
  EXPECT_EQ(frame.snapshot().info().nbytes, 2000);
  EXPECT_EQ(*frame.snapshot().GetMetalayer("large"), Buffer(2000));
  EXPECT_EQ(*before.GetMetalayer("large"), MakeItems(2000));
  ExpectHolds(before, MakeItems(1500));
}

}  // namespace
}  // namespace cairn::frame
