// Files made to waste time: what they cost grows no faster than they do.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "cairn/recover.h"
#include "engine/base/endian.h"
#include "engine/base/hash.h"
#include "engine/chunk/special.h"
#include "engine/format/index_entry.h"
#include "tests/support/bytes.h"
#include "tests/support/cost.h"
#include "tests/support/counting_file_system.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"

namespace cairn::test {
namespace {

// Positions in the header of a frame.
constexpr size_t kFrameSizeAt = 0x10;
constexpr size_t kNbytesAt = 0x1E;
constexpr size_t kCbytesAt = 0x27;

// Variable chunks, unsealed.
CreateOptions VariableChunks(Layout layout) {
  CreateOptions options = Cut(1, ChunkSize::Variable());
  options.fingerprint = FingerprintType::kNone;
  options.layout = layout;
  return options;
}

// The frame with other chunks, which `area` holds, and another index.
Buffer WithIndex(const Buffer& model, Bytes area, const std::vector<int64_t>& entries,
                 int64_t nbytes) {
  const FrameParts parts = PartsOf(model);
  chunk::WorkspacePool pool;
  Buffer frame(model.begin(), model.begin() + parts.header_len);
  AddTo(frame, area);
  AddTo(frame, format::EncodeIndex(entries, &pool).value());
  AddTo(frame, Bytes(model).subspan(static_cast<size_t>(parts.trailer_begin)));
  StoreBe<uint64_t>(frame.data() + kFrameSizeAt, frame.size());
  StoreBe<uint64_t>(frame.data() + kNbytesAt, static_cast<uint64_t>(nbytes));
  StoreBe<uint64_t>(frame.data() + kCbytesAt, area.size());
  return frame;
}

// A frame whose chunks `area` holds at these places.
Buffer FrameOf(Bytes area, const std::vector<int64_t>& places, int64_t nbytes) {
  const TempDir dir;
  EXPECT_TRUE(IsOk(WriteFrame(dir.Path("f"), VariableChunks(Layout::kContiguous), MakeItems(100))));
  return WithIndex(FileBytes(dir.Path("f")), area, places, nbytes);
}

// Every chunk is a memcpyed chunk of all that follows its header, the headers of the others with
// it.
Buffer NestedChunks(int64_t count) {
  constexpr int64_t kHeader = 32;
  Buffer area = chunk::MemcpyedChunk(Buffer(static_cast<size_t>(count * kHeader)));
  std::vector<int64_t> places;
  int64_t nbytes = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t size = std::ssize(area) - i * kHeader;
    std::copy_n(chunk::MemcpyedChunk(Buffer(static_cast<size_t>(size - kHeader))).begin(), kHeader,
                area.begin() + i * kHeader);
    places.push_back(i * kHeader);
    nbytes += size - kHeader;
  }
  return FrameOf(area, places, nbytes);
}

// As many entries as the frame may have, all of one chunk.
Buffer OneChunkManyTimes(int64_t size) {
  const Buffer area = chunk::MemcpyedChunk(MakeNoise(static_cast<size_t>(size)));
  const int64_t count = std::ssize(area) / 16;
  return FrameOf(area, std::vector<int64_t>(static_cast<size_t>(count)), count * size);
}

// Makes all chunks of a sparse frame the same file.
void PutOneFileManyTimes(const std::string& path, int64_t size, int64_t count) {
  EXPECT_TRUE(IsOk(
      WriteFrame(path, VariableChunks(Layout::kSparse), MakeNoise(static_cast<size_t>(size)))));
  const int64_t file = Frame::Open(path)->snapshot().GetEntry(0)->file.value();
  const std::string index = path + "/chunks.b2frame";
  Buffer bytes =
      WithIndex(FileBytes(index), {}, std::vector(static_cast<size_t>(count), file), count * size);
  StoreBe<uint64_t>(bytes.data() + kCbytesAt, static_cast<uint64_t>(count * size));
  PutFileBytes(index, bytes);
}

// Verify reads no more than five times what there is.
void ExpectOverlapIsFound(const absl::StatusOr<Frame>& frame, int64_t nbytes) {
  ASSERT_TRUE(IsOk(frame));
  for (const VerifyDepth depth : {VerifyDepth::kFingerprints, VerifyDepth::kContents}) {
    const absl::StatusOr<VerifyReport> report = frame->snapshot().Verify({.depth = depth});
    ASSERT_TRUE(IsOk(report));
    ASSERT_EQ(report->findings.size(), 1u);
    EXPECT_TRUE(absl::StrContains(report->findings[0].reason, "overlap"));
    EXPECT_LE(report->bytes_read, 5 * nbytes);
  }
  EXPECT_TRUE(frame->snapshot().Verify({.depth = VerifyDepth::kStructure})->ok());
}

TEST(CostsTest, ChunksWithinChunksAreNotReadAgainAndAgain) {
  const Buffer bytes = NestedChunks(1000);
  ExpectOverlapIsFound(Frame::OpenBuffer(bytes), std::ssize(bytes));
}

TEST(CostsTest, OneChunkOfManyEntriesIsNotReadAgainAndAgain) {
  const Buffer bytes = OneChunkManyTimes(20'000);
  ExpectOverlapIsFound(Frame::OpenBuffer(bytes), std::ssize(bytes));
}

TEST(CostsTest, OneFileOfManyEntriesIsNotReadAgainAndAgain) {
  const TempDir dir;
  PutOneFileManyTimes(dir.Path("f"), 20'000, 1000);
  ExpectOverlapIsFound(Frame::Open(dir.Path("f")), 21'000);
}

// What `read` takes from the files of a frame that is read without a map.
int64_t BytesCopiedBy(const std::string& path, const std::function<void(const Snapshot&)>& read) {
  CountingFileSystem files;
  const auto frame = Frame::Open(path, {.use_mmap = false, .file_system = Unowned(&files)});
  EXPECT_TRUE(IsOk(frame));
  const int64_t before = files.reading().bytes;
  read(frame->snapshot());
  return files.reading().bytes - before;
}

TEST(CostsTest, ChunksWithinChunksAreNotCopiedAgainAndAgain) {
  const TempDir dir;
  constexpr int64_t kCount = 1000;
  const Buffer bytes = NestedChunks(kCount);
  PutFileBytes(dir.Path("f"), bytes);
  for (const VerifyDepth depth : {VerifyDepth::kStructure, VerifyDepth::kFingerprints}) {
    const int64_t copied = BytesCopiedBy(dir.Path("f"), [&](const Snapshot& snapshot) {
      EXPECT_TRUE(IsOk(snapshot.Verify({.depth = depth})));
    });
    EXPECT_LE(copied, 6 * std::ssize(bytes) + 200 * kCount);
  }
}

TEST(CostsTest, FileIsNotCopiedForItsHeader) {
  const TempDir dir;
  constexpr int64_t kCount = 1000;
  constexpr int64_t kSize = 20'000;
  PutOneFileManyTimes(dir.Path("f"), kSize, kCount);
  const int64_t copied = BytesCopiedBy(dir.Path("f"), [&](const Snapshot& snapshot) {
    std::byte last;
    EXPECT_TRUE(IsOk(snapshot.ReadBytes(kCount * kSize - 1, {&last, 1})));
  });
  EXPECT_LE(copied, 3 * kSize + 200 * kCount);
}

TEST(CostsTest, CopiesAndCompactDoNotMultiplyAFile) {
  const TempDir dir;
  PutOneFileManyTimes(dir.Path("f"), 20'000, 1000);
  auto frame = Frame::Open(dir.Path("f"));
  EXPECT_TRUE(IsDamage(frame->snapshot().ToBuffer().status(), "overlap"));
  EXPECT_TRUE(IsDamage(frame->Compact().status(), "overlap"));
}

TEST(CostsTest, FilesInAnyOrderAreNoOverlap) {
  const TempDir dir;
  auto writer = Frame::BeginCreate(dir.Path("f"), VariableChunks(Layout::kSparse));
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(IsOk(writer->InsertChunk(i / 2, MakeNoise(100))));
  }
  EXPECT_TRUE(IsOk(writer->Close()));
  const auto frame = Frame::Open(dir.Path("f"));
  EXPECT_TRUE(frame->snapshot().Verify()->ok());
  EXPECT_TRUE(IsOk(frame->snapshot().ToBuffer()));
}

TEST(CostsTest, CompactDoesNotMultiplyAChunk) {
  const TempDir dir;
  const Buffer bytes = OneChunkManyTimes(20'000);
  PutFileBytes(dir.Path("f"), bytes);
  auto frame = Frame::Open(dir.Path("f"));
  ASSERT_TRUE(IsOk(frame));
  EXPECT_TRUE(IsDamage(frame->Compact().status(), "overlap"));
  EXPECT_EQ(FileBytes(dir.Path("f")), bytes);
}

TEST(CostsTest, ChunksInAnyOrderAreReadInLinearTime) {
  ExpectLinear(10'000, [](int64_t count) {
    const Buffer one = chunk::MemcpyedChunk(Buffer(1));
    Buffer area;
    std::vector<int64_t> places;
    for (int64_t i = 0; i < count; ++i) {
      AddTo(area, one);
      // Far apart, backwards and forwards.
      places.push_back((i * 7919 % count) * std::ssize(one));
    }
    return [bytes = FrameOf(area, places, count)] {
      const Snapshot snapshot = Frame::OpenBuffer(bytes)->snapshot();
      std::byte last;
      EXPECT_TRUE(IsOk(snapshot.ReadBytes(snapshot.info().nbytes - 1, {&last, 1})));
      EXPECT_TRUE(snapshot.Verify()->ok());
    };
  });
}

TEST(CostsTest, ChunksThatOnlyTheIndexHoldsCostNoMoreThanTheirEntries) {
  // Each claims as much as a chunk may have.
  constexpr int32_t kClaimed = kMaxChunkBytes / 2;
  ExpectLinear(10'000, [](int64_t count) {
    const auto dir = std::make_shared<TempDir>();
    auto writer = Frame::BeginCreate(dir->Path("f"), Cut(1, kClaimed));
    for (int64_t i = 0; i < count; ++i) {
      // The two kinds alternate, so that no two chunks are one run.
      const SpecialValue kind = i % 2 == 0 ? SpecialValue::kZeros : SpecialValue::kUninit;
      EXPECT_TRUE(IsOk(writer->AppendSpecial(kind, kClaimed)));
    }
    EXPECT_TRUE(IsOk(writer->Close()));
    return [=] {
      const auto frame = Frame::Open(dir->Path("f"));
      ASSERT_TRUE(IsOk(frame));
      const Snapshot snapshot = frame->snapshot();
      EXPECT_EQ(snapshot.info().nbytes, count * kClaimed);
      EXPECT_TRUE(snapshot.Verify()->ok());
      std::byte one{1};
      for (int64_t i = 0; i < count; ++i) {
        EXPECT_TRUE(IsOk(snapshot.ReadBytes(i * kClaimed + kClaimed / 2, {&one, 1})));
        EXPECT_EQ(one, std::byte{0});
      }
    };
  });
}

TEST(CostsTest, ItemsOfAChunkThatIsGoneOnWithAreGatheredInLinearTime) {
  ExpectLinear(1000, [](int64_t count) {
    // All items are one block. Later ones wait in the journal.
    const int64_t size = 100 * count;
    CreateOptions options = Cut(1, static_cast<int32_t>(2 * size));
    options.compression.blocksize = *options.chunksize.nbytes();
    const auto dir = std::make_shared<TempDir>();
    Buffer items = MakeItems(static_cast<size_t>(size));
    EXPECT_TRUE(IsOk(WriteFrame(dir->Path("f"), options, items)));
    auto frame = std::make_shared<Frame>(*Frame::Open(dir->Path("f")));
    auto writer = std::make_shared<Writer>(*frame->OpenWriter());
    EXPECT_TRUE(IsOk(writer->Append(MakeNoise(100))));
    AddTo(items, MakeNoise(100));
    EXPECT_TRUE(IsOk(writer->Commit()));
    EXPECT_GT(writer->StagedSnapshot()->info().journal_size, 0);
    return [=] {
      std::vector<int64_t> wanted;
      for (int64_t i = 0; i <= count; ++i) wanted.push_back(i * (size + 99) / count);
      Buffer gathered(wanted.size());
      ASSERT_TRUE(IsOk(frame->snapshot().ReadItemsAt(wanted, gathered)));
      for (size_t i = 0; i < wanted.size(); ++i) {
        ASSERT_EQ(gathered[i], items[static_cast<size_t>(wanted[i])]) << wanted[i];
      }
    };
  });
}

TEST(CostsTest, FilesThatAreMissingAreFoundMissingInLinearTime) {
  ExpectLinear(100, [](int64_t count) {
    const auto dir = std::make_shared<TempDir>();
    CreateOptions options = PlainCopies(10);
    options.layout = Layout::kSparse;
    EXPECT_TRUE(
        IsOk(WriteFrame(dir->Path("f"), options, MakeItems(static_cast<size_t>(10 * count)))));
    for (const std::string& name : NamesIn(dir->Path("f"))) {
      if (name.ends_with(".chunk")) std::filesystem::remove(dir->Path("f") + "/" + name);
    }
    return [=] {
      const auto frame = Frame::Open(dir->Path("f"));
      ASSERT_TRUE(IsOk(frame));
      EXPECT_EQ(std::ssize(frame->snapshot().Verify()->findings), count);
    };
  });
}

TEST(CostsTest, FileOfLookalikesOfChunksIsSalvagedOrGivenUpInLinearTime) {
  ExpectLinear(40'000, [](int64_t count) {
    const auto dir = std::make_shared<TempDir>();
    CompressionOptions compression = OfTypesize(1);
    const Buffer chunk = Compressed(MakeItems(1000), compression);
    Buffer file;
    for (int64_t i = 0; i < count; ++i) {
      // The header claims blocks, and more bytes than there are, so it fails to decode.
      AddTo(file, Bytes(chunk).first(32));
      StoreLe<uint32_t>(file.data() + file.size() - 32 + 0x0C,
                        static_cast<uint32_t>((count - i) * 32));
    }
    PutFileBytes(dir->Path("f"), file);
    return [=] { EXPECT_FALSE(Salvage(dir->Path("f"), dir->Path("to"), {}).ok()); };
  });
}

}  // namespace
}  // namespace cairn::test
