// Frames with bytes that lie, and whose hashes are right nevertheless: the author of a frame can
// compute them.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/chunk/header.h"
#include "engine/frame/api/handle_access.h"
#include "engine/frame/state/state.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frame_repair.h"
#include "tests/support/frames.h"
#include "tests/support/search.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

constexpr int32_t kTypesize = 4;
constexpr int32_t kChunksize = 32;

// Bytes may be refused for no other reason.
bool IsAnswer(const absl::Status& status) {
  return status.ok() || absl::IsDataLoss(status) || absl::IsUnimplemented(status) ||
         absl::IsResourceExhausted(status);
}

class ResealedTest : public testing::Test {
 protected:
  // A stored chunk, one of the index alone, a short one, and two checkpoints.
  Buffer SealedFrame() {
    CreateOptions options = Cut(kTypesize, kChunksize);
    options.metalayers = {{"unit", ToVector(AsBytes("K"))}};
    options.file_system = Unowned(&files_);
    auto frame = Frame::Create(path_, options);
    EXPECT_TRUE(IsOk(frame));
    auto writer = frame->OpenWriter();
    EXPECT_TRUE(IsOk(writer->Append(MakeItems(kChunksize))));
    EXPECT_TRUE(IsOk(writer->SetVlmetalayer("note", AsBytes("fine"))));
    EXPECT_TRUE(IsOk(writer->Checkpoint()));
    EXPECT_TRUE(IsOk(writer->AppendSpecial(SpecialValue::kZeros, kChunksize / kTypesize)));
    EXPECT_TRUE(IsOk(writer->Append(MakeItems(kTypesize))));
    EXPECT_TRUE(IsOk(writer->Close()));
    return FileBytes(path_);
  }
  OpenOptions Options() {
    OpenOptions options;
    options.limits.max_chunk_nbytes = 1 << 20;
    options.file_system = Unowned(&files_);
    return options;
  }

  void Read(const Frame& frame) {
    const Snapshot snapshot = frame.snapshot();
    const absl::StatusOr<FrameContent> content = FullContentOf(snapshot);
    EXPECT_TRUE(IsAnswer(content.status())) << content.status();
    const absl::StatusOr<VerifyReport> report = snapshot.Verify();
    EXPECT_TRUE(IsAnswer(report.status())) << report.status();
    if (report.ok() && report->ok() && report->notes.empty()) {
      EXPECT_TRUE(IsOk(content)) << "what is verified can be read";
    }
    EXPECT_TRUE(IsAnswer(frame.History().status()));
  }
  void ReadBuffer(Bytes bytes) {
    OpenOptions options = Options();
    options.file_system = nullptr;
    const absl::StatusOr<Frame> frame = Frame::OpenBuffer(bytes, options);
    EXPECT_TRUE(IsAnswer(frame.status())) << frame.status();
    if (frame.ok()) Read(*frame);
  }
  void GoOn(Bytes bytes) {
    // A file that is cut to nothing and written again would be flushed.
    std::filesystem::remove(path_);
    PutFileBytes(path_, bytes);
    absl::StatusOr<Frame> frame = Frame::Open(path_, Options());
    if (!frame.ok()) return;
    absl::StatusOr<Writer> writer = frame->OpenWriter();
    if (!writer.ok()) return;
    const int64_t nbytes = writer->StagedSnapshot()->info().nbytes;
    const Buffer item(static_cast<size_t>(writer->StagedSnapshot()->info().typesize) % 256);
    if (!writer->Append(item).ok() || !writer->Commit(Durability::kProcess).ok()) return;
    if (!writer->Close().ok()) return;
    const absl::StatusOr<Frame> after = Frame::Open(path_, Options());
    ASSERT_TRUE(IsOk(after)) << "what a writer closed opens";
    EXPECT_EQ(after->snapshot().info().nbytes, nbytes + std::ssize(item));
    Read(*after);
  }

  const TempDir dir_;
  const std::string path_ = dir_.Path("f");
  UnsyncedFileSystem files_;
};

TEST_F(ResealedTest, RepairingChangesNothingInASoundFrame) {
  const Buffer sealed = SealedFrame();
  Buffer repaired = sealed;
  RepairFrameSize(repaired);
  RepairSeal(repaired);
  EXPECT_EQ(repaired, sealed);
}

TEST_F(ResealedTest, EveryByteMayLie) {
  const Buffer sealed = SealedFrame();
  int opened = 0;
  for (size_t at = 0; at < sealed.size(); at += kTryEach) {
    // These values are one bit away, and the largest ones with a sign and without.
    for (const std::byte value : {sealed[at] ^ std::byte{1}, std::byte{0x7F}, std::byte{0xFF}}) {
      SCOPED_TRACE(absl::StrFormat("byte %d is 0x%02x", at, std::to_integer<int>(value)));
      Buffer lying = sealed;
      lying[at] = value;
      if (lying == sealed) continue;
      RepairSeal(lying);
      ReadBuffer(lying);
      GoOn(lying);
      if (HasFailure()) return;
      opened += Frame::OpenBuffer(lying).ok() ? 1 : 0;
    }
  }
  // Hashes alone would have refused nearly all of them.
  EXPECT_GT(opened, std::ssize(sealed) / kTryEach);
}

// Writes a number of the header into a frame.
void PutInHeader(const std::string& path, size_t at, int64_t number) {
  Buffer frame = FileBytes(path);
  StoreBe(frame.data() + at, static_cast<uint64_t>(number));
  RepairSeal(frame);
  PutFileBytes(path, frame);
}

TEST_F(ResealedTest, ChunksOfAFrameThatClaimsAllBytesThereAreDoNotGrow) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, Cut(1, ChunkSize::Variable()), MakeItems(10))));
  PutInHeader(path_, 0x1E, INT64_MAX);
  auto writer = Frame::Open(path_)->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  EXPECT_FALSE(writer->UpdateChunk(0, MakeItems(20)).ok());
  EXPECT_FALSE(writer->UpdateChunk(0, Compressed(MakeItems(20), OfTypesize(1))).ok());
  EXPECT_FALSE(writer->Append(MakeItems(20)).ok());
}

TEST_F(ResealedTest, SparseFrameThatClaimsAllBytesThereAreTakesMore) {
  CreateOptions options = Cut(1, kChunksize);
  options.layout = Layout::kSparse;
  Buffer items = MakeItems(kChunksize);
  ASSERT_TRUE(IsOk(WriteFrame(path_, options, items)));
  PutInHeader(path_ + "/chunks.b2frame", 0x27, INT64_MAX);
  const Buffer index = FileBytes(path_ + "/chunks.b2frame");
  for (const bool more : {false, true}) {
    PutFileBytes(path_ + "/chunks.b2frame", index);
    if (more) {
      ASSERT_TRUE(IsOk(AppendTo(path_, items)));
      AddTo(items, Buffer(items));
    }
    auto frame = Frame::Open(path_);
    ASSERT_TRUE(IsOk(frame));
    EXPECT_EQ(ContentOf(frame->snapshot()), items);
    const absl::StatusOr<CompactReport> report = frame->Compact();
    ASSERT_TRUE(IsOk(report));
    EXPECT_GT(report->size_before, std::ssize(items));
    EXPECT_LT(report->size_before, 10'000);
    EXPECT_EQ(ContentOf(Frame::Open(path_)->snapshot()), items);
  }
}

// A reader of the checkpoint before keeps what is said to be dead.
TEST_F(ResealedTest, DeadBytesAfterTheEndOfTheFileKeepNoCheckpointAway) {
  Buffer data = MakeNoise(kChunksize, 1);
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(kChunksize), data)));
  auto reader = Frame::Open(path_);
  ASSERT_TRUE(IsOk(reader));
  const Snapshot held = reader->snapshot();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(IsOk(AppendTo(path_, data)));
    AddTo(data, Buffer(data));
  }
  Buffer frame = FileBytes(path_);
  int64_t end = 0;
  EditSeal(frame, [&](format::Seal& seal) {
    const size_t size = format::EncodeSeal(seal).size();
    std::vector<format::DeadExtent>& dead = seal.space.dead;
    ASSERT_GT(dead.size(), 1);
    // The seal has to stay as long as it is.
    dead.erase(dead.begin());
    Extent& bytes = dead.back().bytes;
    while (format::EncodeSeal(seal).size() < size) bytes.end += bytes.size();
    end = bytes.end;
  });
  ASSERT_GT(end, int64_t{1} << 32);
  PutFileBytes(path_, frame);
  const Buffer more = MakeNoise(kChunksize, 2);
  ASSERT_TRUE(IsOk(AppendTo(path_, more)));
  AddTo(data, more);
  ExpectHolds(Frame::Open(path_)->snapshot(), data);
}

TEST_F(ResealedTest, ChunksThatShareTheirBytesDieWithoutHarm) {
  ASSERT_TRUE(IsOk(WriteFrame(path_, PlainCopies(kChunksize), MakeNoise(3 * kChunksize, 1))));
  const absl::StatusOr<Frame> opened = Frame::Open(path_);
  ASSERT_TRUE(IsOk(opened));
  const auto& index = frame::HandleAccess::StateOf(opened->snapshot()).checkpoint->index;
  Buffer bytes = FileBytes(path_);
  // The index of so few chunks is not compressed: the second chunk lies where the first one does,
  // the third one a little further.
  std::byte* const entries = bytes.data() + index.begin + chunk::kHeaderSize;
  ASSERT_EQ(LoadLe<uint64_t>(entries), 0U);
  StoreLe(entries + 8, uint64_t{0});
  RepairSeal(bytes);
  PutFileBytes(path_, bytes);
  for (int i = 0; i < 3; ++i) {
    auto writer = Frame::Open(path_)->OpenWriter();
    ASSERT_TRUE(IsOk(writer));
    const Buffer items = MakeNoise(kChunksize, static_cast<uint64_t>(i));
    for (int64_t nchunk : {0, 1}) ASSERT_TRUE(IsOk(writer->UpdateChunk(nchunk, items)));
    ASSERT_TRUE(IsOk(writer->Checkpoint()));
    ASSERT_TRUE(IsOk(writer->Close()));
    EXPECT_TRUE(IsOk(Frame::Open(path_)->snapshot().Verify()));
  }
}

}  // namespace
}  // namespace cairn::test
