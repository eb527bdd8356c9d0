// Chunks in Blosc1 form go both ways between Cairn and C-Blosc 1.21.
#include <algorithm>
#include <array>
#include <blosc.h>
#include <optional>

#include <gtest/gtest.h>

#include "cairn/chunk.h"
#include "tests/interop/data.h"
#include "tests/interop/figures.h"
#include "tests/support/status.h"

namespace cairn::interop {
namespace {

constexpr int kCases = 1000;
constexpr int32_t kTypesizes[] = {1, 2, 3, 4, 7, 8, 12, 16, 24, 32, 255, 300};
constexpr size_t kSizes[] = {0, 1, 31, 32, 127, 128, 1000, 4096, 10000, 33333, 100001, 204800};
constexpr int32_t kBlocksizes[] = {0, 0, 0, 1024, 4096, 16384};
constexpr int kLevels[] = {0, 1, 5, 9};
// By C-Blosc's names for them.
constexpr std::array kCodecs = {std::pair{Codec::kBloscLz, "blosclz"},
                                std::pair{Codec::kLz4, "lz4"}, std::pair{Codec::kLz4Hc, "lz4hc"},
                                std::pair{Codec::kZlib, "zlib"}, std::pair{Codec::kZstd, "zstd"}};
constexpr std::array kFilters = {std::pair{Filter::kNone, BLOSC_NOSHUFFLE},
                                 std::pair{Filter::kShuffle, BLOSC_SHUFFLE},
                                 std::pair{Filter::kBitShuffle, BLOSC_BITSHUFFLE}};

struct Case {
  std::pair<Codec, const char*> codec;
  std::pair<Filter, int> filter;
  int level = 0;
  int32_t typesize = 1;
  int32_t blocksize = 0;
  DataKind kind = DataKind::kZeros;
  Buffer data;

  int32_t chunk_typesize() const { return typesize > 255 ? 1 : typesize; }
};

std::ostream& operator<<(std::ostream& stream, const Case& c) {
  return stream << c.codec.second << " level " << c.level << " filter " << c.filter.second
                << " typesize " << c.typesize << " block " << c.blocksize << " data "
                << ToString(c.kind) << " x " << c.data.size();
}

Case MakeCase(Random& random) {
  Case c{.codec = Pick(random, kCodecs), .filter = Pick(random, kFilters), .data = {}};
  c.level = Pick(random, kLevels);
  c.typesize = Pick(random, kTypesizes);
  c.blocksize = Pick(random, kBlocksizes);
  c.kind = Pick(random, kAllDataKinds);
  c.data = MakeData(c.kind, Pick(random, kSizes), c.typesize, random);
  return c;
}

absl::StatusOr<Buffer> Compress(const Case& c) {
  CompressionOptions options;
  options.format = ChunkFormat::kBlosc1;
  options.codec = c.codec.first;
  options.clevel = c.level;
  options.typesize = c.typesize;
  options.blocksize = c.blocksize;
  options.filters.clear();
  if (c.filter.first != Filter::kNone) {
    options.filters.push_back({.filter = c.filter.first, .meta = 0});
  }
  Buffer chunk(MaxCompressedSize(c.data.size()));
  const auto size = CompressChunk(c.data, options, chunk);
  if (!size.ok()) return size.status();
  chunk.resize(*size);
  return chunk;
}

std::optional<Buffer> PeerCompress(const Case& c) {
  Buffer chunk(c.data.size() + BLOSC_MAX_OVERHEAD);
  const int size = blosc_compress_ctx(c.level, c.filter.second, static_cast<size_t>(c.typesize),
                                      c.data.size(), c.data.data(), chunk.data(), chunk.size(),
                                      c.codec.second, static_cast<size_t>(c.blocksize), 1);
  if (size <= 0) return std::nullopt;
  chunk.resize(static_cast<size_t>(size));
  return chunk;
}

std::optional<Buffer> PeerDecompress(Bytes chunk, size_t nbytes) {
  size_t told = 0;
  if (blosc_cbuffer_validate(chunk.data(), chunk.size(), &told) != 0) return std::nullopt;
  if (told != nbytes) return std::nullopt;
  Buffer decoded(nbytes);
  const int size = blosc_decompress_ctx(chunk.data(), decoded.data(), decoded.size(), 1);
  if (size < 0 || static_cast<size_t>(size) != nbytes) return std::nullopt;
  return decoded;
}

TEST(Blosc1Test, PeerDecodesWhatCairnEncodes) {
  Random random(121);
  for (int i = 0; i < kCases; ++i) {
    const Case c = MakeCase(random);
    SCOPED_TRACE(testing::Message() << "case " << i << ": " << c);
    const auto chunk = Compress(c);
    ASSERT_TRUE(IsOk(chunk));
    ASSERT_EQ((*chunk)[0], std::byte{2}) << "version";
    const auto decoded = PeerDecompress(*chunk, c.data.size());
    ASSERT_TRUE(decoded.has_value());
    ASSERT_TRUE(std::ranges::equal(*decoded, c.data));
    const int64_t nitems = std::ssize(c.data) / c.chunk_typesize();
    if (nitems == 0) continue;
    const int64_t start = Between(random, 0, nitems - 1);
    const int64_t count = Between(random, 1, nitems - start);
    Buffer items(static_cast<size_t>(count * c.chunk_typesize()));
    ASSERT_EQ(blosc_getitem(chunk->data(), static_cast<int>(start), static_cast<int>(count),
                            items.data()),
              std::ssize(items));
    const auto first = static_cast<size_t>(start * c.chunk_typesize());
    ASSERT_TRUE(std::ranges::equal(items, Bytes(c.data).subspan(first, items.size())));
  }
  Report("blosc1_chunks_encoded_by_cairn", kCases);
}

TEST(Blosc1Test, CairnDecodesWhatPeerEncodes) {
  Random random(211);
  for (int i = 0; i < kCases; ++i) {
    const Case c = MakeCase(random);
    SCOPED_TRACE(testing::Message() << "case " << i << ": " << c);
    const auto chunk = PeerCompress(c);
    ASSERT_TRUE(chunk.has_value());
    Buffer decoded(c.data.size());
    const absl::Status status = DecompressChunk(*chunk, decoded);
    ASSERT_TRUE(IsOk(status));
    ASSERT_TRUE(std::ranges::equal(decoded, c.data));
  }
  Report("blosc1_chunks_encoded_by_the_peer", kCases);
}

TEST(Blosc1Test, PeerReadsItsOwnChunks) {
  Random random(11);
  for (int i = 0; i < 200; ++i) {
    const Case c = MakeCase(random);
    SCOPED_TRACE(testing::Message() << "case " << i << ": " << c);
    const auto chunk = PeerCompress(c);
    ASSERT_TRUE(chunk.has_value());
    const auto decoded = PeerDecompress(*chunk, c.data.size());
    ASSERT_TRUE(decoded.has_value());
    ASSERT_TRUE(std::ranges::equal(*decoded, c.data));
  }
}

}  // namespace
}  // namespace cairn::interop
