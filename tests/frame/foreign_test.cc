// Frames that another Blosc2 changed after Cairn sealed them, and frames in odd places.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/format/frame_header.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

// The places of these values in the header, after their markers.
constexpr int64_t kNbytesOffset = 0x1E;
constexpr size_t kThreadsOffset = 0x3F;

class ForeignTest : public testing::Test {
 protected:
  // Three chunks, a metalayer and a vlmetalayer, by three commits.
  void SetUp() override {
    CreateOptions options = PlainCopies(kSmallChunk);
    options.metalayers = {{.name = "m", .content = ToVector(AsBytes("before"))}};
    ASSERT_TRUE(
        IsOk(WriteFrame(path_, options, Bytes(all_).first(kSmallChunk), {{"note", "text"}})));
    ASSERT_TRUE(IsOk(AppendTo(path_, Bytes(all_).subspan(kSmallChunk, kSmallChunk))));
    ASSERT_TRUE(IsOk(AppendTo(path_, Bytes(all_).subspan(2 * kSmallChunk, kSmallChunk))));
    file_ = FileBytes(path_);
    ASSERT_TRUE(Open().snapshot().info().sealed);
  }
  Frame Open() const {
    auto frame = Frame::Open(path_);
    EXPECT_TRUE(IsOk(frame));
    return *std::move(frame);
  }
  // A map would show what others change in place.
  Frame OpenWithoutMap() const { return *Frame::Open(path_, {.use_mmap = false}); }
  // Puts file_ on the disk.
  void Put() const { PutFileBytes(path_, file_); }
  // No damage, but no seal, and a note that says why.
  static void ExpectUnsealed(const Snapshot& snapshot, std::string_view why) {
    EXPECT_FALSE(snapshot.info().sealed);
    const auto report = snapshot.Verify();
    ASSERT_TRUE(IsOk(report));
    EXPECT_TRUE(report->ok());
    EXPECT_FALSE(report->sealed);
    ASSERT_EQ(report->notes.size(), 1u);
    EXPECT_NE(report->notes[0].find(why), std::string::npos) << report->notes[0];
  }
  void ExpectContent(const Snapshot& snapshot, size_t size, std::string_view metalayer) const {
    const auto content = FullContentOf(snapshot);
    ASSERT_TRUE(IsOk(content));
    EXPECT_TRUE(std::ranges::equal(content->data, Bytes(all_).first(size)));
    EXPECT_EQ(content->metalayers.at("m"), metalayer);
    EXPECT_EQ(content->vlmetalayers.at("note"), "text");
  }
  // Goes on with a writer that was suspended, whose frame has these layers by now.
  void ExpectBuildsUpon(Writer& writer, std::string_view metalayer, std::string_view note) const {
    ASSERT_TRUE(IsOk(writer.Resume()));
    const absl::StatusOr<Snapshot> staged = writer.StagedSnapshot();
    ASSERT_TRUE(IsOk(staged));
    EXPECT_EQ(AsText(*staged->GetMetalayer("m")), metalayer);
    ASSERT_TRUE(IsOk(writer.Append(Bytes(all_).first(kSmallChunk))));
    ASSERT_TRUE(IsOk(writer.Checkpoint()));
    const auto content = FullContentOf(Open().snapshot());
    ASSERT_TRUE(IsOk(content));
    EXPECT_EQ(content->metalayers.at("m"), metalayer);
    EXPECT_EQ(content->vlmetalayers.at("note"), note);
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  const Buffer all_ = MakeNoise(5 * kSmallChunk, 1);
  Buffer file_;
};

TEST_F(ForeignTest, TrailerWithoutFingerprintIsReadAndNotSealed) {
  DropFingerprint(file_);
  Put();
  const Snapshot snapshot = Open().snapshot();
  EXPECT_EQ(snapshot.info().fingerprint, FingerprintType::kNone);
  EXPECT_EQ(snapshot.info().generation, 3u);
  EXPECT_FALSE(snapshot.GetEntry(0)->fingerprint.has_value());
  ExpectContent(snapshot, 3 * kSmallChunk, "before");
  ExpectUnsealed(snapshot, "after generation 3");
}

TEST_F(ForeignTest, FrameOfOneShortChunkKeepsItsChunksizeWhenOthersChangeMetadata) {
  CreateOptions options = PlainCopies(4096);
  options.overwrite = true;
  ASSERT_TRUE(IsOk(WriteFrame(path_, options, Bytes(all_).first(10))));
  file_ = FileBytes(path_);
  DropFingerprint(file_);
  Put();
  EXPECT_EQ(Open().snapshot().info().chunksize, 4096);
  ASSERT_TRUE(IsOk(AppendTo(path_, Bytes(all_).subspan(10, 100))));
  EXPECT_EQ(Open().snapshot().info().nchunks, 1);
}

TEST_F(ForeignTest, NextCommitGoesOnFromTheStaleSealAndCoversNewChunksOnly) {
  DropFingerprint(file_);
  Put();
  ASSERT_TRUE(IsOk(AppendTo(path_, Bytes(all_).subspan(3 * kSmallChunk, kSmallChunk))));
  const Snapshot snapshot = Open().snapshot();
  EXPECT_EQ(snapshot.info().generation, 4u);
  EXPECT_EQ(snapshot.info().fingerprint, FingerprintType::k64Bit);
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(snapshot.GetEntry(i)->fingerprint.has_value(), i == 3) << i;
  }
  ExpectContent(snapshot, 4 * kSmallChunk, "before");
  ExpectUnsealed(snapshot, "3 chunks");
}

TEST_F(ForeignTest, ChunksThatTheNextCommitCoversAreChecked) {
  DropFingerprint(file_);
  Put();
  ASSERT_TRUE(IsOk(AppendTo(path_, Bytes(all_).subspan(3 * kSmallChunk, kSmallChunk))));
  file_ = FileBytes(path_);
  for (int64_t i = 2; i < 4; ++i) {
    file_[static_cast<size_t>(Open().snapshot().GetEntry(i)->offset.value()) + 40] ^= std::byte{1};
  }
  Put();
  const auto report = Open().snapshot().Verify();
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_EQ(report->findings[0].section, "chunk 3");
}

TEST_F(ForeignTest, ChangedMetalayersAndThreadCountsAreNoDamage) {
  const size_t at = AsText(file_).find("before");
  ASSERT_LT(at, static_cast<size_t>(PartsOf(file_).header_len));
  CopyBytes(AsBytes("behind"), MutableBytes(file_).subspan(at));
  StoreBe(file_.data() + kThreadsOffset, uint16_t{8});
  Put();
  const Snapshot snapshot = Open().snapshot();
  ExpectContent(snapshot, 3 * kSmallChunk, "behind");
  EXPECT_TRUE(snapshot.GetEntry(0)->fingerprint.has_value());
  ExpectUnsealed(snapshot, "changed the metalayer m");
  EXPECT_EQ(snapshot.info().changed_metalayers, std::vector<std::string>{"m"});
  // Nothing but the header is new, so the next commit seals it all.
  ASSERT_TRUE(IsOk(AppendTo(path_, Bytes(all_).subspan(3 * kSmallChunk))));
  EXPECT_TRUE(Open().snapshot().info().sealed);
  EXPECT_TRUE(Open().snapshot().Verify()->ok());
  ExpectContent(Open().snapshot(), 5 * kSmallChunk, "behind");
}

// Each leaves the size of the frame, and so what most of the header says, as it was.
TEST_F(ForeignTest, WriterThatWasSuspendedBuildsUponChangesInPlace) {
  for (const bool in_header : {true, false}) {
    SCOPED_TRACE(in_header);
    Frame frame = OpenWithoutMap();
    Writer writer = *frame.OpenWriter();
    ASSERT_TRUE(IsOk(writer.SetVlmetalayer("note", AsBytes("text"))));
    ASSERT_TRUE(IsOk(writer.Checkpoint()));
    ASSERT_TRUE(IsOk(writer.Suspend()));
    file_ = FileBytes(path_);
    file_.resize(static_cast<size_t>(PartsOf(file_).frame_size));
    if (in_header) {
      CopyBytes(AsBytes("behind"), MutableBytes(file_).subspan(AsText(file_).find("before")));
    } else {
      const size_t at = AsText(file_).rfind("text");
      ASSERT_GT(at, static_cast<size_t>(PartsOf(file_).trailer_begin));
      CopyBytes(AsBytes("next"), MutableBytes(file_).subspan(at));
      DropFingerprint(file_);
    }
    Put();
    ExpectBuildsUpon(writer, "behind", in_header ? "text" : "next");
  }
}

// Nothing in a checkpoint that another Blosc2 wrote tells that it was changed in place again.
TEST_F(ForeignTest, WriterThatWasSuspendedBuildsUponTheSecondChangeInPlace) {
  DropFingerprint(file_);
  Put();
  Frame frame = OpenWithoutMap();
  Writer writer = *frame.OpenWriter();
  ASSERT_TRUE(IsOk(writer.Suspend()));
  CopyBytes(AsBytes("next"), MutableBytes(file_).subspan(AsText(file_).rfind("text")));
  Put();
  ExpectBuildsUpon(writer, "before", "next");
}

TEST_F(ForeignTest, AnotherSizeInTheHeaderIsDamage) {
  StoreBe(file_.data() + kNbytesOffset, uint64_t{3 * kSmallChunk - 1});
  Put();
  const absl::Status status = Frame::Open(path_).status();
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_NE(std::string(status.message()).find("frame header"), std::string::npos) << status;
}

TEST_F(ForeignTest, GarbageAfterTheFrameHarmsNothing) {
  const Buffer garbage = MakeNoise(1000, 9);
  file_.insert(file_.end(), garbage.begin(), garbage.end());
  Put();
  ExpectContent(Open().snapshot(), 3 * kSmallChunk, "before");
  EXPECT_TRUE(Open().snapshot().info().sealed);
  ASSERT_TRUE(IsOk(AppendTo(path_, Bytes(all_).subspan(3 * kSmallChunk))));
  ExpectContent(Open().snapshot(), 5 * kSmallChunk, "before");
  EXPECT_TRUE(Open().snapshot().Verify()->ok());
  EXPECT_EQ(static_cast<int64_t>(FileBytes(path_).size()), Open().snapshot().info().frame_size);
}

TEST_F(ForeignTest, FrameInsideALargerFileIsReadOnly) {
  constexpr size_t kOffset = 37;
  const Buffer frame = file_;
  file_ = MakeNoise(kOffset, 8);
  file_.insert(file_.end(), frame.begin(), frame.end());
  file_.resize(file_.size() + 100);
  Put();
  for (const bool use_mmap : {true, false}) {
    auto opened = Frame::Open(path_, {.offset = kOffset, .use_mmap = use_mmap});
    ASSERT_TRUE(IsOk(opened));
    ExpectContent(opened->snapshot(), 3 * kSmallChunk, "before");
    EXPECT_TRUE(opened->snapshot().Verify()->ok());
    EXPECT_EQ(opened->snapshot().ToBuffer().value(), frame);
    EXPECT_TRUE(absl::IsFailedPrecondition(opened->OpenWriter().status()));
  }
  EXPECT_EQ(FileBytes(path_), file_);
  EXPECT_FALSE(Frame::Open(path_).ok());
}

TEST_F(ForeignTest, HeaderOfOneShortChunkSaysThatChunksSize) {
  const std::string path = dir_.Path("short");
  ASSERT_TRUE(IsOk(WriteFrame(path, PlainCopies(kSmallChunk), Bytes(all_).first(10))));
  EXPECT_EQ(format::ParseFrameHeader(FileBytes(path))->chunksize, 10);
  EXPECT_EQ(Frame::Open(path)->snapshot().info().chunksize, kSmallChunk);
  EXPECT_TRUE(Frame::Open(path)->snapshot().Verify()->ok());
  // The header can give the chunksize once there is a second chunk.
  ASSERT_TRUE(IsOk(AppendTo(path, Bytes(all_).subspan(10, kSmallChunk))));
  EXPECT_EQ(format::ParseFrameHeader(FileBytes(path))->chunksize, kSmallChunk);
  EXPECT_EQ(Frame::Open(path)->snapshot().info().nchunks, 2);
  EXPECT_TRUE(std::ranges::equal(DataOf(Frame::Open(path)->snapshot()).value(),
                                 Bytes(all_).first(10 + kSmallChunk)));
}

}  // namespace
}  // namespace cairn::test
