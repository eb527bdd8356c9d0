// C-Blosc2 loads the plug-in for the codec pco by its name, and agrees with Cairn on its chunks.
#include <algorithm>
#include <blosc2.h>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/chunk.h"
#include "tests/interop/data.h"
#include "tests/interop/peer.h"
#include "tests/support/status.h"

namespace cairn::interop {
namespace {

constexpr size_t kDataBytes = 1 << 18;
constexpr size_t kHeaderBytes = 32;
constexpr size_t kBeforeStream = kHeaderBytes + 2 * sizeof(int32_t);  // in a chunk of one block
constexpr int kDamages = 4000;
constexpr int kThreads = 4;

CompressionOptions PcoOptions(int32_t typesize, uint8_t meta, int32_t blocksize) {
  return {.codec = Codec::kPco,
          .typesize = typesize,
          .blocksize = blocksize,
          .filters = {},
          .codec_meta = meta};
}

Buffer Compressed(const Buffer& data, const CompressionOptions& options) {
  Buffer chunk(MaxCompressedSize(data.size()));
  const auto size = CompressChunk(data, options, chunk);
  EXPECT_TRUE(IsOk(size));
  chunk.resize(size.value_or(0));
  return chunk;
}

// Both decode what each has encoded, with `threads` threads of C-Blosc2.
void GoBothWays(const Buffer& data, const CompressionOptions& options, int threads) {
  blosc2_cparams cparams = PeerParams(options);
  cparams.nthreads = static_cast<int16_t>(threads);
  const PeerContext encoder(blosc2_create_cctx(cparams), blosc2_free_ctx);
  Buffer theirs(data.size() + BLOSC2_MAX_OVERHEAD);
  const int size =
      blosc2_compress_ctx(encoder.get(), data.data(), Length(data), theirs.data(), Length(theirs));
  ASSERT_GT(size, 0);
  theirs.resize(static_cast<size_t>(size));

  blosc2_dparams dparams = blosc2_get_blosc2_dparams_defaults();
  dparams.nthreads = static_cast<int16_t>(threads);
  const PeerContext decoder(blosc2_create_dctx(dparams), blosc2_free_ctx);
  for (const Buffer& chunk : {theirs, Compressed(data, options)}) {
    Buffer decoded(data.size());
    ASSERT_TRUE(IsOk(DecompressChunk(chunk, decoded)));
    EXPECT_EQ(decoded, data);
    decoded.assign(data.size(), std::byte{});
    ASSERT_EQ(blosc2_decompress_ctx(decoder.get(), chunk.data(), Length(chunk), decoded.data(),
                                    Length(decoded)),
              Length(data));
    EXPECT_EQ(decoded, data);
  }
}

class Blosc2PcoTest : public testing::Test {
 public:
  static void SetUpTestSuite() {
    static char name[] = "pco";  // C-Blosc2 keeps the pointer
    blosc2_codec codec{};
    codec.compcode = static_cast<uint8_t>(Codec::kPco);
    codec.compname = name;
    codec.complib = codec.compcode;
    codec.version = 1;
    ASSERT_EQ(blosc2_register_codec(&codec), 0);
    // The first use loads the library, before threads do.
    const Buffer data(1 << 16);
    GoBothWays(data, PcoOptions(8, 2, 0), 1);
  }
};

TEST_F(Blosc2PcoTest, ChunksGoBothWays) {
  Random random(3);
  for (const DataKind kind : kAllDataKinds) {
    for (const int32_t typesize : {1, 2, 4, 8}) {
      for (uint8_t meta = 0; meta <= (typesize == 1 ? 2 : 3); ++meta) {
        const std::string what = std::string(ToString(kind)) + " typesize " +
                                 std::to_string(typesize) + " meta " + std::to_string(meta);
        SCOPED_TRACE(what);
        // The last block is cut within an item.
        const Buffer data = MakeData(kind, kDataBytes - 1001, typesize, random);
        GoBothWays(data, PcoOptions(typesize, meta, 1 << 14), meta % 2 == 0 ? kThreads : 1);
      }
    }
  }
}

TEST_F(Blosc2PcoTest, ItemsAreReadWithoutTheRest) {
  Random random(4);
  const Buffer data = MakeData(DataKind::kWalk, kDataBytes, 8, random);
  const Buffer chunk = Compressed(data, PcoOptions(8, 3, 1 << 14));
  for (const int start : {0, 1, 2047, 2048, 5000, 32'000}) {
    const auto items = PeerGetItems(chunk, start, 100, 8);
    ASSERT_TRUE(items.has_value());
    const auto begin = data.begin() + start * 8;
    EXPECT_EQ(*items, Buffer(begin, begin + 800)) << start;
  }
}

TEST_F(Blosc2PcoTest, ProgramsThreadsUseIt) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([i] {
      Random random(static_cast<uint64_t>(i));
      for (int round = 0; round < 4; ++round) {
        const Buffer data = MakeData(DataKind::kSine, kDataBytes, 8, random);
        GoBothWays(data, PcoOptions(8, 0, 1 << 14), 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Blosc2PcoTest, DamagedStreamsAreJudgedAlike) {
  Random random(5);
  int errors = 0;
  for (int i = 0; i < kDamages; ++i) {
    const int32_t typesize = 1 << Between(random, 0, 3);
    const Buffer data = MakeData(Pick(random, kAllDataKinds), 1 << 13, typesize, random);
    Buffer chunk = Compressed(data, PcoOptions(typesize, 0, 1 << 13));
    if (chunk.size() >= data.size() || chunk.size() <= kBeforeStream) continue;
    // Most of the times the head and the description.
    const size_t last = std::min(chunk.size() - 1, kBeforeStream + (i % 3 == 0 ? 1 << 13 : 60));
    for (int64_t n = Between(random, 1, 4); n > 0; --n) {
      const int64_t at = Between(random, int64_t{kBeforeStream}, static_cast<int64_t>(last));
      chunk[static_cast<size_t>(at)] = static_cast<std::byte>(Between(random, 0, 255));
    }
    const auto theirs = PeerDecompress(chunk, data.size());
    Buffer ours(data.size());
    const absl::Status status = DecompressChunk(chunk, ours);
    ASSERT_EQ(theirs.has_value(), status.ok()) << i << ": " << status;
    if (status.ok()) {
      ASSERT_EQ(*theirs, ours) << i;
    } else {
      ++errors;
    }
  }
  EXPECT_GT(errors, kDamages / 5);
}

}  // namespace
}  // namespace cairn::interop
