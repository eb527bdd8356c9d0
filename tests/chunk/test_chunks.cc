#include "tests/chunk/test_chunks.h"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "engine/base/bytes.h"
#include "tests/support/status.h"
#include "tests/support/unowned.h"

namespace cairn::chunk {

namespace {

std::byte CounterByte(size_t at, size_t typesize) {
  const size_t shift = 8 * (at % typesize);
  return static_cast<std::byte>(shift < 64 ? (at / typesize) >> shift : 0);
}

testing::AssertionResult Breaks(const char* rule, int64_t block) {
  return testing::AssertionFailure() << rule << ", block " << block;
}

testing::AssertionResult KeepsHeaderRules(Bytes chunk, const ChunkInfo& info) {
  const int32_t written_blocksize = Int32At(chunk, 8);
  if (info.version != (info.vlblocks ? 6 : 5)) return Breaks("version", -1);
  if (chunk[1] != std::byte{1}) return Breaks("versionlz", -1);
  if (!info.extended) return Breaks("marker", -1);
  if (chunk[0x16] != static_cast<std::byte>(info.codec)) return Breaks("udcodec", -1);
  if ((chunk[0x1E] & std::byte{0xFE}) != std::byte{0}) return Breaks("flags2", -1);
  if ((chunk[0x1F] & std::byte{0x8E}) != std::byte{0}) return Breaks("flags", -1);
  if (info.nblocks > 0 && !info.vlblocks && written_blocksize > info.typesize &&
      written_blocksize % info.typesize != 0) {
    return Breaks("blocksize is no multiple of typesize", -1);
  }
  return testing::AssertionSuccess();
}

// Walks over one stream; empty when it is not legal.
std::optional<size_t> EndOfStream(Bytes chunk, size_t at, int32_t size) {
  if (at + 4 > chunk.size()) return std::nullopt;
  const int32_t csize = Int32At(chunk, at);
  at += 4;
  if (csize >= 0)
    return csize <= size ? std::optional(at + static_cast<size_t>(csize)) : std::nullopt;
  const bool run = csize >= -255 && at < chunk.size() && chunk[at] == std::byte{1};
  return run ? std::optional(at + 1) : std::nullopt;
}

}  // namespace

std::vector<std::byte> Payload(Kind kind, size_t size, int32_t typesize) {
  std::vector<std::byte> bytes(size);
  std::mt19937 random(static_cast<uint32_t>(size));
  for (size_t i = 0; i < size; ++i) {
    const size_t stretch = i / 500 % 3;
    if (kind == Kind::kCounter || (kind == Kind::kMixed && stretch == 0)) {
      bytes[i] = CounterByte(i, static_cast<size_t>(typesize));
    } else if (kind == Kind::kRandom || (kind == Kind::kMixed && stretch == 2)) {
      bytes[i] = static_cast<std::byte>(random());
    } else if (kind == Kind::kMixed) {
      bytes[i] = std::byte{0x5A};
    }
  }
  return bytes;
}

std::vector<std::byte> Compress(Bytes payload, const CompressionOptions& options) {
  std::vector<std::byte> chunk(MaxCompressedSize(payload.size()));
  const absl::StatusOr<size_t> size = CompressChunk(payload, options, chunk);
  EXPECT_TRUE(IsOk(size));
  chunk.resize(size.value_or(0));
  chunk.shrink_to_fit();
  return chunk;
}

std::vector<std::byte> CompressBlocks(std::span<const Bytes> blocks,
                                      const CompressionOptions& options) {
  size_t nbytes = 0;
  for (const Bytes block : blocks) nbytes += block.size();
  std::vector<std::byte> chunk(MaxVlCompressedSize(nbytes, blocks.size()));
  const absl::StatusOr<size_t> size = CompressVlBlocks(blocks, options, chunk);
  EXPECT_TRUE(IsOk(size));
  chunk.resize(size.value_or(0));
  chunk.shrink_to_fit();
  return chunk;
}

absl::StatusOr<std::vector<std::byte>> Decompress(Bytes chunk, const Registry* registry) {
  const absl::StatusOr<ChunkInfo> info = InspectChunk(chunk);
  if (!info.ok()) return info.status();
  std::vector<std::byte> payload(static_cast<size_t>(info->nbytes), std::byte{0xEE});
  const absl::Status status =
      DecompressChunk(chunk, payload, {.registry = test::Unowned(registry)});
  if (!status.ok()) return status;
  return payload;
}

std::vector<std::byte> Decoded(Bytes chunk, const Registry* registry) {
  absl::StatusOr<std::vector<std::byte>> payload = Decompress(chunk, registry);
  EXPECT_TRUE(IsOk(payload));
  return payload.ok() ? *std::move(payload) : std::vector<std::byte>();
}

testing::AssertionResult KeepsWriterRules(Bytes chunk) {
  const absl::StatusOr<ChunkInfo> info = InspectChunk(chunk);
  if (!info.ok()) return testing::AssertionFailure() << info.status();
  if (testing::AssertionResult header = KeepsHeaderRules(chunk, *info); !header) return header;
  if (info->memcpyed && chunk[0x1F] != std::byte{0}) return Breaks("flags of a memcpyed chunk", -1);
  if (info->vlblocks || info->nblocks == 0) return testing::AssertionSuccess();
  size_t at = 32 + 4 * static_cast<size_t>(info->nblocks);
  if (info->has_dict) at += 4 + static_cast<size_t>(Int32At(chunk, at));
  for (int32_t block = 0; block < info->nblocks; ++block) {
    if (Int32At(chunk, 32 + 4 * static_cast<size_t>(block)) != static_cast<int32_t>(at)) {
      return Breaks("blocks are not packed", block);
    }
    const int32_t size = static_cast<int32_t>(
        std::min<int64_t>(info->blocksize, info->nbytes - int64_t{block} * info->blocksize));
    const int32_t nstreams = info->split && size == info->blocksize ? info->typesize : 1;
    for (int32_t i = 0; i < nstreams; ++i) {
      const std::optional<size_t> end = EndOfStream(chunk, at, size / nstreams);
      if (!end) return Breaks("stream is not legal", block);
      at = *end;
    }
  }
  return at == chunk.size() ? testing::AssertionSuccess() : Breaks("bytes after the end", -1);
}

}  // namespace cairn::chunk
