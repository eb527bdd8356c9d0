// The input is a chunk. Whatever its bytes: what decodes is the same each time and depends on
// nothing but them, and every range of it, and every field of its items, is the same part. Blocks
// that are picked out of it decode as they do in the chunk, also if others do not.

#include <algorithm>
#include <vector>

#include "cairn/chunk.h"
#include "engine/base/hash.h"
#include "engine/chunk/decoder.h"
#include "engine/chunk/pick_blocks.h"
#include "fuzz/check.h"
#include "fuzz/lz4_streams.h"
#include "fuzz/mutator.h"
#include "tests/support/dice.h"

namespace cairn::fuzz {
namespace {

constexpr int32_t kMostBytes = 1 << 20;
constexpr int kRanges = 6;

void CheckRanges(Bytes chunk, const ChunkInfo& info, Bytes whole, const ChunkDecompressor& decode) {
  const int64_t nitems = info.nbytes / info.typesize;
  if (nitems == 0) return;
  test::Dice dice(Xxh3(chunk));
  for (int i = 0; i < kRanges; ++i) {
    const size_t start = dice.Below(static_cast<size_t>(nitems));
    const size_t most = static_cast<size_t>(nitems) - start;
    const size_t count = 1 + dice.Below(i % 2 == 0 ? most : std::min<size_t>(most, 8));
    std::vector<std::byte> part(count * static_cast<size_t>(info.typesize));
    const absl::Status status = decode.DecompressItems(chunk, static_cast<int64_t>(start), part);
    if (RepeatsAtNoDistance(chunk)) continue;
    CheckOk(status, "what decodes whole decodes in parts");
    Check(std::ranges::equal(
              part, whole.subspan(start * static_cast<size_t>(info.typesize), part.size())),
          "a part is the part of the whole");
  }
}

// Checks fields of items of any size, not only the chunk's own.
void CheckFields(Bytes chunk, const ChunkInfo& info, Bytes whole) {
  if (RepeatsAtNoDistance(chunk) || whole.empty()) return;
  chunk::WorkspacePool pool;
  chunk::DecodeContext context;
  context.pool = &pool;
  chunk::Decoder decoder;
  CheckOk(decoder.Open(chunk, context), "what decodes can be opened");
  test::Dice dice(Xxh3(chunk));
  for (int i = 0; i < kRanges; ++i) {
    const size_t begin = i == 0 ? 0 : dice.Below(whole.size());
    const size_t most = std::min<size_t>(whole.size() - begin, 300);
    const auto typesize = static_cast<size_t>(info.typesize);
    const size_t size = i % 2 == 0 && typesize <= most ? typesize : 1 + dice.Below(most);
    const size_t count = 1 + dice.Below((whole.size() - begin) / size);
    const size_t offset = dice.Below(size);
    const size_t width = 1 + dice.Below(size - offset);
    std::vector<std::byte> values(count * width);
    const FieldSpan field = {
        .offset = static_cast<int32_t>(offset), .size = static_cast<int32_t>(width), .dst = values};
    const chunk::ItemRange items = {
        .begin = static_cast<int64_t>(begin), .first = 0, .count = static_cast<int64_t>(count)};
    const chunk::WorkspacePool::Lease lease = pool.Acquire();
    CheckOk(decoder.DecodeFields(items, chunk::ItemFields(static_cast<int64_t>(size), {&field, 1}),
                                 *lease),
            "what decodes whole decodes by field");
    for (size_t k = 0; k < count; ++k) {
      Check(std::ranges::equal(Bytes(values).subspan(k * width, width),
                               whole.subspan(begin + k * size + offset, width)),
            "a field is the part of the whole");
    }
  }
}

// Decodes the block that holds a byte.
absl::StatusOr<std::vector<std::byte>> DecodeBlockAt(Bytes chunk, int64_t byte) {
  chunk::WorkspacePool pool;
  chunk::DecodeContext context;
  context.pool = &pool;
  chunk::Decoder decoder;
  if (absl::Status status = decoder.Open(chunk, context); !status.ok()) return status;
  const int64_t size = decoder.header().blocksize;
  const int64_t begin = byte - byte % size;
  std::vector<std::byte> block(static_cast<size_t>(std::min(size, decoder.nbytes() - begin)));
  if (absl::Status status = decoder.DecodeRange(begin, block); !status.ok()) return status;
  return block;
}

void CheckPicked(Bytes chunk, const ChunkInfo& info) {
  if (RepeatsAtNoDistance(chunk) || info.nbytes == 0) return;
  test::Dice dice(Xxh3(chunk));
  for (int i = 0; i < kRanges; ++i) {
    const auto byte = [&] {
      return static_cast<int64_t>(dice.Below(static_cast<size_t>(info.nbytes)));
    };
    std::vector<ByteRange> ranges;
    for (const int64_t at : {byte(), byte()}) ranges.push_back({.begin = at, .end = at + 1});
    const auto picked = chunk::PickBlocks(chunk, ranges);
    if (!picked.has_value()) continue;
    for (const ByteRange& range : ranges) {
      const auto expected = DecodeBlockAt(chunk, range.begin);
      const auto got = DecodeBlockAt(*picked, range.begin);
      Check(got.status().code() == expected.status().code(), "a picked block decodes as it did");
      if (got.ok()) CheckSame(*got, *expected, "a picked block is the block of the chunk");
    }
  }
}

void Decode(Bytes chunk) {
  const absl::StatusOr<ChunkInfo> info = InspectChunk(chunk);
  if (!IsAnswer(info.status())) return;
  IsAnswer(BlockSizes(chunk).status());
  if (info->nbytes > kMostBytes) return;
  const ChunkDecompressor decode;
  std::vector<std::byte> whole(static_cast<size_t>(info->nbytes), std::byte{0xA5});
  const bool decodes = IsAnswer(decode.Decompress(chunk, whole));
  std::vector<std::byte> again(whole.size(), std::byte{0x5A});
  Check(decodes == DecompressChunk(chunk, again).ok(), "a chunk decodes always or never");
  CheckPicked(chunk, *info);
  if (!decodes) return;
  CheckSame(whole, again, "what decodes depends on the chunk alone");
  CheckRanges(chunk, *info, whole, decode);
  CheckFields(chunk, *info, whole);
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Decode(cairn::fuzz::AsBytes(data, size));
  return 0;
}
