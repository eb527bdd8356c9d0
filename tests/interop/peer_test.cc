// The wrappers around C-Blosc2 themselves, without Cairn.
#include "tests/interop/peer.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/interop/chunk_case.h"

namespace cairn::interop {
namespace {

TEST(PeerTest, ReadsItsOwnChunks) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const ChunkCase c = MakePeerChunkCase(random);
    SCOPED_TRACE(testing::Message() << "case " << i << ": " << c);
    const auto chunk = PeerCompress(c.data, c.options);
    ASSERT_TRUE(chunk.has_value());
    const Buffer& wanted = c.WantedFrom(*chunk);
    const auto decoded = PeerDecompress(*chunk, c.data.size());
    // C-Blosc2 cannot read its own stored chunks with the dictionary flag.
    if (c.options.use_dict && !decoded.has_value()) continue;
    ASSERT_TRUE(decoded.has_value());
    ASSERT_TRUE(std::ranges::equal(*decoded, wanted));
    const int32_t typesize = ChunkTypesize(c.options.typesize);
    const auto nitems = static_cast<int>(std::ssize(c.data) / typesize);
    if (nitems == 0 || !PeerCanSlice(c.options)) continue;
    const auto items = PeerGetItems(*chunk, nitems / 2, nitems - nitems / 2, typesize);
    ASSERT_TRUE(items.has_value());
    const Bytes part = Bytes(wanted).subspan(static_cast<size_t>(nitems / 2 * typesize));
    ASSERT_TRUE(std::ranges::equal(*items, part.first(items->size())));
  }
}

TEST(PeerTest, ReadsItsOwnVlBlocks) {
  Random random(2);
  CompressionOptions options;
  options.codec = Codec::kZstd;
  std::vector<Buffer> blocks;
  for (const size_t size : {5u, 100u, 40u, 3000u}) {
    blocks.push_back(MakeData(DataKind::kText, size, 1, random));
  }
  const auto chunk = PeerCompressVlBlocks(blocks, options);
  ASSERT_TRUE(chunk.has_value());
  const auto decoded = PeerDecompressVlBlocks(*chunk);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_TRUE(std::ranges::equal(*decoded, blocks));
}

}  // namespace
}  // namespace cairn::interop
