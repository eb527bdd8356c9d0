// Frames whose chunks lie in files of their own.
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/frame.h"
#include "engine/base/endian.h"
#include "engine/format/index_entry.h"
#include "tests/support/bytes.h"
#include "tests/support/files.h"
#include "tests/support/frame_parts.h"
#include "tests/support/frames.h"
#include "tests/support/status.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {
namespace {

namespace fs = std::filesystem;

CreateOptions Sparse() {
  CreateOptions options = PlainCopies(kSmallChunk);
  options.layout = Layout::kSparse;
  return options;
}

class SparseTest : public testing::Test {
 protected:
  // A frame of `nchunks` chunks, chunk i being noise with seed i.
  void Make(int nchunks) {
    Buffer all;
    for (int i = 0; i < nchunks; ++i) AddTo(all, MakeNoise(kSmallChunk, static_cast<uint64_t>(i)));
    ASSERT_TRUE(IsOk(WriteFrame(path_, Sparse(), all)));
  }
  Snapshot Open(const OpenOptions& options = {}) {
    const auto frame = Frame::Open(path_, options);
    EXPECT_TRUE(IsOk(frame));
    return frame->snapshot();
  }
  Writer OpenWriter() {
    auto frame = Frame::Open(path_);
    EXPECT_TRUE(IsOk(frame));
    auto writer = frame->OpenWriter();
    EXPECT_TRUE(IsOk(writer));
    return *std::move(writer);
  }
  std::string In(const std::string& name) const { return path_ + "/" + name; }
  // Everything but the chunks of `damaged` reads; those give kDataLoss and name the file.
  void ExpectOnlyDamaged(int64_t damaged, const std::string& file) {
    for (const bool use_mmap : {true, false}) {
      const Snapshot snapshot = Open({.use_mmap = use_mmap});
      Buffer chunk(kSmallChunk);
      for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
        const absl::Status status = snapshot.ReadChunk(i, chunk);
        if (i != damaged) {
          EXPECT_TRUE(IsOk(status)) << i;
          continue;
        }
        EXPECT_TRUE(absl::IsDataLoss(status)) << status;
        EXPECT_NE(status.message().find(file), std::string::npos) << status;
      }
      const auto report = snapshot.Verify();
      ASSERT_TRUE(IsOk(report));
      ASSERT_EQ(report->findings.size(), 1u);
      EXPECT_NE(report->findings[0].reason.find(file), std::string::npos);
    }
  }

  // The index becomes one of these entries, as many as there were.
  void PutEntries(const std::vector<int64_t>& entries) {
    const Buffer index = FileBytes(In("chunks.b2frame"));
    const FrameParts parts = PartsOf(index);
    chunk::WorkspacePool pool;
    Buffer changed(index.begin(), index.begin() + parts.header_len);
    AddTo(changed, format::EncodeIndex(entries, &pool).value());
    AddTo(changed, Bytes(index).subspan(static_cast<size_t>(parts.trailer_begin)));
    constexpr size_t kFrameSizeAt = 0x10;
    StoreBe<uint64_t>(changed.data() + kFrameSizeAt, changed.size());
    PutFileBytes(In("chunks.b2frame"), changed);
  }

  TempDir dir_;
  std::string path_ = dir_.Path("f");
};

TEST_F(SparseTest, HasOneFileAChunkAndAnIndex) {
  Make(3);
  EXPECT_EQ(NamesIn(path_), (std::vector<std::string>{"00000000.chunk", "00000001.chunk",
                                                      "00000002.chunk", "chunks.b2frame"}));
  const Snapshot snapshot = Open();
  EXPECT_EQ(snapshot.info().layout, Layout::kSparse);
  EXPECT_TRUE(snapshot.info().sealed);
  EXPECT_EQ(snapshot.info().dead_bytes, 0);
  EXPECT_EQ(snapshot.GetEntry(1)->file, 1);
  EXPECT_EQ(snapshot.GetEntry(1)->offset, std::nullopt);
  EXPECT_EQ(static_cast<int64_t>(fs::file_size(In("00000001.chunk"))),
            std::ssize(snapshot.GetChunk(1)->bytes()));
}

TEST_F(SparseTest, OpensWithASlashAfterItsName) {
  Make(2);
  EXPECT_TRUE(IsOk(Frame::Open(path_ + "/")));
  const std::string other = dir_.Path("g");
  EXPECT_TRUE(IsOk(Frame::Create(other + "/", Sparse())));
  EXPECT_TRUE(IsOk(Frame::Open(other)));
}

TEST_F(SparseTest, CannotLiveInMemory) {
  EXPECT_EQ(Frame::CreateInMemory(Sparse()).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(SparseTest, GoesIntoABufferAsAContiguousFrame) {
  Make(3);
  const Buffer content = ContentOf(Open());
  const auto frame = Frame::Open(path_);
  const auto buffer = frame->snapshot().ToBuffer();
  ASSERT_TRUE(IsOk(buffer));
  const auto copy = Frame::OpenBuffer(*buffer);
  ASSERT_TRUE(IsOk(copy));
  EXPECT_EQ(copy->snapshot().info().layout, Layout::kContiguous);
  ExpectHolds(copy->snapshot(), content);
}

TEST_F(SparseTest, MissingFileIsDamageOfItsChunkAlone) {
  Make(4);
  fs::remove(In("00000002.chunk"));
  ExpectOnlyDamaged(2, "00000002.chunk");
}

TEST_F(SparseTest, NoFileOfALongerNameIsReadOrRemoved) {
  CreateOptions options = Sparse();
  options.fingerprint = FingerprintType::kNone;
  ASSERT_TRUE(IsOk(WriteFrame(path_, options, MakeNoise(2 * kSmallChunk, 1))));
  fs::copy_file(In("00000000.chunk"), In("123456789.chunk"));
  PutEntries({0, 0x123456789});
  for (const bool use_mmap : {true, false}) {
    Buffer chunk(kSmallChunk);
    EXPECT_TRUE(IsDamage(Open({.use_mmap = use_mmap}).ReadChunk(1, chunk), "not the number"));
    EXPECT_EQ(Open({.use_mmap = use_mmap}).Verify()->findings.size(), 1u);
  }
  Writer writer = OpenWriter();
  ASSERT_TRUE(IsOk(writer.UpdateChunk(1, MakeNoise(kSmallChunk, 2))));
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_TRUE(fs::exists(In("123456789.chunk")));
  EXPECT_TRUE(Open().Verify()->ok());
}

TEST_F(SparseTest, TruncatedAndEmptyFilesAreDamageOfTheirChunkAlone) {
  for (const uintmax_t size : {0u, 10u, 40u}) {
    fs::remove_all(path_);
    Make(4);
    fs::resize_file(In("00000001.chunk"), size);
    ExpectOnlyDamaged(1, "00000001.chunk");
  }
}

TEST_F(SparseTest, ForeignFileIsDamageOfItsChunkAlone) {
  Make(4);
  fs::copy_file(In("00000000.chunk"), In("00000003.chunk"), fs::copy_options::overwrite_existing);
  ExpectOnlyDamaged(3, "00000003.chunk");
}

TEST_F(SparseTest, SymbolicLinksAreNotFollowed) {
  Make(4);
  fs::rename(In("00000001.chunk"), dir_.Path("elsewhere"));
  fs::create_symlink(dir_.Path("elsewhere"), In("00000001.chunk"));
  ExpectOnlyDamaged(1, "00000001.chunk");
  fs::rename(In("chunks.b2frame"), dir_.Path("index"));
  fs::create_symlink(dir_.Path("index"), In("chunks.b2frame"));
  EXPECT_TRUE(absl::IsDataLoss(Frame::Open(path_).status())) << Frame::Open(path_).status();
}

TEST_F(SparseTest, HugeEmptyFileCostsNothing) {
  Make(4);
  fs::resize_file(In("00000001.chunk"), 0);
  fs::resize_file(In("00000001.chunk"), uintmax_t{8} << 40);
  for (const bool use_mmap : {true, false}) {
    Buffer chunk(kSmallChunk);
    EXPECT_TRUE(absl::IsDataLoss(Open({.use_mmap = use_mmap}).ReadChunk(1, chunk)));
  }
}

TEST_F(SparseTest, FrameWithADamagedTrailerIsNotCopied) {
  Make(4);
  Buffer index = FileBytes(In("chunks.b2frame"));
  index.back() ^= std::byte{1};
  PutFileBytes(In("chunks.b2frame"), index);
  const auto frame = Frame::Open(path_);
  ASSERT_TRUE(IsOk(frame));
  EXPECT_TRUE(frame->snapshot().info().trailer_damaged);
  EXPECT_TRUE(absl::IsDataLoss(frame->snapshot().ToBuffer().status()));
}

TEST_F(SparseTest, IndexAloneIsNoFrame) {
  Make(1);
  EXPECT_TRUE(absl::IsDataLoss(Frame::Open(In("chunks.b2frame")).status()));
  EXPECT_TRUE(absl::IsDataLoss(Frame::OpenBuffer(FileBytes(In("chunks.b2frame"))).status()));
  fs::remove(In("chunks.b2frame"));
  EXPECT_TRUE(absl::IsDataLoss(Frame::Open(path_).status()));
  EXPECT_TRUE(absl::IsNotFound(Frame::Open(dir_.Path("nothing")).status()));
}

TEST_F(SparseTest, FewMappingsServeManyChunks) {
  Make(50);
  const Snapshot snapshot = Open({.max_mapped_files = 3});
  const auto mappings = [&] {
    std::ifstream maps("/proc/self/maps");
    int count = 0;
    for (std::string line; std::getline(maps, line);)
      count += line.find(".chunk") != std::string::npos ? 1 : 0;
    return count;
  };
  Buffer chunk(kSmallChunk);
  std::vector<Chunk> held;
  for (int64_t i = 0; i < 50; ++i) {
    ASSERT_TRUE(IsOk(snapshot.ReadChunk(i, chunk)));
    EXPECT_EQ(chunk, MakeNoise(kSmallChunk, static_cast<uint64_t>(i)));
    EXPECT_LE(mappings(), 3);
  }
  // A chunk that is handed out stays.
  for (int64_t i = 0; i < 50; ++i) held.push_back(*snapshot.GetChunk(i));
  EXPECT_GE(mappings(), 50);
  for (int64_t i = 0; i < 50; ++i) {
    ASSERT_TRUE(IsOk(DecompressChunk(held[static_cast<size_t>(i)].bytes(), chunk)));
    EXPECT_EQ(chunk, MakeNoise(kSmallChunk, static_cast<uint64_t>(i)));
  }
}

TEST_F(SparseTest, CommittedFilesAreNeverWrittenAgain) {
  Make(3);
  const auto before = fs::last_write_time(In("00000001.chunk"));
  const Snapshot old = Open();
  Writer writer = OpenWriter();
  ASSERT_TRUE(IsOk(writer.UpdateChunk(1, MakeNoise(kSmallChunk, 9))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  EXPECT_EQ(fs::last_write_time(In("00000001.chunk")), before);
  EXPECT_EQ(Open().GetEntry(1)->file, 3);
  // Chunks that the old snapshot never touched are still there for it.
  Buffer chunk(kSmallChunk);
  ASSERT_TRUE(IsOk(old.ReadChunk(1, chunk)));
  EXPECT_EQ(chunk, MakeNoise(kSmallChunk, 1));
}

TEST_F(SparseTest, SnapshotKeepsItsFilesThroughLaterWriters) {
  Make(3);
  std::optional<Snapshot> old = Open();
  const Buffer content = [&] {
    Buffer all;
    for (uint64_t i = 0; i < 3; ++i) AddTo(all, MakeNoise(kSmallChunk, i));
    return all;
  }();
  for (uint64_t round = 0; round < 3; ++round) {
    Writer writer = OpenWriter();
    for (int64_t i = 0; i < 3; ++i) {
      ASSERT_TRUE(IsOk(writer.UpdateChunk(i, MakeNoise(kSmallChunk, 100 * (round + 1)))));
    }
    ASSERT_TRUE(IsOk(writer.Close()));
  }
  ExpectHolds(*old, content);
  EXPECT_GT(NamesIn(path_).size(), 4u);
  old.reset();
  Writer writer = OpenWriter();
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_EQ(NamesIn(path_).size(), 4u);
}

TEST_F(SparseTest, OrphansGoWithTheNextWriterAndOtherFilesStay) {
  Make(2);
  PutFileBytes(In("0000000A.chunk"), MakeNoise(10, 1));
  PutFileBytes(In("chunks.b2frame.0123456789abcdef.tmp"), MakeNoise(10, 1));
  PutFileBytes(In("notes.txt"), MakeNoise(10, 1));
  PutFileBytes(In("0000000a.chunk"), MakeNoise(10, 1));
  EXPECT_EQ(ContentOf(Open()).size(), 2u * kSmallChunk);
  EXPECT_EQ(NamesIn(path_).size(), 7u);
  Writer writer = OpenWriter();
  ASSERT_TRUE(IsOk(writer.Append(MakeNoise(kSmallChunk, 5))));
  ASSERT_TRUE(IsOk(writer.Close()));
  EXPECT_EQ(NamesIn(path_),
            (std::vector<std::string>{"00000000.chunk", "00000001.chunk", "00000002.chunk",
                                      "0000000a.chunk", "chunks.b2frame", "notes.txt"}));
}

TEST_F(SparseTest, WhatIsNotCommittedLeavesNothing) {
  Make(2);
  const std::vector<std::string> names = NamesIn(path_);
  {
    Writer writer = OpenWriter();
    ASSERT_TRUE(IsOk(writer.InsertChunk(0, MakeNoise(kSmallChunk, 5))));
    EXPECT_EQ(NamesIn(path_).size(), 4u);
    writer.Rollback();
    EXPECT_EQ(NamesIn(path_), names);
    ASSERT_TRUE(IsOk(writer.InsertChunk(0, MakeNoise(kSmallChunk, 6))));
  }
  EXPECT_EQ(NamesIn(path_), names);
  {
    auto writer = Frame::BeginCreate(dir_.Path("g"), Sparse());
    ASSERT_TRUE(IsOk(writer));
    ASSERT_TRUE(IsOk(writer->Append(MakeNoise(1000, 1))));
  }
  EXPECT_EQ(NamesIn(dir_.path()), std::vector<std::string>{"f"});
}

TEST_F(SparseTest, NumbersOfDroppedChunksAreUsedAgainAfterACheckpoint) {
  Make(3);
  Writer writer = OpenWriter();
  for (uint64_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(IsOk(writer.UpdateChunk(2, MakeNoise(kSmallChunk, i))));
    ASSERT_TRUE(IsOk(writer.UpdateChunk(1, MakeNoise(kSmallChunk, i))));
    ASSERT_TRUE(IsOk(writer.Checkpoint()));
    EXPECT_EQ(NamesIn(path_).size(), 4u);
    EXPECT_LE(Open().GetEntry(1)->file, 5);
  }
}

TEST_F(SparseTest, NumbersStayBelowWhatOtherReadersTake) {
  Make(40);
  Snapshot reader = Open();  // keeps the numbers of what it reads
  Writer writer = OpenWriter();
  for (uint64_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(IsOk(writer.UpdateChunk(39, MakeNoise(kSmallChunk, i))));
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  ASSERT_TRUE(IsOk(writer.DeleteChunks(0, 39)));
  const auto committed = writer.Commit();
  ASSERT_TRUE(IsOk(committed));
  const FrameInfo& info = committed->info();
  const int64_t number = committed->GetEntry(0)->file.value();
  EXPECT_GT(number, info.cbytes);
  EXPECT_LE(number, info.cbytes + *info.dead_bytes - 32);
}

TEST_F(SparseTest, SecondWriterIsRefused) {
  Make(1);
  Writer writer = OpenWriter();
  auto frame = Frame::Open(path_);
  EXPECT_EQ(frame->OpenWriter().status().code(), absl::StatusCode::kUnavailable);
  ASSERT_TRUE(IsOk(writer.Append(MakeNoise(kSmallChunk, 7))));
  ASSERT_TRUE(IsOk(writer.Commit()));
  // The lock went over to the new index.
  EXPECT_EQ(frame->OpenWriter().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(frame->Refresh()->info().nchunks, 2);
}

TEST_F(SparseTest, IsReplacedOnlyWithoutReaders) {
  Make(3);
  CreateOptions options = Sparse();
  EXPECT_TRUE(absl::IsAlreadyExists(Frame::Create(path_, options).status()));
  options.overwrite = true;
  {
    const Snapshot reader = Open();
    EXPECT_TRUE(absl::IsUnavailable(Frame::Create(path_, options).status()));
    ExpectHolds(reader, ContentOf(reader));
  }
  EXPECT_TRUE(IsOk(Frame::Create(path_, options)));
  EXPECT_EQ(NamesIn(path_), std::vector<std::string>{"chunks.b2frame"});
  EXPECT_EQ(NamesIn(dir_.path()), std::vector<std::string>{"f"});
}

TEST_F(SparseTest, DirectoryWithOtherFilesIsNotReplaced) {
  Make(1);
  PutFileBytes(In("notes.txt"), MakeNoise(10, 1));
  CreateOptions options = Sparse();
  options.overwrite = true;
  EXPECT_TRUE(absl::IsFailedPrecondition(Frame::Create(path_, options).status()));
  options.layout = Layout::kContiguous;
  EXPECT_TRUE(absl::IsFailedPrecondition(Frame::Create(path_, options).status()));
  EXPECT_EQ(ContentOf(Open()).size(), size_t{kSmallChunk});
  EXPECT_EQ(NamesIn(dir_.path()), std::vector<std::string>{"f"});
}

TEST_F(SparseTest, CompactionSealsAndDropsOrphans) {
  Make(3);
  PutFileBytes(In("000000AA.chunk"), MakeNoise(1000, 1));
  const Buffer content = ContentOf(Open());
  auto frame = Frame::Open(path_);
  const auto report = frame->Compact();
  ASSERT_TRUE(IsOk(report));
  EXPECT_EQ(report->size_before - report->size_after, 1000);
  EXPECT_EQ(NamesIn(path_).size(), 4u);
  ExpectHolds(frame->snapshot(), content);
  EXPECT_TRUE(frame->snapshot().info().sealed);
}

TEST_F(SparseTest, CompactionThatIsStoppedChangesNothing) {
  Make(3);
  const std::vector<std::string> names = NamesIn(path_);
  const Buffer content = ContentOf(Open());
  auto frame = Frame::Open(path_);
  const auto report = frame->Compact({.progress = [](int64_t chunks) { return chunks < 2; }});
  EXPECT_TRUE(absl::IsCancelled(report.status()));
  EXPECT_EQ(NamesIn(path_), names);
  EXPECT_EQ(ContentOf(Open()), content);
}

TEST_F(SparseTest, ArrayIsMadeAndWritten) {
  CreateOptions options;
  options.compression.typesize = 4;
  options.layout = Layout::kSparse;
  options.array = ArrayInfo{.shape = {10, 10}, .chunkshape = {4, 4}, .blockshape = {2, 2}};
  auto frame = Frame::Create(path_, options);
  ASSERT_TRUE(IsOk(frame));
  auto writer = frame->OpenWriter();
  ASSERT_TRUE(IsOk(writer));
  const Buffer items = MakeItems(4 * 6 * 5);
  const std::vector<int64_t> start = {3, 2};
  const std::vector<int64_t> shape = {6, 5};
  ASSERT_TRUE(IsOk(writer->WriteBox(start, shape, items)));
  const auto committed = writer->Commit();
  ASSERT_TRUE(IsOk(committed));
  Buffer read(items.size());
  ASSERT_TRUE(IsOk(committed->ReadBox(start, shape, read)));
  EXPECT_EQ(read, items);
}

TEST_F(SparseTest, WhatASnapshotReadsOfStagedEditsStays) {
  Make(2);
  Writer writer = OpenWriter();
  const auto whole = [](const Snapshot& snapshot) {
    return snapshot.info().nbytes == 3 * kSmallChunk && snapshot.Verify()->ok();
  };
  const auto stage = [&](uint64_t seed) {
    EXPECT_TRUE(IsOk(writer.Append(MakeNoise(kSmallChunk, seed))));
    return *writer.StagedSnapshot();
  };
  std::optional<Snapshot> staged = stage(10);
  writer.Rollback();
  const auto reclaimed = writer.Reclaim();
  ASSERT_TRUE(IsOk(reclaimed));
  EXPECT_TRUE(reclaimed->blocked);
  EXPECT_TRUE(whole(*staged));

  // Nor do commits that have no use for it take it.
  staged = stage(11);
  for (uint64_t i = 12; i < 15; ++i) {
    ASSERT_TRUE(IsOk(writer.UpdateChunk(2, MakeNoise(kSmallChunk, i))));
    ASSERT_TRUE(IsOk(writer.Commit()));
  }
  EXPECT_TRUE(whole(*staged));
  staged.reset();
  EXPECT_FALSE(writer.Reclaim()->blocked);
  EXPECT_EQ(NamesIn(path_).size(), 4u);
}

}  // namespace
}  // namespace cairn::test
