#include "tests/vectors/chunk_checks.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include <gtest/gtest.h>

#include "tests/support/status.h"
#include "tests/vectors/support.h"

namespace cairn::vectors {
namespace {

constexpr int kChunkRanges = 12;

bool IsPlain(const ChunkInfo& info) {
  return info.special == SpecialValue::kNone && !info.memcpyed && info.nbytes > 0;
}

// The manifest has the header's number; Cairn reports the size that holds.
int64_t ExpectedBlocksize(const Entry& entry) {
  const int64_t blocksize = std::min(entry.Number("blocksize"), entry.Number("nbytes"));
  const int64_t typesize = entry.Number("typesize");
  if (entry.Number("chunk_version") < 5 || blocksize <= typesize) return blocksize;
  return blocksize - blocksize % typesize;
}

// 16-byte headers, and those of the betas, do not tell LZ4HC from LZ4.
std::optional<Codec> ExpectedCodec(const Entry& entry, const ChunkInfo& info) {
  const std::optional<Codec> codec = entry.codec();
  if (codec == Codec::kLz4Hc && entry.Number("chunk_version") < 5) return info.codec;
  return codec;
}

void CheckHeader(const Entry& entry, const ChunkInfo& info) {
  EXPECT_EQ(info.version, entry.Number("chunk_version"));
  EXPECT_EQ(info.extended, entry.Flag("extended_header"));
  EXPECT_EQ(info.typesize, entry.Number("typesize"));
  EXPECT_EQ(info.nbytes, entry.Number("nbytes"));
  EXPECT_EQ(info.cbytes, entry.Number("cbytes"));
  EXPECT_EQ(info.memcpyed, entry.Flag("memcpyed"));
  EXPECT_EQ(static_cast<int>(info.special), entry.Number("blosc2_flags") >> 4 & 7);
  EXPECT_EQ(info.vlblocks, entry.Has("vlblocks"));

  std::vector<FilterStage> filters(info.filters.begin(), info.filters.end());
  std::erase_if(filters, [](FilterStage stage) { return stage.filter == Filter::kNone; });
  EXPECT_EQ(filters, entry.filters());

  if (!IsPlain(info)) return;
  EXPECT_EQ(info.codec, ExpectedCodec(entry, info));
  EXPECT_EQ(info.has_dict, (entry.Number("blosc2_flags") & 1) != 0);
  if (info.vlblocks) {
    EXPECT_EQ(info.blocksize, 0);
    EXPECT_EQ(info.nblocks, entry.Number("nblocks"));
    return;
  }
  EXPECT_EQ(info.blocksize, ExpectedBlocksize(entry));
  EXPECT_EQ(info.nblocks, (info.nbytes + info.blocksize - 1) / info.blocksize);
  // Before version 5 the flag alone does not decide.
  if (info.version >= 5 && info.typesize > 1) {
    EXPECT_EQ(info.split, entry.Flag("split"));
  }
}

void CheckBlockSizes(const Entry& entry, Bytes chunk, const ChunkInfo& info) {
  const auto sizes = BlockSizes(chunk);
  ASSERT_TRUE(IsOk(sizes));
  // Stored chunks and special values have no blocks.
  const int64_t nbytes = std::accumulate(sizes->begin(), sizes->end(), int64_t{0});
  EXPECT_EQ(nbytes, IsPlain(info) ? info.nbytes : 0);
  if (info.vlblocks) {
    EXPECT_EQ(*sizes, entry.json["vlblocks"].get<std::vector<int32_t>>());
  }
}

void CheckItems(const Entry& entry, Bytes chunk, const ChunkInfo& info, Bytes decoded) {
  const int64_t nitems = info.nbytes / info.typesize;
  const size_t typesize = static_cast<size_t>(info.typesize);
  std::mt19937_64 random = RandomFor(entry.path);
  for (int i = 0; nitems > 0 && i < kChunkRanges; ++i) {
    const int64_t start = i == 0 ? nitems - 1 : Between(random, 0, nitems - 1);
    // Short ranges and long ones.
    const int64_t longest = i % 2 == 0 ? std::min<int64_t>(nitems - start, 20) : nitems - start;
    const size_t count = static_cast<size_t>(Between(random, 1, longest));
    GuardedBytes items(count * typesize);
    const absl::Status status = DecompressItems(chunk, start, items.bytes());
    ASSERT_TRUE(IsOk(status));
    const Bytes wanted = decoded.subspan(static_cast<size_t>(start) * typesize, count * typesize);
    ASSERT_TRUE(std::ranges::equal(wanted, items.bytes()))
        << "items [" << start << ", " << start + static_cast<int64_t>(count) << ")";
  }
  GuardedBytes item(typesize);
  EXPECT_EQ(DecompressItems(chunk, nitems, item.bytes()).code(), absl::StatusCode::kOutOfRange);
}

}  // namespace

void ExpectBadBytes(const absl::Status& status) {
  const absl::StatusCode code = status.code();
  EXPECT_TRUE(code == absl::StatusCode::kDataLoss || code == absl::StatusCode::kUnimplemented ||
              code == absl::StatusCode::kInvalidArgument ||
              code == absl::StatusCode::kResourceExhausted || code == absl::StatusCode::kOutOfRange)
      << status;
  EXPECT_GT(status.message().size(), 8u) << "says nothing: " << status;
}

absl::StatusOr<std::string> DecodeAll(Bytes chunk) {
  const auto info = InspectChunk(chunk);
  if (!info.ok()) return info.status();
  GuardedBytes item(static_cast<size_t>(info->typesize));
  DecompressItems(chunk, 0, item.bytes()).IgnoreError();
  DecompressItems(chunk, info->nbytes / info->typesize - 1, item.bytes()).IgnoreError();
  BlockSizes(chunk).IgnoreError();
  GuardedBytes decoded(static_cast<size_t>(info->nbytes));
  const absl::Status status = DecompressChunk(chunk, decoded.bytes());
  if (!status.ok()) return status;
  return ContentHash(decoded.bytes());
}

void CheckReadableChunk(const Entry& entry, Bytes chunk) {
  const auto info = InspectChunk(chunk);
  ASSERT_TRUE(IsOk(info));
  CheckHeader(entry, *info);
  CheckBlockSizes(entry, chunk, *info);

  GuardedBytes decoded(static_cast<size_t>(info->nbytes));
  const absl::Status status = DecompressChunk(chunk, decoded.bytes());
  ASSERT_TRUE(IsOk(status));
  // Nothing in such a chunk says that it needs the bitshuffle rule of the betas.
  if (!entry.Flag("ambiguous_bitshuffle")) {
    EXPECT_EQ(ContentHash(decoded.bytes()), entry.content_hash());
  }
  CheckItems(entry, chunk, *info, decoded.bytes());
}

void CheckHostileChunk(const Entry& entry, Bytes chunk) {
  const auto hash = DecodeAll(chunk);
  if (entry.expect() == "error") {
    if (!hash.ok()) return ExpectBadBytes(hash.status());
    EXPECT_EQ(entry.Text("tolerable"), "same-content") << "must be refused";
    EXPECT_EQ(*hash, entry.Text("base_content_xxh128"));
    return;
  }
  if (!hash.ok()) ExpectBadBytes(hash.status());
  // The header's block size is not a multiple of the typesize. Reading can and must repair it.
  const bool repairable =
      entry.Has("input_xxh128") && entry.Number("blocksize") % entry.Number("typesize") != 0;
  if (!repairable) return;
  ASSERT_TRUE(IsOk(hash));
  EXPECT_EQ(*hash, entry.Text("input_xxh128"));
}

void CheckUnsupportedChunk(Bytes chunk) {
  const absl::Status status = DecodeAll(chunk).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_GT(status.message().size(), 8u) << "says nothing: " << status;
}

}  // namespace cairn::vectors
