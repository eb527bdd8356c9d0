// Journals made to waste time: what they cost grows no faster than they do.
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/endian.h"
#include "engine/chunk/special.h"
#include "engine/format/b2nd.h"
#include "engine/format/index_entry.h"
#include "engine/format/journal.h"
#include "engine/frame/open/frame_core.h"
#include "tests/support/bytes.h"
#include "tests/support/cost.h"
#include "tests/support/encode_commit.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {
namespace {

// A journal after a frame, made without its writer.
class MadeUpJournal {
 public:
  explicit MadeUpJournal(const CreateOptions& options, int nlayers = 0) {
    auto writer = Frame::BeginCreate(path(), options);
    for (int i = 0; i < nlayers; ++i) {
      EXPECT_TRUE(IsOk(writer->SetVlmetalayer("layer " + std::to_string(i), {})));
    }
    EXPECT_TRUE(IsOk(writer->Close()));
    const auto core = frame::FrameCore::Open(path(), {});
    const std::shared_ptr<const frame::State> state = (*core)->newest();
    const frame::JournalPosition& end = *state->journal;
    next_.links = {.base = end.base,
                   .generation = end.generation + 1,
                   .previous = end.last,
                   .durable_end = end.end};
    next_.totals = {.nchunks = 0,
                    .nbytes = 0,
                    .stored_bytes = -1,
                    .chunksize = state->chunksize,
                    .vlblocks = false};
    bytes_ = FileBytes(path());
  }
  // A commit of these edits.
  void Add(std::vector<format::LayerEdit> edits) {
    next_.layers = std::move(edits);
    AddRecord();
  }
  // Adds a commit that is perhaps not durable and inserts one chunk many times.
  void AddChunks(Bytes chunk, int64_t count) {
    const format::IndexedChunk placed = {
        .entry = {.value = std::ssize(bytes_) - PartsOf(bytes_).header_len,
                  .fingerprint = format::HashChunk(chunk),
                  .cbytes = static_cast<int32_t>(chunk.size())},
        .nbytes = next_.totals->chunksize};
    next_.chunks.assign(static_cast<size_t>(count), format::InsertEdit{.chunk = placed});
    next_.totals->nchunks = count;
    next_.totals->nbytes = count * placed.nbytes;
    AddTo(bytes_, chunk);
    AddRecord();
  }
  // The header of a chunk that ends where Land is called.
  void Leap() {
    leaps_.push_back(bytes_.size());
    const Buffer chunk = chunk::MemcpyedChunk({});
    AddTo(bytes_, chunk);
  }
  // Small chunks, and then what is neither chunk nor record.
  void Land(int64_t count) {
    for (const size_t leap : leaps_) {
      const auto cbytes = static_cast<uint32_t>(bytes_.size() - leap);
      StoreLe(bytes_.data() + leap + 0x04, cbytes - 32);
      StoreLe(bytes_.data() + leap + 0x0C, cbytes);
    }
    const Buffer chunk = chunk::MemcpyedChunk(MakeNoise(8));
    for (int64_t i = 0; i < count; ++i) AddTo(bytes_, chunk);
    bytes_.push_back(std::byte{0x7f});
  }
  void Put() const { PutFileBytes(path(), bytes_); }
  std::string path() const { return dir_.Path("f"); }

 private:
  void AddRecord() {
    const Buffer record = EncodeCommit(next_, std::ssize(bytes_));
    AddTo(bytes_, record);
    ++next_.links.generation;
    next_.links.previous = format::StoredChecksum(record);
  }

  TempDir dir_;
  format::CommitRecord next_;
  Buffer bytes_;
  std::vector<size_t> leaps_;
};

TEST(JournalCostsTest, ChunksThatLeadPastRecordsAreNotFollowedAgainAndAgain) {
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

TEST(JournalCostsTest, CommitsThatTouchOneOfManyLayersAreFollowedInLinearTime) {
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

TEST(JournalCostsTest, CommitThatNamesOneChunkManyTimesIsRefusedBeforeTheChunkIsRead) {
  ExpectLinear(500, [](int64_t count) {
    const auto journal = std::make_shared<MadeUpJournal>(Cut(1, 100));
    journal->AddChunks(chunk::MemcpyedChunk(MakeNoise(static_cast<size_t>(400 * count))), count);
    journal->Put();
    return [=] {
      auto frame = Frame::Open(journal->path());
      ASSERT_TRUE(IsOk(frame));
      EXPECT_EQ(frame->snapshot().info().nchunks, 0);
      EXPECT_TRUE(IsDamage(frame->OpenWriter().status(), "journal"));
    };
  });
}

TEST(JournalCostsTest, EditsOfAMetalayerBesideALargeArrayAreFollowedInLinearTime) {
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

TEST(JournalCostsTest, HistoryOfAFrameWithLargeMetalayersIsListedInLinearTime) {
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

// Checkpoints of a chunk each. The first of its bytes, which lie after the checkpoint before,
// claim to be those of a chunk that ends where the file of all checkpoints ended; there a record
// lies.
Buffer CheckpointsThatLeadTo(const Buffer& record, int64_t count) {
  const TempDir dir;
  UnsyncedFileSystem files;
  CreateOptions options = PlainCopies(100);
  options.file_system = Unowned(&files);
  auto frame = Frame::Create(dir.Path("f"), options);
  auto writer = frame->OpenWriter(kKeepAll);
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

TEST(JournalCostsTest, CheckpointsThatLeadToOneRecordAreListedInLinearTime) {
  // Few and a large one: the seal of each checkpoint lists the extents that died before it.
  ExpectLinear(25, [](int64_t count) {
    format::CommitRecord commit;
    commit.layers = {{.kind = format::LayerEdit::Kind::kSetVlmeta,
                      .name = "long",
                      .content = Buffer(static_cast<size_t>(200'000 * count))}};
    return [bytes = CheckpointsThatLeadTo(EncodeCommit(commit, 0), count), count] {
      const auto frame = Frame::OpenBuffer(bytes);
      ASSERT_TRUE(IsOk(frame));
      const auto history = frame->History();
      ASSERT_TRUE(IsOk(history));
      EXPECT_GE(std::ssize(*history), count);
    };
  });
}

TEST(JournalCostsTest, VlmetalayersThatClaimMuchAreVerifiedInLinearTime) {
  ExpectLinear(200, [](int64_t count) {
    const auto journal = std::make_shared<MadeUpJournal>(Cut(1, 100));
    const Buffer claim = chunk::ZerosChunk(static_cast<int32_t>(20'000 * count));
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

}  // namespace
}  // namespace cairn::test
