// Random calls with C-Blosc2 itself and with the library that has its interface.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/blosc2_api/calls.h"

namespace cairn::blosc2_api {
namespace {

using Random = std::mt19937_64;
using Buffer = std::vector<uint8_t>;

int Below(Random& random, int end) {
  return static_cast<int>(random() % static_cast<uint64_t>(end));
}

// Bytes that some codecs and filters gain from.
Buffer MakePayload(Random& random, size_t size) {
  Buffer payload(size);
  const int kind = Below(random, 4);
  for (size_t i = 0; i < size; ++i) {
    if (kind == 0) payload[i] = static_cast<uint8_t>(i / 7);
    if (kind == 1) payload[i] = static_cast<uint8_t>(random());
    if (kind == 2) payload[i] = static_cast<uint8_t>(i % 4 == 0 ? i / 64 : 0);
  }
  return payload;
}

blosc2_cparams MakeParameters(Random& random) {
  constexpr std::array<uint8_t, 5> kCodecs = {BLOSC_BLOSCLZ, BLOSC_LZ4, BLOSC_LZ4HC, BLOSC_ZLIB,
                                              BLOSC_ZSTD};
  constexpr std::array<int32_t, 9> kTypesizes = {1, 2, 3, 4, 8, 16, 17, 255, 1000};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.compcode = kCodecs[static_cast<size_t>(Below(random, 5))];
  cparams.clevel = static_cast<uint8_t>(Below(random, 10));
  cparams.typesize = kTypesizes[static_cast<size_t>(Below(random, 9))];
  cparams.splitmode = 1 + Below(random, 4);
  cparams.nthreads = static_cast<int16_t>(1 + Below(random, 3));
  if (Below(random, 3) == 0) cparams.blocksize = cparams.typesize * (64 + Below(random, 4000));
  // An encoder of C-Blosc2 loses data with more filters than two, and with DELTA in part of an
  // item.
  constexpr std::array<std::array<uint8_t, 2>, 6> kFilters = {{{0, 0},
                                                               {0, BLOSC_SHUFFLE},
                                                               {0, BLOSC_BITSHUFFLE},
                                                               {BLOSC_SHUFFLE, 35},
                                                               {BLOSC_DELTA, 0},
                                                               {BLOSC_DELTA, BLOSC_SHUFFLE}}};
  const auto& filters = kFilters[static_cast<size_t>(Below(random, 6))];
  cparams.filters[4] = filters[0];
  cparams.filters[5] = filters[1];
  if (filters[1] == 35) cparams.filters_meta[5] = static_cast<uint8_t>(1 + Below(random, 8));
  return cparams;
}

class DifferentialTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(genuine_.Load(std::getenv("GENUINE_BLOSC2")));
    ASSERT_TRUE(ours_.Load(std::getenv("CAIRN_BLOSC2_API")));
  }

  Buffer Compress(const Calls& library, const blosc2_cparams& cparams, const Buffer& payload) {
    Buffer chunk(payload.size() + BLOSC2_MAX_OVERHEAD);
    blosc2_context* const context = library.blosc2_create_cctx(cparams);
    const int size =
        library.blosc2_compress_ctx(context, payload.data(), static_cast<int32_t>(payload.size()),
                                    chunk.data(), static_cast<int32_t>(chunk.size()));
    library.blosc2_free_ctx(context);
    EXPECT_GT(size, 0) << "codec " << int{cparams.compcode};
    chunk.resize(static_cast<size_t>(std::max(size, 0)));
    return chunk;
  }

  // Returns the content, or nothing after an error, whose code goes into `code`.
  Buffer Decompress(const Calls& library, const Buffer& chunk, int16_t nthreads, int& code) {
    int32_t nbytes = 0;
    code = library.blosc2_cbuffer_sizes(chunk.data(), &nbytes, nullptr, nullptr);
    constexpr int32_t kMost = 1 << 22;
    if (code < 0 || nbytes < 0 || nbytes > kMost) return {};
    Buffer content(static_cast<size_t>(nbytes));
    blosc2_dparams dparams = BLOSC2_DPARAMS_DEFAULTS;
    dparams.nthreads = nthreads;
    blosc2_context* const context = library.blosc2_create_dctx(dparams);
    code = library.blosc2_decompress_ctx(context, chunk.data(), static_cast<int32_t>(chunk.size()),
                                         content.data(), nbytes);
    library.blosc2_free_ctx(context);
    return code < 0 ? Buffer() : content;
  }

  int GetItems(const Calls& library, const Buffer& chunk, int start, int count, Buffer& items) {
    blosc2_context* const context = library.blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
    const int size =
        library.blosc2_getitem_ctx(context, chunk.data(), static_cast<int32_t>(chunk.size()), start,
                                   count, items.data(), static_cast<int32_t>(items.size()));
    library.blosc2_free_ctx(context);
    return size;
  }

  Calls genuine_;
  Calls ours_;
};

TEST_F(DifferentialTest, EachReadsWhatTheOtherMakes) {
  Random random(1);
  for (int round = 0; round < 400; ++round) {
    const blosc2_cparams cparams = MakeParameters(random);
    const size_t items = 1 + random() % (200'000 / static_cast<size_t>(cparams.typesize));
    const Buffer payload = MakePayload(random, items * static_cast<size_t>(cparams.typesize));
    for (const Calls* const library : {&genuine_, &ours_}) {
      const Buffer chunk = Compress(*library, cparams, payload);
      int code = 0;
      EXPECT_EQ(Decompress(genuine_, chunk, cparams.nthreads, code), payload) << code;
      EXPECT_EQ(Decompress(ours_, chunk, cparams.nthreads, code), payload) << code;
      size_t nbytes = 0;
      EXPECT_EQ(ours_.blosc1_cbuffer_validate(chunk.data(), chunk.size(), &nbytes), 0);
    }
    if (HasFailure()) FAIL() << "round " << round;
  }
}

TEST_F(DifferentialTest, ItemsAreTheSame) {
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    const blosc2_cparams cparams = MakeParameters(random);
    if (cparams.filters[4] == BLOSC_DELTA) continue;  // C-Blosc2 gives other items after block 0
    const int items = 1 + Below(random, 100'000 / cparams.typesize);
    const Buffer payload =
        MakePayload(random, static_cast<size_t>(items) * static_cast<size_t>(cparams.typesize));
    const Buffer chunk = Compress(ours_, cparams, payload);
    const int unit = cparams.typesize > 255 ? 1 : cparams.typesize;
    const int in_chunk = items * (cparams.typesize / unit);
    for (int i = 0; i < 5; ++i) {
      const int start = Below(random, in_chunk + 2) - 1;
      const int count = Below(random, in_chunk + 2 - std::max(start, 0));
      Buffer expected(payload.size() + 1000, 7);
      Buffer got = expected;
      const int code = GetItems(genuine_, chunk, start, count, expected);
      EXPECT_EQ(GetItems(ours_, chunk, start, count, got), code) << start << " " << count;
      EXPECT_TRUE(code < 0 || got == expected) << start << " " << count;
    }
    if (HasFailure()) FAIL() << "round " << round;
  }
}

TEST_F(DifferentialTest, DamagedChunksAreRefusedOrReadAlike) {
  Random random(3);
  int both = 0;
  for (int round = 0; round < 3000; ++round) {
    blosc2_cparams cparams = MakeParameters(random);
    cparams.filters[4] = 0;
    cparams.typesize = std::min(cparams.typesize, 16);
    const Buffer payload = MakePayload(random, static_cast<size_t>(cparams.typesize) * 500);
    Buffer chunk = Compress(ours_, cparams, payload);
    // The version decides how much of the format's past a library knows.
    for (int i = Below(random, 3); i >= 0; --i) {
      chunk[1 + random() % (chunk.size() - 1)] = static_cast<uint8_t>(random());
    }
    if (Below(random, 4) == 0) chunk.resize(16 + random() % (chunk.size() - 15));
    int expected_code = 0;
    int code = 0;
    const Buffer expected = Decompress(genuine_, chunk, 1, expected_code);
    const Buffer got = Decompress(ours_, chunk, 1, code);
    if (code < 0 || expected_code < 0) continue;
    both += 1;
    EXPECT_TRUE(got == expected) << "round " << round;
  }
  EXPECT_GT(both, 300);
}

}  // namespace
}  // namespace cairn::blosc2_api
