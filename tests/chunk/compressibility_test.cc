// Incompressible data is stored without coding it; anything else is coded.
#include "engine/chunk/compressibility.h"

#include <cmath>
#include <functional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "cairn/chunk.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "tests/chunk/test_chunks.h"
#include "tests/support/reverse_executor.h"
#include "tests/support/unowned.h"

namespace cairn::chunk {
namespace {

constexpr Codec kCodecs[] = {Codec::kBloscLz, Codec::kLz4, Codec::kLz4Hc, Codec::kZlib,
                             Codec::kZstd};
constexpr size_t kKiB = 1024;

std::vector<std::byte> Noise(size_t size, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() >> 11);
  return bytes;
}

// `size` bytes that begin again every `period`.
std::vector<std::byte> Periodic(size_t size, size_t period) {
  std::vector<std::byte> bytes = Noise(size);
  for (size_t i = period; i < size; ++i) bytes[i] = bytes[i - period];
  return bytes;
}

CompressionOptions Options(Codec codec, int32_t typesize) {
  CompressionOptions options;
  options.codec = codec;
  options.typesize = typesize;
  return options;
}

// The stored share of the chunk, which must come back right.
double Ratio(const std::vector<std::byte>& payload, const CompressionOptions& options) {
  const std::vector<std::byte> bytes = Compress(payload, options);
  EXPECT_EQ(Decoded(bytes), payload);
  return static_cast<double>(bytes.size()) / static_cast<double>(payload.size());
}

TEST(SampleWindowsTest, HasEveryDistanceBetweenTwoWindows) {
  const std::vector<std::byte> bytes(256 * kKiB);
  const SampleWindows windows(bytes, 1);
  const size_t window = windows.Window(0).size();
  std::vector<bool> seen(bytes.size() / window);
  for (size_t i = 0; i < windows.count(); ++i) {
    for (size_t k = i; k < windows.count(); ++k) {
      seen[static_cast<size_t>(windows.Window(k).data() - windows.Window(i).data()) / window] =
          true;
    }
  }
  EXPECT_EQ(std::ranges::count(seen, true), static_cast<ptrdiff_t>(seen.size()));
  EXPECT_LT(windows.size(), bytes.size() / 8);
}

TEST(SampleWindowsTest, QuickSampleMissesNothingLongerThanAnEighth) {
  for (const size_t unit : {1, 4, 8, 16, 100}) {
    const std::vector<std::byte> bytes(256 * kKiB);
    const SampleWindows quick = SampleWindows::Quick(bytes, unit);
    EXPECT_LE(quick.size(), bytes.size() / 4) << unit;
    const std::byte* last = bytes.data();
    for (size_t i = 0; i < quick.count(); ++i) {
      EXPECT_EQ((quick.Window(i).data() - bytes.data()) % static_cast<ptrdiff_t>(unit), 0);
      EXPECT_LE(quick.Window(i).data() + quick.Window(i).size() - last,
                static_cast<ptrdiff_t>(bytes.size() / 8 + quick.Window(0).size()));
      last = quick.Window(i).data();
    }
    EXPECT_LE(bytes.data() + bytes.size() - last,
              static_cast<ptrdiff_t>(bytes.size() / 8 + 9 * quick.Window(0).size()));
  }
}

TEST(CompressibilityProbeTest, FindsRandomBytesOfEverySize) {
  CompressibilityProbe probe;
  for (const Codec codec : kCodecs) {
    int probed = 0;
    int noise = 0;
    for (size_t size = 2048; size < 600000; size += 1 + size / 20) {
      if (!CompressibilityProbe::IsWorthProbing(size, codec)) continue;
      ++probed;
      noise += probe.IsIncompressible(Noise(size, static_cast<uint32_t>(size)), 1, codec);
    }
    EXPECT_GE(noise, probed - 1) << static_cast<int>(codec);
    EXPECT_GT(probed, 40);
  }
}

TEST(CompressibilityProbeTest, LeavesACodecOfTheProgramsOwnAlone) {
  EXPECT_FALSE(CompressibilityProbe::IsWorthProbing(100000, static_cast<Codec>(160)));
}

TEST(CompressibilityProbeTest, FindsARepeatAtAnyDistance) {
  CompressibilityProbe probe;
  for (const Codec codec : kCodecs) {
    for (size_t period = 1; period <= 32 * kKiB; period += 1 + period / 5) {
      ASSERT_FALSE(probe.IsIncompressible(Periodic(64 * kKiB, period), 1, codec))
          << static_cast<int>(codec) << " every " << period;
    }
  }
}

TEST(CompressibilityProbeTest, FindsTheRepeatOfASlowCodecAnywhere) {
  CompressibilityProbe probe;
  for (const Codec codec : {Codec::kLz4Hc, Codec::kZlib, Codec::kZstd}) {
    for (size_t to = 40 * kKiB; to < 240 * kKiB; to += 13 * kKiB) {
      std::vector<std::byte> bytes = Noise(256 * kKiB, static_cast<uint32_t>(to));
      CopyBytes(Bytes(bytes).subspan(to - 21 * kKiB, 12 * kKiB), MutableBytes(bytes).subspan(to));
      EXPECT_FALSE(probe.IsIncompressible(bytes, 1, codec))
          << static_cast<int>(codec) << " at " << to;
    }
  }
}

TEST(CompressibilityProbeTest, UnevenBytesAreCompressibleForACodecThatCountsThem) {
  std::mt19937 random(7);
  CompressibilityProbe probe;
  for (const size_t size : {4 * kKiB, 64 * kKiB, 500 * kKiB}) {
    std::vector<std::byte> bytes(size);
    // Seven bits of eight: what base64 or a file of small numbers has even less of.
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() >> 11 & 0x7F);
    EXPECT_FALSE(probe.IsIncompressible(bytes, 1, Codec::kZstd)) << size;
    EXPECT_FALSE(probe.IsIncompressible(bytes, 1, Codec::kZlib)) << size;
  }
}

TEST(CompressibilityTest, IncompressibleChunkIsStoredAsItIs) {
  const std::vector<std::byte> payload = Noise(1024 * kKiB);
  for (const Codec codec : kCodecs) {
    const std::vector<std::byte> bytes = Compress(payload, Options(codec, 8));
    EXPECT_TRUE(InspectChunk(bytes)->memcpyed) << static_cast<int>(codec);
    EXPECT_EQ(Decoded(bytes), payload);
  }
}

// These are periods that zlib sees, up to 32 KiB. BloscLZ finds the order of its own sample only.
class PeriodTest : public testing::TestWithParam<size_t> {};

TEST_P(PeriodTest, RepeatedNoiseIsNotStoredTwice) {
  const std::vector<std::byte> payload = Periodic(1024 * kKiB, GetParam());
  for (const Codec codec : {Codec::kLz4, Codec::kLz4Hc, Codec::kZlib, Codec::kZstd}) {
    for (const int32_t typesize : {1, 4, 8}) {
      for (const Filter filter : {Filter::kNone, Filter::kShuffle, Filter::kBitShuffle}) {
        CompressionOptions options = Options(codec, typesize);
        options.filters = {{.filter = filter}};
        options.blocksize = 256 * kKiB;
        EXPECT_LT(Ratio(payload, options), 0.3)
            << static_cast<int>(codec) << " " << typesize << " " << static_cast<int>(filter);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Periods, PeriodTest,
                         testing::Values(31 * kKiB, 32 * kKiB - 512, 24 * kKiB, 4096));

TEST(CompressibilityTest, NoisyFloatsKeepWhatTheirExponentsGive) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<std::byte> payload(1024 * kKiB);
  for (size_t i = 0; i < payload.size(); i += 4) {
    StoreLe<uint32_t>(&payload[i], std::bit_cast<uint32_t>(normal(random)));
  }
  EXPECT_LT(Ratio(payload, Options(Codec::kZstd, 4)), 0.90);
  EXPECT_LT(Ratio(payload, Options(Codec::kZlib, 4)), 0.90);
}

TEST(CompressibilityTest, BlocksAmongRandomOnesAreCodedAndTheSameInParallel) {
  const std::vector<std::byte> noise = Noise(1024 * kKiB);
  const std::vector<std::byte> plain = Payload(Kind::kCounter, 64 * kKiB, 8);
  for (const Codec codec : kCodecs) {
    for (const unsigned pattern : {0x0001u, 0x8000u, 0x0F0Fu, 0xFFFEu, 0x0180u}) {
      std::vector<std::byte> payload = noise;
      for (size_t i = 0; i < 16; ++i) {
        if ((pattern >> i & 1) != 0) CopyBytes(plain, MutableBytes(payload).subspan(i * 64 * kKiB));
      }
      CompressionOptions options = Options(codec, 8);
      options.blocksize = 64 * kKiB;
      const double noisy = 1 - std::popcount(pattern) / 16.0;
      EXPECT_LT(Ratio(payload, options), noisy + 0.04) << static_cast<int>(codec) << pattern;
      const std::vector<std::byte> alone = Compress(payload, options);
      ReverseExecutor executor(3);
      options.executor = test::Unowned(&executor);
      EXPECT_EQ(Compress(payload, options), alone) << static_cast<int>(codec) << pattern;
    }
  }
}

// A block that a quick sample must recognise after an incompressible one.
struct Turn {
  std::string name;
  std::function<void(MutableBytes block)> make;
  double share;  // of the block that remains, at most
};

std::vector<Turn> Turns() {
  const auto top_byte = [](MutableBytes block, auto next) {
    for (size_t i = 7; i < block.size(); i += 8) block[i] = static_cast<std::byte>(next());
  };
  static std::mt19937 random(5);
  return {
      {"zeros after", [](MutableBytes block) { FillBytes(block.last(block.size() / 4), {}); },
       0.78},
      {"a constant column", [=](MutableBytes block) { top_byte(block, [] { return 17; }); }, 0.89},
      {"a column of few values",
       [=](MutableBytes block) { top_byte(block, [] { return random() % 4; }); }, 0.93},
      {"a column of steps",
       [=](MutableBytes block) { top_byte(block, [n = 0]() mutable { return n++ / 8; }); }, 0.90},
      {"records that repeat",
       [](MutableBytes block) {
         for (size_t i = 320; i < block.size(); ++i) block[i] = block[i - 320];
       },
       0.2},
  };
}

TEST(CompressibilityTest, WhatTurnsCompressibleAfterNoiseIsFound) {
  constexpr size_t kBlocks = 6;
  const std::vector<std::byte> noise = Noise(kBlocks * 512 * kKiB);
  for (const auto& [name, make, share] : Turns()) {
    for (const Codec codec : {Codec::kLz4, Codec::kLz4Hc, Codec::kZlib, Codec::kZstd}) {
      CompressionOptions options = Options(codec, 8);
      options.blocksize = 512 * kKiB;
      for (size_t turned = 1; turned < kBlocks; ++turned) {
        std::vector<std::byte> payload = noise;
        make(MutableBytes(payload).subspan(turned * 512 * kKiB, 512 * kKiB));
        // LZ4 counts no bytes.
        const bool few = name == "a column of few values";
        const bool gains = !few || codec == Codec::kZlib || codec == Codec::kZstd;
        const double most = gains ? (kBlocks - 1 + share + 0.01) / kBlocks : 1.01;
        EXPECT_LT(Ratio(payload, options), most)
            << name << " in block " << turned << ", codec " << static_cast<int>(codec);
      }
    }
  }
}

TEST(CompressibilityTest, FarRepeatsAfterNoiseAreFoundAfterAFewBlocks) {
  constexpr size_t kBlock = 256 * kKiB;
  const std::vector<std::byte> noise = Noise(16 * kBlock);
  for (const Codec codec : {Codec::kLz4, Codec::kLz4Hc, Codec::kZlib, Codec::kZstd}) {
    for (size_t turned = 1; turned < 8; ++turned) {
      std::vector<std::byte> payload = noise;
      for (size_t i = turned * kBlock + 24 * kKiB; i < payload.size(); ++i) {
        payload[i] = payload[i - 24 * kKiB];
      }
      CompressionOptions options = Options(codec, 4);
      options.blocksize = kBlock;
      // Up to seven blocks may pass, and of each later one the first period is noise.
      const double most = (8 + 0.15 * 16) / 16;
      EXPECT_LT(Ratio(payload, options), most) << static_cast<int>(codec) << " from " << turned;
    }
  }
}

TEST(CompressibilityTest, LongBlocksAmongRandomOnesAreTheSameInParallel) {
  constexpr size_t kBlock = 256 * kKiB;
  const std::vector<std::byte> noise = Noise(12 * kBlock);
  const std::vector<std::byte> far = Periodic(kBlock, 24 * kKiB);
  for (const Codec codec : kCodecs) {
    for (const unsigned pattern : {0x001u, 0x002u, 0x810u, 0x808u, 0xEEEu}) {
      std::vector<std::byte> payload = noise;
      for (size_t i = 0; i < 12; ++i) {
        if ((pattern >> i & 1) != 0) CopyBytes(far, MutableBytes(payload).subspan(i * kBlock));
      }
      CompressionOptions options = Options(codec, 4);
      options.blocksize = kBlock;
      const std::vector<std::byte> alone = Compress(payload, options);
      ReverseExecutor executor(3);
      options.executor = test::Unowned(&executor);
      EXPECT_EQ(Compress(payload, options), alone) << static_cast<int>(codec) << pattern;
    }
  }
}

TEST(CompressibilityTest, TextInNoiseIsFound) {
  std::vector<std::byte> payload = Noise(512 * kKiB);
  const std::string line = "2026-11-21 23:59:59.123 INFO the quick brown fox jumps over it\n";
  for (size_t at = 100 * kKiB; at < 400 * kKiB; at += line.size()) {
    CopyBytes(AsBytes(line), MutableBytes(payload).subspan(at));
  }
  for (const Codec codec : kCodecs) {
    EXPECT_LT(Ratio(payload, Options(codec, 1)), 0.5) << static_cast<int>(codec);
  }
}

// A registry, even an empty one, keeps the probe from being asked.
TEST(CompressibilityTest, NothingThatACodecShrinksIsMissed) {
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal;
  std::vector<std::pair<std::string, std::vector<std::byte>>> payloads;
  const auto add = [&payloads](const std::string& name, auto next) {
    std::vector<std::byte> bytes(512 * kKiB);
    for (size_t i = 0; i < bytes.size(); i += 8) StoreLe<uint64_t>(&bytes[i], next());
    payloads.emplace_back(name, std::move(bytes));
  };
  uint64_t time = 1700000000000000;
  add("times", [&] { return time += 1000 + random() % 64; });
  double walk = 100;
  add("walk", [&] {
    return std::bit_cast<uint64_t>(walk += static_cast<double>(random() % 129) / 4096 - 1 / 64.);
  });
  add("normal", [&] { return std::bit_cast<uint64_t>(normal(random)); });
  uint32_t level = 200000;
  const auto step = [&] { return level += static_cast<uint32_t>(random() % 7) - 3; };
  add("levels", [&] { return uint64_t{step()} << 32 | step(); });
  uint32_t slow = 0;
  const auto next = [&] { return slow += static_cast<uint32_t>(random() % 7); };
  add("slow", [&] { return uint64_t{next()} << 32 | next(); });
  add("words", [&] { return (random() % 5000 * uint64_t{0x9E3779B97F4A7C15}) ^ random() % 3; });
  add("digits", [&] { return random() % 10 * 0x0101010101010101 + random() % 9999; });
  add("bits", [&] { return random() & 0x7F7F7F7F7F7F7F7F; });
  const Registry none;
  for (const auto& [name, payload] : payloads) {
    for (const Codec codec : kCodecs) {
      for (const int32_t typesize : {1, 4, 8, 12}) {
        for (const Filter filter : {Filter::kNone, Filter::kShuffle, Filter::kBitShuffle}) {
          for (const int clevel : {1, 5}) {
            // Both levels give equal results, and slowly.
            if (clevel == 5 && (codec == Codec::kLz4Hc || codec == Codec::kZlib)) continue;
            CompressionOptions options = Options(codec, typesize);
            options.filters = {{.filter = filter}};
            options.clevel = clevel;
            const double probed = Ratio(payload, options);
            options.registry = test::Unowned(&none);
            // A block that repeats a few words among thousands may be taken for noise.
            const double bound = name == "words" ? 1.03 : 1.005;
            EXPECT_LT(probed, Ratio(payload, options) * bound)
                << name << " " << static_cast<int>(codec) << "-" << clevel << " typesize "
                << typesize << " filter " << static_cast<int>(filter);
          }
        }
      }
    }
  }
}

TEST(CompressibilityTest, DictionaryIsAskedFirst) {
  std::vector<std::byte> payload = Periodic(256 * kKiB, 2 * kKiB);
  CompressionOptions options = Options(Codec::kZstd, 1);
  options.filters.clear();
  options.blocksize = 4 * kKiB;
  options.use_dict = true;
  EXPECT_LT(Ratio(payload, options), 0.3);
}

}  // namespace
}  // namespace cairn::chunk
