#include "tests/support/frames.h"

#include <algorithm>
#include <memory>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "tests/support/status.h"

namespace cairn::test {

CreateOptions Cut(int32_t typesize, ChunkSize chunksize) {
  CreateOptions options;
  options.compression = OfTypesize(typesize);
  options.chunksize = chunksize;
  return options;
}

CreateOptions OfArray(const ArrayInfo& array, int32_t typesize) {
  CreateOptions options;
  options.compression.typesize = typesize;
  options.array = array;
  return options;
}

ArrayInfo SmallArray() { return {.shape = {5, 7}, .chunkshape = {3, 5}, .blockshape = {2, 3}}; }

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
    const absl::StatusOr<int32_t> size = snapshot.ChunkNbytes(i);
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

absl::StatusOr<Buffer> DataOf(const Snapshot& snapshot) {
  Buffer data(static_cast<size_t>(snapshot.info().nbytes));
  CAIRN_RETURN_IF_ERROR(snapshot.ReadBytes(0, data));
  return data;
}

absl::StatusOr<FrameContent> FullContentOf(const Snapshot& snapshot) {
  FrameContent content;
  CAIRN_ASSIGN_OR_RETURN(content.data, DataOf(snapshot));
  for (const Metalayer& layer : snapshot.metalayers()) {
    content.metalayers[layer.name] = AsText(layer.content);
  }
  for (const std::string& name : snapshot.vlmetalayers()) {
    CAIRN_ASSIGN_OR_RETURN(const Buffer value, snapshot.GetVlmetalayer(name));
    content.vlmetalayers[name] = AsText(value);
  }
  return content;
}

CreateOptions PlainCopies(ChunkSize chunksize) {
  CreateOptions options;
  options.compression.clevel = 0;
  options.chunksize = chunksize;
  return options;
}

absl::Status WriteFrame(const std::string& path, const CreateOptions& options, Bytes data,
                        const std::map<std::string, std::string>& vlmetalayers) {
  CAIRN_ASSIGN_OR_RETURN(Writer writer, Frame::BeginCreate(path, options));
  CAIRN_RETURN_IF_ERROR(writer.Append(data));
  for (const auto& [name, value] : vlmetalayers) {
    CAIRN_RETURN_IF_ERROR(writer.SetVlmetalayer(name, AsBytes(value)));
  }
  return writer.Close();
}

absl::Status AppendTo(const std::string& path, Bytes data, const WriterOptions& options,
                      std::shared_ptr<FileSystem> files) {
  CAIRN_ASSIGN_OR_RETURN(Frame frame, Frame::Open(path, {.file_system = files}));
  CAIRN_ASSIGN_OR_RETURN(Writer writer, frame.OpenWriter(options));
  CAIRN_RETURN_IF_ERROR(writer.Append(data));
  return writer.Close();
}

int64_t StoredBytes(const Snapshot& snapshot) {
  int64_t total = 0;
  for (int64_t i = 0; i < snapshot.info().nchunks; ++i) {
    const auto entry = snapshot.GetEntry(i);
    const auto chunk = snapshot.GetChunk(i);
    EXPECT_TRUE(entry.ok() && chunk.ok()) << i;
    if (entry.ok() && chunk.ok() && entry->offset) {
      total += static_cast<int64_t>(chunk->bytes().size());
    }
  }
  return total;
}

}  // namespace cairn::test
