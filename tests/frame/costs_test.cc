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
#include "engine/chunk/plain.h"
#include "engine/format/b2nd.h"
#include "engine/format/index_entry.h"
#include "engine/format/journal.h"
#include "engine/format/seal.h"
#include "engine/frame/frame_core.h"
#include "tests/frame/frame_test_data.h"
#include "tests/frame/small_frames.h"
#include "tests/support/cost.h"
#include "tests/support/counting_file_system.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

// Positions in the header of a frame.
constexpr size_t kFrameSizeAt = 0x10;
constexpr size_t kNbytesAt = 0x1E;
constexpr size_t kCbytesAt = 0x27;

// Variable chunks, unsealed.
CreateOptions VariableChunks(Layout layout) {
  CreateOptions options = Cut(1, CreateOptions::kVariableChunks);
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
  EXPECT_EQ(WriteFrame(dir.Path("f"), VariableChunks(Layout::kContiguous), MakeItems(100)),
            absl::OkStatus());
  return WithIndex(FileBytes(dir.Path("f")), area, places, nbytes);
}

// Every chunk is a plain copy of all that follows its header, the headers of the others with it.
Buffer NestedChunks(int64_t count) {
  constexpr int64_t kHeader = 32;
  Buffer area = chunk::PlainChunk(Buffer(static_cast<size_t>(count * kHeader)));
  std::vector<int64_t> places;
  int64_t nbytes = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t size = std::ssize(area) - i * kHeader;
    std::copy_n(chunk::PlainChunk(Buffer(static_cast<size_t>(size - kHeader))).begin(), kHeader,
                area.begin() + i * kHeader);
    places.push_back(i * kHeader);
    nbytes += size - kHeader;
  }
  return FrameOf(area, places, nbytes);
}

// As many entries as the frame may have, all of one chunk.
Buffer OneChunkManyTimes(int64_t size) {
  const Buffer area = chunk::PlainChunk(MakeNoise(static_cast<size_t>(size)));
  const int64_t count = std::ssize(area) / 16;
  return FrameOf(area, std::vector<int64_t>(static_cast<size_t>(count)), count * size);
}

// The same in a sparse frame: all of one file.
void PutOneFileManyTimes(const std::string& path, int64_t size, int64_t count) {
  EXPECT_EQ(WriteFrame(path, VariableChunks(Layout::kSparse), MakeNoise(static_cast<size_t>(size))),
            absl::OkStatus());
  const int64_t file = Frame::Open(path)->snapshot().GetEntry(0)->file;
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
    const absl::StatusOr<VerifyReport> report = frame->snapshot().Verify(depth);
    ASSERT_TRUE(IsOk(report));
    ASSERT_EQ(report->findings.size(), 1u);
    EXPECT_TRUE(absl::StrContains(report->findings[0].reason, "overlap"));
    EXPECT_LE(report->bytes_read, 5 * nbytes);
  }
  EXPECT_TRUE(frame->snapshot().Verify(VerifyDepth::kStructure)->ok());
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
  const auto frame = Frame::Open(path, {.use_mmap = false, .file_system = &files});
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
      EXPECT_TRUE(IsOk(snapshot.Verify(depth)));
    });
    EXPECT_LE(copied, 6 * std::ssize(bytes) + 200 * kCount);
  }
}

TEST(CostsTest, AFileIsNotCopiedForItsHeader) {
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
  EXPECT_TRUE(IsDamage(frame->ToBuffer().status(), "overlap"));
  EXPECT_TRUE(IsDamage(frame->Compact().status(), "overlap"));
}

TEST(CostsTest, FilesInAnyOrderAreNoOverlap) {
  const TempDir dir;
  auto writer = Frame::Build(dir.Path("f"), VariableChunks(Layout::kSparse));
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(IsOk(writer->InsertChunk(i / 2, MakeNoise(100))));
  }
  EXPECT_TRUE(IsOk(writer->Close()));
  const auto frame = Frame::Open(dir.Path("f"));
  EXPECT_TRUE(frame->snapshot().Verify()->ok());
  EXPECT_TRUE(IsOk(frame->ToBuffer()));
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
    const Buffer one = chunk::PlainChunk(Buffer(1));
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
    auto writer = Frame::Build(dir->Path("f"), Cut(1, kClaimed));
    for (int64_t i = 0; i < count; ++i) {
      // One after the other in kinds, so that no two are one run.
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

// A journal behind a frame, made without its writer.
class MadeUpJournal {
 public:
  explicit MadeUpJournal(const CreateOptions& options, int nlayers = 0) {
    auto writer = Frame::Build(path(), options);
    for (int i = 0; i < nlayers; ++i) {
      EXPECT_TRUE(IsOk(writer->SetVlmeta("layer " + std::to_string(i), {})));
    }
    EXPECT_TRUE(IsOk(writer->Close()));
    const auto core = frame::FrameCore::Open(path(), {});
    const std::shared_ptr<const frame::State> state = (*core)->newest();
    const frame::JournalEnd& end = *state->journal;
    next_.links = {.base = end.base,
                   .generation = end.generation + 1,
                   .previous = end.last,
                   .durable_end = end.end};
    next_.totals = {.nchunks = 0,
                    .nbytes = 0,
                    .stored_bytes = -1,
                    .chunksize = state->header.chunksize,
                    .vlblocks = false};
    bytes_ = FileBytes(path());
  }
  // A commit of these edits.
  void Add(std::vector<format::LayerEdit> edits) {
    next_.layers = std::move(edits);
    AddRecord();
  }
  // One that is perhaps not durable and inserts one chunk many times.
  void AddChunks(Bytes chunk, int64_t count) {
    const format::PlacedChunk placed = {.entry = std::ssize(bytes_) - PartsOf(bytes_).header_len,
                                        .fingerprint = format::HashChunk(chunk),
                                        .nbytes = next_.totals.chunksize,
                                        .cbytes = static_cast<int32_t>(chunk.size())};
    next_.chunks.assign(static_cast<size_t>(count), format::InsertEdit{.chunk = placed});
    next_.totals.nchunks = count;
    next_.totals.nbytes = count * placed.nbytes;
    AddTo(bytes_, chunk);
    AddRecord();
  }
  // The header of a chunk that ends where Land is called.
  void Leap() {
    leaps_.push_back(bytes_.size());
    const Buffer chunk = chunk::PlainChunk({});
    AddTo(bytes_, chunk);
  }
  // Small chunks, and then what is neither chunk nor record.
  void Land(int64_t count) {
    for (const size_t leap : leaps_) {
      const auto cbytes = static_cast<uint32_t>(bytes_.size() - leap);
      StoreLe(bytes_.data() + leap + 0x04, cbytes - 32);
      StoreLe(bytes_.data() + leap + 0x0C, cbytes);
    }
    const Buffer chunk = chunk::PlainChunk(MakeNoise(8));
    for (int64_t i = 0; i < count; ++i) AddTo(bytes_, chunk);
    bytes_.push_back(std::byte{0x7f});
  }
  void Put() const { PutFileBytes(path(), bytes_); }
  std::string path() const { return dir_.Path("f"); }

 private:
  void AddRecord() {
    const Buffer record = format::EncodeBatch(next_, std::ssize(bytes_));
    AddTo(bytes_, record);
    ++next_.links.generation;
    next_.links.previous = format::HashOf(record);
  }

  TempDir dir_;
  format::Batch next_;
  Buffer bytes_;
  std::vector<size_t> leaps_;
};

TEST(CostsTest, ChunksThatLeadPastRecordsAreNotFollowedAgainAndAgain) {
  ExpectLinear(3000, [](int64_t count) {
    const auto journal = std::make_shared<MadeUpJournal>(Cut(1, 100));
    for (int64_t i = 0; i < count; ++i) {
      journal->Add({});
      journal->Leap();
    }
    journal->Land(10 * count);
    journal->Put();
    return [=] {
      const auto frame = Frame::Open(journal->path());
      ASSERT_TRUE(IsOk(frame));
      EXPECT_TRUE(frame->snapshot().info().journal_damaged);
    };
  });
}

TEST(CostsTest, CommitsThatTouchOneOfManyLayersAreFollowedInLinearTime) {
  ExpectLinear(500, [](int64_t count) {
    CreateOptions options = Cut(1, 100);
    const auto journal = std::make_shared<MadeUpJournal>(options, static_cast<int>(count));
    using Kind = format::LayerEdit::Kind;
    for (int64_t i = 0; i < 4 * count; ++i) {
      const std::string name = "layer " + std::to_string(i * 31 % count);
      journal->Add({{.kind = i % 3 == 0 ? Kind::kDeleteVlmeta : Kind::kSetVlmeta, .name = name}});
    }
    journal->Put();
    return [=] {
      const auto frame = Frame::Open(journal->path());
      ASSERT_TRUE(IsOk(frame));
      EXPECT_GE(frame->snapshot().info().generation, static_cast<uint64_t>(4 * count));
    };
  });
}

TEST(CostsTest, ABatchThatNamesOneChunkManyTimesIsRefusedBeforeTheChunkIsRead) {
  ExpectLinear(500, [](int64_t count) {
    const auto journal = std::make_shared<MadeUpJournal>(Cut(1, 100));
    journal->AddChunks(chunk::PlainChunk(MakeNoise(static_cast<size_t>(400 * count))), count);
    journal->Put();
    return [=] {
      auto frame = Frame::Open(journal->path());
      ASSERT_TRUE(IsOk(frame));
      EXPECT_EQ(frame->snapshot().info().nchunks, 0);
      EXPECT_TRUE(IsDamage(frame->OpenWriter().status(), "journal"));
    };
  });
}

TEST(CostsTest, EditsOfAMetalayerBesideALargeArrayAreFollowedInLinearTime) {
  ExpectLinear(1000, [](int64_t count) {
    const ArrayInfo array = {.shape = {0},
                             .chunkshape = {100},
                             .blockshape = {100},
                             .dtype = std::string(static_cast<size_t>(200 * count), 'd')};
    CreateOptions options = Cut(1, 100);
    options.metalayers = {{"b2nd", format::EncodeB2nd(array)}, {"x", {}}};
    const auto journal = std::make_shared<MadeUpJournal>(options);
    using Kind = format::LayerEdit::Kind;
    journal->Add({static_cast<size_t>(count), {.kind = Kind::kSetMetalayer, .name = "x"}});
    journal->Put();
    return [=] {
      const auto frame = Frame::Open(journal->path());
      ASSERT_TRUE(IsOk(frame));
      EXPECT_GT(frame->snapshot().info().journal_size, 0);
    };
  });
}

TEST(CostsTest, TheHistoryOfAFrameWithLargeMetalayersIsListedInLinearTime) {
  ExpectLinear(500, [](int64_t count) {
    CreateOptions options = Cut(1, 100);
    for (int i = 0; i < kMaxMetalayers; ++i) {
      options.metalayers.push_back({std::string(30, 'n') + static_cast<char>('a' + i),
                                    Buffer(static_cast<size_t>(50 * count))});
    }
    const auto journal = std::make_shared<MadeUpJournal>(options);
    for (int64_t i = 0; i < count; ++i) journal->Add({});
    journal->Put();
    return [=] {
      const auto history = Frame::Open(journal->path())->History();
      ASSERT_TRUE(IsOk(history));
      EXPECT_GE(std::ssize(*history), count);
    };
  });
}

// Checkpoints of a chunk each. The first of its bytes, which lie behind the checkpoint before,
// claim to be those of a chunk that ends where the file of all checkpoints ended; there a record
// lies.
Buffer CheckpointsThatLeadTo(const Buffer& record, int64_t count) {
  const TempDir dir;
  UnsyncedFileSystem files;
  CreateOptions options = PlainCopies(100);
  options.file_system = &files;
  auto frame = Frame::Create(dir.Path("f"), options);
  auto writer = frame->OpenWriter();
  for (int64_t i = 0; i < count; ++i) {
    EXPECT_TRUE(IsOk(writer->Append(MakeNoise(100))));
    EXPECT_TRUE(IsOk(writer->Checkpoint()));
  }
  EXPECT_TRUE(IsOk(writer->Close()));
  const std::vector<GenerationInfo> history = frame->History().value();
  EXPECT_GE(std::ssize(history), count);
  Buffer bytes = FileBytes(dir.Path("f"));
  bytes.resize(static_cast<size_t>(history.back().end));
  for (auto one = std::next(history.begin()); one != std::prev(history.end()); ++one) {
    std::byte* const chunk = bytes.data() + one->end;
    const auto cbytes = static_cast<uint32_t>(history.back().end - one->end);
    StoreLe(chunk + 0x04, cbytes - 32);
    StoreLe(chunk + 0x0C, cbytes);
  }
  AddTo(bytes, record);
  return bytes;
}

TEST(CostsTest, CheckpointsThatLeadToOneRecordAreListedInLinearTime) {
  ExpectLinear(100, [](int64_t count) {
    format::Batch batch;
    batch.layers = {{.kind = format::LayerEdit::Kind::kSetVlmeta,
                     .name = "long",
                     .content = Buffer(static_cast<size_t>(20'000 * count))}};
    return [bytes = CheckpointsThatLeadTo(format::EncodeBatch(batch, 0), count), count] {
      const auto frame = Frame::OpenBuffer(bytes);
      ASSERT_TRUE(IsOk(frame));
      const auto history = frame->History();
      ASSERT_TRUE(IsOk(history));
      EXPECT_GE(std::ssize(*history), count);
    };
  });
}

TEST(CostsTest, VlmetalayersThatClaimMuchAreVerifiedInLinearTime) {
  ExpectLinear(200, [](int64_t count) {
    const auto journal = std::make_shared<MadeUpJournal>(Cut(1, 100));
    const Buffer claim = chunk::PlainZeros(static_cast<int32_t>(20'000 * count));
    for (int64_t i = 0; i < count; ++i) {
      journal->Add({{.kind = format::LayerEdit::Kind::kSetVlmeta,
                     .name = "layer " + std::to_string(i),
                     .content = claim}});
    }
    journal->Put();
    return [=] {
      const Snapshot snapshot = Frame::Open(journal->path())->snapshot();
      EXPECT_EQ(std::ssize(snapshot.vlmetalayers()), count);
      EXPECT_TRUE(snapshot.Verify()->findings.empty());
    };
  });
}

TEST(CostsTest, ItemsOfAChunkThatIsGoneOnWithAreGatheredInLinearTime) {
  ExpectLinear(1000, [](int64_t count) {
    // One block for all; what follows it waits in the journal.
    const int64_t size = 100 * count;
    CreateOptions options = Cut(1, static_cast<int32_t>(2 * size));
    options.compression.blocksize = options.chunksize;
    const auto dir = std::make_shared<TempDir>();
    Buffer items = MakeItems(static_cast<size_t>(size));
    EXPECT_EQ(WriteFrame(dir->Path("f"), options, items), absl::OkStatus());
    auto frame = std::make_shared<Frame>(*Frame::Open(dir->Path("f")));
    auto writer = std::make_shared<Writer>(*frame->OpenWriter());
    EXPECT_TRUE(IsOk(writer->Append(MakeNoise(100))));
    AddTo(items, MakeNoise(100));
    EXPECT_TRUE(IsOk(writer->Commit()));
    EXPECT_GT(writer->snapshot()->info().journal_size, 0);
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
    EXPECT_EQ(WriteFrame(dir->Path("f"), options, MakeItems(static_cast<size_t>(10 * count))),
              absl::OkStatus());
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

TEST(CostsTest, AFileOfLookalikesOfChunksIsSalvagedOrGivenUpInLinearTime) {
  ExpectLinear(40'000, [](int64_t count) {
    const auto dir = std::make_shared<TempDir>();
    CompressionOptions compression = OfTypesize(1);
    const Buffer chunk = Compressed(MakeItems(1000), compression);
    Buffer file;
    for (int64_t i = 0; i < count; ++i) {
      // Of blocks, and longer than it is: it fails to decode.
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
