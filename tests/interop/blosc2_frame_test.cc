// Frames go back and forth between Cairn and C-Blosc2, which both read and edit them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "tests/interop/figures.h"
#include "tests/interop/frame_case.h"
#include "tests/interop/hand_over.h"
#include "tests/interop/peer_edits.h"
#include "tests/support/search.h"
#include "tests/support/status.h"

namespace cairn::interop {
namespace {

constexpr int kWrittenFrames = 400;
constexpr int kEditedFrames = 200;
constexpr int kForeignFrames = 200;

void ExpectCairnReads(const std::string& path, const FrameCase& c) {
  for (const bool use_mmap : {true, false}) {
    SCOPED_TRACE(use_mmap ? "mapped" : "read");
    OpenOptions options;
    options.use_mmap = use_mmap;
    const auto frame = Frame::Open(path, options);
    ASSERT_TRUE(IsOk(frame));
    ExpectHolds(frame->snapshot(), c);
  }
}

TEST(Blosc2FrameTest, PeerReadsWhatCairnWrites) {
  const std::string path = FreshPath("both");
  Random random(1);
  int64_t nchunks = 0;
  for (int i = 0; i < test::SearchRuns(kWrittenFrames); ++i) {
    std::filesystem::remove(path);
    FrameCase c = MakeFrameCase(random);
    SCOPED_TRACE(testing::Message() << "case " << i << ": " << c);
    const absl::Status status = WriteFrame(path, random, &c);
    ASSERT_TRUE(IsOk(status));
    ExpectCairnReads(path, c);
    ExpectPeerReadsFile(path, c, random);
    const auto frame = Frame::Open(path);
    ASSERT_TRUE(IsOk(frame));
    const FrameInfo info = frame->snapshot().info();
    EXPECT_TRUE(info.sealed || c.options.fingerprint == FingerprintType::kNone);
    nchunks += info.nchunks;
    const auto buffer = frame->snapshot().ToBuffer();
    ASSERT_TRUE(IsOk(buffer));
    SCOPED_TRACE("buffer");
    ExpectPeerReads(PeerFrame::OpenBuffer(*buffer), c, random);
    if (HasFailure()) return;
  }
  std::filesystem::remove(path);
  Report("frames_written_by_cairn", test::SearchRuns(kWrittenFrames));
  Report("chunks_in_them", nchunks);
}

std::string FileText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void EditByCairn(const std::string& path, Random& random, FrameCase* c) {
  auto frame = Frame::Open(path);
  ASSERT_TRUE(IsOk(frame));
  auto writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  absl::Status status = EditAtRandom(&*writer, random, c);
  ASSERT_TRUE(IsOk(status));
  status = HandOver(*writer);
  ASSERT_TRUE(IsOk(status));
}

TEST(Blosc2FrameTest, BothEditOneFrameInTurn) {
  const std::string path = FreshPath("both");
  Random random(2);
  for (int i = 0; i < test::SearchRuns(kEditedFrames); ++i) {
    std::filesystem::remove(path);
    FrameCase c = MakeEditableFrameCase(random);
    SCOPED_TRACE(testing::Message() << "case " << i << ": " << c);
    const absl::Status status = WriteFrame(path, random, &c);
    ASSERT_TRUE(IsOk(status));
    for (int turn = 0; turn < 2; ++turn) {
      SCOPED_TRACE(testing::Message() << "turn " << turn);
      const std::string before = FileText(path);
      EditByPeer(path, random, &c);
      if (HasFailure()) return;
      // A metalayer that reads the same backwards is not a change.
      const bool changed = FileText(path) != before;
      ExpectPeerReadsFile(path, c, random);
      ExpectCairnReads(path, c);
      const auto edited = Frame::Open(path);
      ASSERT_TRUE(IsOk(edited));
      if (changed) {
        EXPECT_FALSE(edited->snapshot().info().sealed);
      }
      EditByCairn(path, random, &c);
      if (HasFailure()) return;
      ExpectCairnReads(path, c);
      ExpectPeerReadsFile(path, c, random);
      if (HasFailure()) return;
    }
  }
  std::filesystem::remove(path);
  Report("frames_edited_in_turn", test::SearchRuns(kEditedFrames));
}

TEST(Blosc2FrameTest, CairnGoesOnInFramesOfThePeer) {
  const std::string path = FreshPath("both");
  Random random(3);
  for (int i = 0; i < kForeignFrames; ++i) {
    std::filesystem::remove(path);
    FrameCase c = MakeEditableFrameCase(random);
    SCOPED_TRACE(testing::Message() << "case " << i << ": " << c);
    CreateByPeer(path, random, &c);
    if (HasFailure()) return;
    ExpectPeerReadsFile(path, c, random);
    ExpectCairnReads(path, c);
    EditByCairn(path, random, &c);
    if (HasFailure()) return;
    ExpectCairnReads(path, c);
    ExpectPeerReadsFile(path, c, random);
    if (HasFailure()) return;
  }
  std::filesystem::remove(path);
  Report("frames_created_by_the_peer", kForeignFrames);
}

TEST(Blosc2FrameTest, PeerAppendsToAFrameOfOneShortChunk) {
  const std::string path = FreshPath("short");
  const Buffer first(3000, std::byte{7});
  CreateOptions options;
  options.chunksize = 4000;
  options.overwrite = true;
  for (const size_t size : {size_t{100}, size_t{3000}, size_t{5000}}) {
    SCOPED_TRACE(testing::Message() << "append of " << size);
    auto writer = Frame::BeginCreate(path, options);
    ASSERT_TRUE(IsOk(writer));
    ASSERT_TRUE(IsOk(writer->Append(first)));
    ASSERT_TRUE(IsOk(HandOver(*writer)));
    const auto frame = Frame::Open(path);
    ASSERT_TRUE(IsOk(frame));
    EXPECT_EQ(frame->snapshot().info().chunksize, 4000);
    EXPECT_TRUE(frame->snapshot().info().sealed);

    const Buffer second(size, std::byte{9});
    auto peer = PeerFrame::Open(path);
    ASSERT_TRUE(peer.has_value());
    ASSERT_TRUE(peer->Append(second));
    peer.reset();

    const auto edited = Frame::Open(path);
    ASSERT_TRUE(IsOk(edited));
    Buffer expected(first.size() + size, std::byte{9});
    std::ranges::copy(first, expected.begin());
    Buffer content(expected.size());
    ASSERT_EQ(edited->snapshot().info().nbytes, static_cast<int64_t>(expected.size()));
    ASSERT_TRUE(edited->snapshot().ReadBytes(0, content).ok());
    EXPECT_EQ(content, expected);
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace cairn::interop
