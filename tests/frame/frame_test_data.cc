#include "tests/frame/frame_test_data.h"

#include <algorithm>
#include <random>

#include "engine/base/bytes.h"

namespace cairn::test {

testing::AssertionResult IsOk(const absl::Status& status) {
  if (status.ok()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << status;
}

Buffer MakeItems(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  Buffer items(size);
  for (size_t i = 0; i < size; ++i) items[i] = static_cast<std::byte>(1 + i % 64 + random() % 3);
  return items;
}

Buffer MakeNoise(size_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  Buffer items(size);
  for (std::byte& byte : items) byte = static_cast<std::byte>(random());
  return items;
}

Buffer Repeated(Bytes value, size_t size) {
  Buffer all(size);
  for (size_t i = 0; i < size; ++i) all[i] = value[i % value.size()];
  return all;
}

void AddTo(Buffer& all, Bytes more) { all.insert(all.end(), more.begin(), more.end()); }

CreateOptions Cut(int32_t typesize, int32_t chunksize) {
  CreateOptions options;
  options.compression = OfTypesize(typesize);
  options.chunksize = chunksize;
  return options;
}

Frame NewInMemory(const CreateOptions& options) {
  absl::StatusOr<Frame> frame = Frame::CreateInMemory(options);
  EXPECT_TRUE(IsOk(frame));
  return *std::move(frame);
}

CompressionOptions OfTypesize(int32_t typesize) {
  CompressionOptions options;
  options.typesize = typesize;
  return options;
}

Buffer Compressed(Bytes items, const CompressionOptions& options) {
  Buffer chunk(MaxCompressedSize(items.size()));
  const absl::StatusOr<size_t> size = CompressChunk(items, options, chunk);
  EXPECT_TRUE(IsOk(size));
  chunk.resize(*size);
  return chunk;
}

Buffer CompressedVl(Bytes items, std::span<const size_t> sizes, int32_t typesize) {
  std::vector<Bytes> blocks;
  Bytes rest = items;
  for (const size_t size : sizes) {
    blocks.push_back(rest.first(size));
    rest = rest.subspan(size);
  }
  EXPECT_TRUE(rest.empty());
  Buffer chunk(MaxVlCompressedSize(items.size(), blocks.size()));
  const absl::StatusOr<size_t> size = CompressVlBlocks(blocks, OfTypesize(typesize), chunk);
  EXPECT_TRUE(IsOk(size));
  chunk.resize(*size);
  return chunk;
}

Buffer ContentOf(const Snapshot& snapshot) {
  Buffer content(static_cast<size_t>(snapshot.info().nbytes));
  EXPECT_TRUE(IsOk(snapshot.ReadBytes(0, content)));
  return content;
}

std::vector<Buffer> ChunksOf(const Snapshot& snapshot) {
  std::vector<Buffer> chunks;
  for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
    const absl::StatusOr<Chunk> chunk = snapshot.GetChunk(i);
    EXPECT_TRUE(IsOk(chunk)) << "chunk " << i;
    chunks.push_back(chunk.ok() ? ToVector(chunk->bytes()) : Buffer());
  }
  return chunks;
}

void ExpectHolds(const Snapshot& snapshot, Bytes content) {
  const FrameInfo& info = snapshot.info();
  ASSERT_EQ(info.nbytes, static_cast<int64_t>(content.size()));
  EXPECT_EQ(info.nitems, info.nbytes / info.typesize);
  Bytes rest = content;
  for (int64_t i = 0; i < info.nchunks; ++i) {
    const absl::StatusOr<int32_t> size = snapshot.ChunkSize(i);
    ASSERT_TRUE(IsOk(size));
    ASSERT_LE(static_cast<size_t>(*size), rest.size());
    Buffer chunk(static_cast<size_t>(*size));
    ASSERT_TRUE(IsOk(snapshot.ReadChunk(i, chunk)));
    ASSERT_TRUE(std::ranges::equal(chunk, rest.first(chunk.size()))) << "chunk " << i;
    rest = rest.subspan(chunk.size());
  }
  EXPECT_TRUE(rest.empty());
  EXPECT_TRUE(ContentOf(snapshot) == ToVector(content));
  const absl::StatusOr<VerifyReport> report = snapshot.Verify();
  ASSERT_TRUE(IsOk(report));
  for (const Finding& finding : report->findings) {
    ADD_FAILURE() << finding.section << ": " << finding.reason;
  }
}

}  // namespace cairn::test
