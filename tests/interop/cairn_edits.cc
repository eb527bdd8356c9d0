#include "tests/interop/cairn_edits.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "cairn/chunk.h"
#include "tests/interop/chunk_list.h"
#include "tests/interop/hand_over.h"
#include "tests/support/status.h"

namespace cairn::interop {
namespace {

// Items of a chunk in a frame that the peer made without any.
constexpr int32_t kFirstChunkItems = 100;

ChunkList ReadChunks(const Snapshot& snapshot) {
  ChunkList chunks;
  for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
    const auto size = snapshot.ChunkNbytes(i);
    EXPECT_TRUE(IsOk(size));
    chunks.emplace_back(static_cast<size_t>(size.value_or(0)));
    const absl::Status status = snapshot.ReadChunk(i, chunks.back());
    EXPECT_TRUE(IsOk(status));
  }
  return chunks;
}

// Edits of chunks by one writer and on the list of what the frame then holds.
class ChunkEdits {
 public:
  // `options` make the chunks that come compressed.
  ChunkEdits(Writer* writer, Random* random, ChunkList chunks, const CompressionOptions& options)
      : writer_(*writer), random_(*random), chunks_(std::move(chunks)), options_(options) {}

  const ChunkList& chunks() const { return chunks_; }

  absl::Status Edit() {
    const auto staged = writer_.StagedSnapshot();
    if (!staged.ok()) return staged.status();
    const FrameInfo& info = staged->info();
    chunksize_ = info.variable_chunks ? 0 : info.chunksize.value_or(kFirstChunkItems * typesize());
    if (chunks_.empty()) return Append();
    switch (random_() % 8) {
      case 0:
        return Append();
      case 1:
        return Insert(false);
      case 2:
        return Insert(true);
      case 3:
        return Update(false);
      case 4:
        return Update(true);
      case 5:
        return WriteItems();
      case 6:
        return Delete();
      default:
        return ReorderChunks();
    }
  }

 private:
  int32_t typesize() const { return options_.typesize; }
  int64_t last() const { return std::ssize(chunks_) - 1; }
  Buffer Items(int64_t nitems) { return NonzeroItems(nitems, typesize(), random_); }

  Buffer Compressed(const Buffer& items) const {
    Buffer chunk(MaxCompressedSize(items.size()));
    const auto size = CompressChunk(items, options_, chunk);
    EXPECT_TRUE(IsOk(size));
    chunk.resize(size.value_or(0));
    return chunk;
  }

  absl::Status Append() {
    const Buffer items = Items(Between(random_, 64, random_() % 3 == 0 ? 3000 : 300));
    Bytes rest = items;
    while (!rest.empty()) {
      const auto whole = chunksize_ > 0 ? static_cast<size_t>(chunksize_) : rest.size();
      const bool goes_on = chunksize_ > 0 && !chunks_.empty() && chunks_.back().size() < whole;
      if (!goes_on) chunks_.emplace_back();
      Buffer& chunk = chunks_.back();
      const Bytes part = rest.first(std::min(rest.size(), whole - chunk.size()));
      chunk.insert(chunk.end(), part.begin(), part.end());
      rest = rest.subspan(part.size());
    }
    return writer_.Append(items);
  }

  absl::Status Insert(bool compressed) {
    const int64_t at = Between(random_, 0, last());
    const int64_t nitems = chunksize_ > 0 ? chunksize_ / typesize() : Between(random_, 64, 300);
    const Buffer items = Items(nitems);
    chunks_.insert(chunks_.begin() + at, items);
    return compressed ? writer_.InsertCompressed(at, Compressed(items))
                      : writer_.InsertChunk(at, items);
  }

  absl::Status Update(bool compressed) {
    const int64_t at = Between(random_, 0, last());
    Buffer& chunk = chunks_[static_cast<size_t>(at)];
    const bool any_size = chunksize_ == 0;
    chunk = Items(any_size ? Between(random_, 64, 300) : std::ssize(chunk) / typesize());
    return compressed ? writer_.UpdateCompressed(at, Compressed(chunk))
                      : writer_.UpdateChunk(at, chunk);
  }

  absl::Status WriteItems() {
    Buffer all = Join(chunks_);
    const int64_t nitems = std::ssize(all) / typesize();
    const int64_t start = Between(random_, 0, nitems - 1);
    const Buffer items = Items(Between(random_, 1, std::min<int64_t>(nitems - start, 1000)));
    std::ranges::copy(items, all.begin() + start * typesize());
    auto rest = all.cbegin();
    for (Buffer& chunk : chunks_) {
      std::copy_n(rest, chunk.size(), chunk.begin());
      rest += std::ssize(chunk);
    }
    return writer_.WriteItems(start, items);
  }

  absl::Status Delete() {
    const int64_t first = Between(random_, 0, last());
    const int64_t count = Between(random_, 1, std::min<int64_t>(2, last() - first + 1));
    chunks_.erase(chunks_.begin() + first, chunks_.begin() + first + count);
    return writer_.DeleteChunks(first, count);
  }

  absl::Status ReorderChunks() {
    const std::vector<int64_t> order = MakeOrder(chunks_, random_);
    chunks_ = Reordered(chunks_, order);
    return writer_.ReorderChunks(order);
  }

  Writer& writer_;
  Random& random_;
  ChunkList chunks_;
  const CompressionOptions options_;
  int32_t chunksize_ = 0;
};

}  // namespace

void EditChunksByCairn(const std::string& path, Random& random, FrameCase* c) {
  OpenOptions open;
  open.file_system = c->options.file_system;
  auto frame = Frame::Open(path, open);
  ASSERT_TRUE(IsOk(frame));
  WriterOptions options;
  options.chunksize = kFirstChunkItems * c->typesize();
  auto writer = frame->OpenWriter(options);
  ASSERT_TRUE(IsOk(writer));
  ChunkEdits edits(&*writer, &random, ReadChunks(frame->snapshot()), c->options.compression);
  const int64_t nedits = Between(random, 1, 6);
  for (int64_t i = 0; i < nedits; ++i) {
    SCOPED_TRACE(testing::Message() << "edit " << i << " by Cairn");
    const bool metadata = random() % 4 == 0;
    absl::Status status = metadata ? EditMetadataAtRandom(&*writer, random, c) : edits.Edit();
    ASSERT_TRUE(IsOk(status));
    if (random() % 3 == 0) status = writer->Commit().status();
    ASSERT_TRUE(IsOk(status));
    ++c->nedits;
  }
  const absl::Status closed = HandOver(*writer);
  ASSERT_TRUE(IsOk(closed));
  writer = absl::CancelledError();  // a writer may not be there while the frame is compacted
  if (random() % 4 == 0) {
    const absl::Status compacted = frame->Compact().status();
    ASSERT_TRUE(IsOk(compacted));
  }
  c->content = Join(edits.chunks());
}

}  // namespace cairn::interop
