// Chunks go both ways between Cairn and C-Blosc2.
#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "cairn/chunk.h"
#include "tests/interop/chunk_case.h"
#include "tests/interop/figures.h"
#include "tests/interop/peer.h"
#include "tests/support/status.h"

namespace cairn::interop {
namespace {

constexpr int kCases = 2000;
constexpr int kVlCases = 200;

absl::StatusOr<Buffer> Compress(Bytes src, const CompressionOptions& options) {
  Buffer chunk(MaxCompressedSize(src.size()));
  const auto size = CompressChunk(src, options, chunk);
  if (!size.ok()) return size.status();
  chunk.resize(*size);
  return chunk;
}

absl::StatusOr<Buffer> Decompress(Bytes chunk, size_t nbytes) {
  Buffer decoded(nbytes);
  const absl::Status status = DecompressChunk(chunk, decoded);
  if (!status.ok()) return status;
  return decoded;
}

struct ItemRange {
  int64_t start = 0;
  int64_t count = 0;
  int32_t typesize = 1;
  Bytes In(Bytes data) const {
    return data.subspan(static_cast<size_t>(start * typesize),
                        static_cast<size_t>(count * typesize));
  }
};

ItemRange RandomItems(const ChunkCase& c, Random& random) {
  ItemRange range{.start = 0, .count = 0, .typesize = ChunkTypesize(c.options.typesize)};
  const int64_t nitems = std::ssize(c.data) / range.typesize;
  if (nitems == 0) return range;
  range.start = Between(random, 0, nitems - 1);
  range.count = Between(random, 1, nitems - range.start);
  return range;
}

TEST(Blosc2ChunkTest, PeerDecodesWhatCairnEncodes) {
  Random random(2024);
  int slices = 0;
  for (int i = 0; i < kCases; ++i) {
    const ChunkCase c = MakeChunkCase(random);
    SCOPED_TRACE(testing::Message() << "case " << i << ": " << c);
    const auto chunk = Compress(c.data, c.options);
    ASSERT_TRUE(IsOk(chunk));
    const Buffer& wanted = c.WantedFrom(*chunk);
    const auto decoded = PeerDecompress(*chunk, c.data.size());
    ASSERT_TRUE(decoded.has_value());
    ASSERT_TRUE(std::ranges::equal(*decoded, wanted));
    const auto own = Decompress(*chunk, c.data.size());
    ASSERT_TRUE(IsOk(own));
    ASSERT_TRUE(std::ranges::equal(*own, wanted));

    const ItemRange range = RandomItems(c, random);
    if (!PeerCanSlice(c.options) || range.count == 0) continue;
    const auto items = PeerGetItems(*chunk, static_cast<int>(range.start),
                                    static_cast<int>(range.count), range.typesize);
    ASSERT_TRUE(items.has_value()) << range.start << " + " << range.count;
    ASSERT_TRUE(std::ranges::equal(*items, range.In(wanted)));
    ++slices;
  }
  Report("chunks_encoded_by_cairn", kCases);
  Report("slices_of_them_by_the_peer", slices);
}

TEST(Blosc2ChunkTest, CairnDecodesWhatPeerEncodes) {
  Random random(4202);
  for (int i = 0; i < kCases; ++i) {
    const ChunkCase c = MakePeerChunkCase(random);
    SCOPED_TRACE(testing::Message() << "case " << i << ": " << c);
    const auto chunk = PeerCompress(c.data, c.options);
    ASSERT_TRUE(chunk.has_value());
    const Buffer& wanted = c.WantedFrom(*chunk);
    const auto decoded = Decompress(*chunk, c.data.size());
    ASSERT_TRUE(IsOk(decoded));
    ASSERT_TRUE(std::ranges::equal(*decoded, wanted));

    const ItemRange range = RandomItems(c, random);
    Buffer items(static_cast<size_t>(range.count * range.typesize));
    if (range.count == 0) continue;
    const absl::Status status = DecompressItems(*chunk, range.start, items);
    ASSERT_TRUE(IsOk(status));
    ASSERT_TRUE(std::ranges::equal(items, range.In(wanted)));
  }
  Report("chunks_encoded_by_the_peer", kCases);
}

// Its header then gives another block size than the one that the data was cut by; it cannot read
// such chunks itself.
TEST(Blosc2ChunkTest, CairnRepairsTheBlockSizesOfThePeer) {
  Random random(1000);
  int repaired = 0;
  for (int i = 0; i < 300; ++i) {
    ChunkCase c = MakePeerChunkCase(random);
    // Above 255 the header does not tell the typesize, and nothing can be repaired.
    if (c.options.typesize > 255 || c.options.clevel == 0 || c.data.size() < 32) continue;
    c.options.blocksize = static_cast<int32_t>(Between(random, 300, 20000));
    SCOPED_TRACE(testing::Message() << "case " << i << ": " << c);
    const auto chunk = PeerCompress(c.data, c.options);
    ASSERT_TRUE(chunk.has_value());
    const auto decoded = Decompress(*chunk, c.data.size());
    ASSERT_TRUE(IsOk(decoded));
    ASSERT_TRUE(std::ranges::equal(*decoded, c.WantedFrom(*chunk)));
    if (!PeerDecompress(*chunk, c.data.size()).has_value()) ++repaired;
  }
  EXPECT_GT(repaired, 0);
  Report("chunks_that_only_cairn_reads", repaired);
}

// The sizes must hold in the peer as well.
TEST(Blosc2ChunkTest, HeadersAgree) {
  Random random(7);
  for (int i = 0; i < 200; ++i) {
    const ChunkCase c = MakePeerChunkCase(random);
    SCOPED_TRACE(testing::Message() << "case " << i << ": " << c);
    const auto ours = Compress(c.data, c.options);
    const auto theirs = PeerCompress(c.data, c.options);
    ASSERT_TRUE(IsOk(ours));
    ASSERT_TRUE(theirs.has_value());
    const auto our_info = InspectChunk(*ours);
    const auto their_info = InspectChunk(*theirs);
    ASSERT_TRUE(IsOk(our_info));
    ASSERT_TRUE(IsOk(their_info));
    EXPECT_EQ(our_info->version, their_info->version);
    EXPECT_EQ(our_info->typesize, their_info->typesize);
    EXPECT_EQ(our_info->nbytes, their_info->nbytes);
    int32_t nbytes = 0;
    int32_t cbytes = 0;
    int32_t blocksize = 0;
    ASSERT_EQ(blosc2_cbuffer_sizes(ours->data(), &nbytes, &cbytes, &blocksize), 0);
    EXPECT_EQ(nbytes, std::ssize(c.data));
    EXPECT_EQ(cbytes, std::ssize(*ours));
  }
}

// Settings and blocks for a chunk of variable-length blocks; level 0 has no codec to call.
std::pair<CompressionOptions, std::vector<Buffer>> MakeVlCase(Random& random) {
  CompressionOptions options = MakeLosslessOptions(random);
  options.clevel = std::max(options.clevel, 1);
  options.blocksize = 0;
  std::vector<Buffer> blocks;
  const int64_t nblocks = Between(random, 1, 60);
  for (int64_t i = 0; i < nblocks; ++i) {
    // Complete items only, for the peer loses the rest.
    const int64_t nitems = Between(random, 1, i % 7 == 0 ? 400 : 20);
    blocks.push_back(MakeData(Pick(random, kAllDataKinds),
                              static_cast<size_t>(nitems * options.typesize), options.typesize,
                              random));
  }
  return {options, blocks};
}

TEST(Blosc2ChunkTest, VlBlocksGoBothWays) {
  Random random(99);
  for (int i = 0; i < kVlCases; ++i) {
    const auto [options, blocks] = MakeVlCase(random);
    SCOPED_TRACE(testing::Message() << "case " << i);
    const std::vector<Bytes> spans(blocks.begin(), blocks.end());
    Buffer joined;
    std::vector<int32_t> sizes;
    for (const Buffer& block : blocks) {
      joined.insert(joined.end(), block.begin(), block.end());
      sizes.push_back(static_cast<int32_t>(block.size()));
    }
    Buffer ours(MaxVlCompressedSize(joined.size(), blocks.size()));
    const auto size = CompressVlBlocks(spans, options, ours);
    ASSERT_TRUE(IsOk(size));
    ours.resize(*size);
    const auto decoded = PeerDecompressVlBlocks(ours);
    ASSERT_TRUE(decoded.has_value());
    ASSERT_TRUE(std::ranges::equal(*decoded, blocks));

    const auto theirs = PeerCompressVlBlocks(blocks, options);
    ASSERT_TRUE(theirs.has_value());
    const auto own = Decompress(*theirs, joined.size());
    ASSERT_TRUE(IsOk(own));
    ASSERT_TRUE(std::ranges::equal(*own, joined));
    const auto own_sizes = BlockSizes(*theirs);
    ASSERT_TRUE(IsOk(own_sizes));
    ASSERT_EQ(*own_sizes, sizes);
  }
  Report("vlblock_chunks_each_way", kVlCases);
}

TEST(Blosc2ChunkTest, SpecialChunksGoBothWays) {
  constexpr std::array kSpecials = {SpecialValue::kZeros, SpecialValue::kNans,
                                    SpecialValue::kRepeat, SpecialValue::kUninit};
  Random random(5);
  for (const int32_t typesize : {4, 8}) {
    for (const SpecialValue special : kSpecials) {
      SCOPED_TRACE(testing::Message() << "special " << static_cast<int>(special));
      CompressionOptions options;
      options.typesize = typesize;
      const int32_t nbytes = 5000 * typesize;
      Buffer value;
      if (special == SpecialValue::kRepeat) {
        value = MakeData(DataKind::kRandom, static_cast<size_t>(typesize), typesize, random);
      }
      const auto ours = MakeSpecialChunk(special, nbytes, value, options);
      ASSERT_TRUE(IsOk(ours));
      const auto theirs = PeerSpecialChunk(special, nbytes, value, options);
      ASSERT_TRUE(theirs.has_value());
      const auto by_peer = PeerDecompress(*ours, static_cast<size_t>(nbytes));
      ASSERT_TRUE(by_peer.has_value());
      const auto by_cairn = Decompress(*theirs, static_cast<size_t>(nbytes));
      ASSERT_TRUE(IsOk(by_cairn));
      EXPECT_TRUE(std::ranges::equal(*by_peer, *by_cairn));
    }
  }
}

}  // namespace
}  // namespace cairn::interop
