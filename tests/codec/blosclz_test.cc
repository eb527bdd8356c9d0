#include "engine/codec/blosclz.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <random>
#include <string>

#include "absl/status/statusor.h"
#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "engine/codec/stream_codec.h"
#include "tests/codec/samples.h"
#include "tests/support/status.h"

namespace cairn::codec {
namespace {

std::vector<std::byte> Raw(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// Returns the decoded stream, or the error. The buffer is exact, so that a sanitizer sees any
// access outside it.
absl::StatusOr<std::vector<std::byte>> Decode(const std::vector<std::byte>& stream, size_t size) {
  std::vector<std::byte> out(size);
  if (absl::Status status = DecodeBloscLz(stream, out); !status.ok()) return status;
  return out;
}

bool IsDataLoss(const std::vector<std::byte>& stream, size_t size) {
  return absl::IsDataLoss(Decode(stream, size).status());
}

// Nothing of the code under test: opcode by opcode, as the format says.
struct Opcodes {
  bool first_is_literal = false;
  bool last_is_literal = false;
  size_t longest_distance = 0;
  size_t shortest_match = SIZE_MAX;
};

Opcodes Walk(const std::vector<std::byte>& stream) {
  Opcodes seen;
  size_t at = 0;
  const auto next = [&] { return std::to_integer<size_t>(stream.at(at++)); };
  seen.first_is_literal = std::to_integer<size_t>(stream.at(0)) >> 5 == 1;
  for (bool first = true; at < stream.size(); first = false) {
    const size_t control = first ? next() & 0x1F : next();
    seen.last_is_literal = control < 0x20;
    if (seen.last_is_literal) {
      at += control + 1;
      continue;
    }
    size_t length = control >> 5;
    if (length == 7) {
      size_t more;
      do {
        length += more = next();
      } while (more == 255);
    }
    size_t distance = 256 * (control & 0x1F) + next() + 1;
    if (distance == 8192) {
      distance += 256 * next();
      distance += next();
    }
    seen.longest_distance = std::max(seen.longest_distance, distance);
    seen.shortest_match = std::min(seen.shortest_match, length + 2);
  }
  EXPECT_EQ(at, stream.size());
  return seen;
}

std::vector<std::byte> Encode(StreamCodec& encoder, Bytes src, size_t room, int clevel) {
  std::vector<std::byte> out(room);
  out.resize(encoder.Compress(src, out, {.clevel = clevel}).value());
  return out;
}

TEST(BloscLzDecoderTest, ReadsARepeatedAlphabet) {
  std::string expected;
  for (int i = 0; i < 10; ++i) expected += "abcdefghij";
  const auto decoded = Decode(Raw({0x29, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 0xE0,
                                   0x4E, 0x09, 0x02, 'h', 'i', 'j'}),
                              100);
  ASSERT_TRUE(IsOk(decoded));
  EXPECT_EQ(AsText(*decoded), expected);
}

TEST(BloscLzDecoderTest, ReadsALongRun) {
  std::vector<std::byte> expected = Raw({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  expected.resize(399, std::byte{0xC8});
  expected.push_back(std::byte{1});
  const auto decoded = Decode(
      Raw({0x2A, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0xC8, 0xE0, 0xFF, 0x7A, 0, 2, 0xC8, 0xC8, 1}), 400);
  ASSERT_TRUE(IsOk(decoded));
  EXPECT_EQ(*decoded, expected);
}

TEST(BloscLzDecoderTest, ReadsFarMatches) {
  std::mt19937 random(5);
  std::vector<std::byte> expected = Generate(18976, random);
  std::vector<std::byte> stream;
  for (size_t at = 0; at < expected.size(); at += 32) {
    stream.push_back(std::byte{31});
    stream.insert(stream.end(), expected.begin() + static_cast<ptrdiff_t>(at),
                  expected.begin() + static_cast<ptrdiff_t>(at) + 32);
  }
  const auto append = [&](std::initializer_list<int> opcode, size_t distance, size_t length) {
    for (const std::byte byte : Raw(opcode)) stream.push_back(byte);
    for (size_t i = 0; i < length; ++i) expected.push_back(expected[expected.size() - distance]);
  };
  append({0xFF, 0x32, 0xFF, 0x06, 0xAC}, 9900, 59);
  append({0xFF, 0x5A, 0xFF, 0x2A, 0x06}, 18950, 99);
  stream.push_back(std::byte{0});
  stream.push_back(std::byte{'z'});
  expected.push_back(std::byte{'z'});
  const auto decoded = Decode(stream, expected.size());
  ASSERT_TRUE(IsOk(decoded));
  EXPECT_EQ(*decoded, expected);
}

TEST(BloscLzDecoderTest, IgnoresTheUpperBitsOfTheFirstByte) {
  for (const int first : {0x03, 0x23, 0xE3}) {
    const auto decoded = Decode(Raw({first, 'a', 'b', 'c', 'd', 0x20, 0x03, 0, 'z'}), 8);
    ASSERT_TRUE(IsOk(decoded));
    EXPECT_EQ(AsText(*decoded), "abcdabcz");
  }
}

TEST(BloscLzDecoderTest, AcceptsAMatchAtTheEnd) {
  const auto decoded = Decode(Raw({0x23, 'a', 'b', 'c', 'd', 0x20, 0x03}), 7);
  ASSERT_TRUE(IsOk(decoded));
  EXPECT_EQ(AsText(*decoded), "abcdabc");
}

TEST(BloscLzDecoderTest, RepeatsAtEveryShortDistanceAndLength) {
  for (size_t distance = 1; distance <= 32; ++distance) {
    for (size_t length = 3; length <= 130; ++length) {
      for (const size_t after : {0, 1, 31, 32, 63, 64, 65, 200}) {
        std::string expected;
        std::vector<std::byte> stream = Raw({static_cast<int>(distance) - 1});
        for (size_t i = 0; i < distance; ++i) {
          expected += static_cast<char>('A' + i);
          stream.push_back(static_cast<std::byte>(expected.back()));
        }
        for (size_t i = 0; i < length; ++i) expected += expected[expected.size() - distance];
        const size_t extra = length - 2;
        stream.push_back(static_cast<std::byte>(std::min<size_t>(extra, 7) << 5));
        if (extra >= 7) stream.push_back(static_cast<std::byte>(extra - 7));
        stream.push_back(static_cast<std::byte>(distance - 1));
        for (size_t left = after; left > 0;) {
          const size_t run = std::min<size_t>(left, 32);
          stream.push_back(static_cast<std::byte>(run - 1));
          stream.insert(stream.end(), run, std::byte{'z'});
          left -= run;
        }
        expected.append(after, 'z');
        const auto decoded = Decode(stream, expected.size());
        ASSERT_TRUE(IsOk(decoded));
        ASSERT_EQ(AsText(*decoded), expected) << distance << " " << length << " " << after;
      }
    }
  }
}

TEST(BloscLzDecoderTest, RejectsWhatDoesNotFit) {
  EXPECT_TRUE(IsDataLoss({}, 4));
  EXPECT_TRUE(IsDataLoss(Raw({0x23, 'a', 'b', 'c'}), 4)) << "literals end early";
  EXPECT_TRUE(IsDataLoss(Raw({0x23, 'a', 'b', 'c', 'd'}), 3)) << "literals exceed the output";
  EXPECT_TRUE(IsDataLoss(Raw({0x23, 'a', 'b', 'c', 'd'}), 5)) << "too short";
  EXPECT_TRUE(IsDataLoss(Raw({0x20, 'a', 0x20, 0x00}), 3)) << "match exceeds the output";
  EXPECT_TRUE(IsDataLoss(Raw({0x20, 'a', 0x20, 0x01}), 4)) << "match from before the start";
  EXPECT_TRUE(IsDataLoss(Raw({0x20, 'a', 0x20}), 4)) << "match lacks its distance";
  EXPECT_TRUE(IsDataLoss(Raw({0x20, 'a', 0xE0, 0xFF}), 300)) << "match lacks its length";
  EXPECT_TRUE(IsDataLoss(Raw({0x20, 'a', 0x3F, 0xFF, 0x00}), 4)) << "far match lacks a byte";
}

TEST(BloscLzDecoderTest, SurvivesRandomBytes) {
  std::mt19937 random(6);
  for (int round = 0; round < 20000; ++round) {
    // Small values make many opcodes that are nearly right.
    const unsigned mask = round % 2 == 0 ? 0xFF : 0x3F;
    const auto stream = Generate(1 + random() % 60, [&] { return random() & mask; });
    const auto decoded = Decode(stream, random() % 300);
    EXPECT_TRUE(decoded.ok() || absl::IsDataLoss(decoded.status()));
  }
}

// Decodes a stream byte by byte as the format describes. Returns nothing if it is malformed.
std::optional<std::vector<std::byte>> Expected(const std::vector<std::byte>& stream, size_t size) {
  std::vector<std::byte> out;
  size_t at = 0;
  bool malformed = stream.empty();
  const auto next = [&]() -> size_t {
    malformed = malformed || at >= stream.size();
    return malformed ? 0 : std::to_integer<size_t>(stream[at++]);
  };
  for (bool first = true; at < stream.size() && !malformed; first = false) {
    const size_t control = first ? next() & 0x1F : next();
    if (control < 0x20) {
      for (size_t i = 0; i <= control; ++i) out.push_back(static_cast<std::byte>(next()));
    } else {
      size_t length = control >> 5;
      for (size_t more = length == 7 ? 255 : 0; more == 255;) length += more = next();
      size_t distance = 256 * (control & 0x1F) + next() + 1;
      if (distance == 8192) {
        distance += 256 * next();
        distance += next();
      }
      malformed = malformed || distance > out.size() || length + 2 > size - out.size();
      for (size_t i = 0; i < length + 2 && !malformed; ++i) {
        out.push_back(out[out.size() - distance]);
      }
    }
    malformed = malformed || out.size() > size;
  }
  if (malformed || out.size() != size) return std::nullopt;
  return out;
}

// Long enough that a decoder may be less careful far from the ends.
TEST(BloscLzDecoderTest, DecodesDamagedStreamsAsTheFormatSaysOrNotAtAll) {
  std::mt19937 random(12);
  const auto encoder = MakeBloscLz();
  for (const Sample& sample : Samples(5000)) {
    std::vector<std::byte> stream(sample.bytes.size());
    stream.resize(encoder->Compress(sample.bytes, stream, {.clevel = 9}).value());
    if (stream.empty()) continue;
    for (int round = 0; round < 500; ++round) {
      std::vector<std::byte> damaged = stream;
      for (size_t i = random() % 4; i > 0; --i) {
        damaged[random() % damaged.size()] = static_cast<std::byte>(random());
      }
      if (round % 3 == 0) damaged.resize(1 + random() % damaged.size());
      const size_t size = sample.bytes.size() - (round % 2 == 0 ? 0 : random() % 300);
      const auto expected = Expected(damaged, size);
      const auto decoded = Decode(damaged, size);
      ASSERT_EQ(decoded.ok(), expected.has_value()) << sample.name;
      EXPECT_TRUE(decoded.ok() ? *decoded == *expected : absl::IsDataLoss(decoded.status()));
    }
  }
}

TEST(BloscLzDecoderTest, RejectsWhatDoesNotFitFarFromTheEnds) {
  std::vector<std::byte> tail = Raw({0x1F});
  tail.insert(tail.end(), 32, std::byte{'z'});
  const auto with = [&tail](std::initializer_list<int> head) {
    std::vector<std::byte> stream = Raw(head);
    for (int i = 0; i < 10; ++i) stream.insert(stream.end(), tail.begin(), tail.end());
    return stream;
  };
  EXPECT_TRUE(IsOk(Decode(with({0x20, 'a', 0x20, 0x00}), 4 + 320)));
  EXPECT_TRUE(IsDataLoss(with({0x20, 'a', 0x20, 0x01}), 4 + 320)) << "from before the start";
  EXPECT_TRUE(IsDataLoss(with({0x20, 'a', 0x20, 0x10}), 4 + 320)) << "from far before the start";
  EXPECT_TRUE(IsDataLoss(with({0x20, 'a', 0xE0, 200, 0x20}), 210 + 320)) << "the same, long";
  EXPECT_TRUE(IsDataLoss(with({0x20, 'a', 0x3F, 0xFF, 0xFF, 0xFF}), 4 + 320))
      << "as far as it goes";
  EXPECT_TRUE(IsDataLoss(with({0x20, 'a', 0xE0, 255, 255, 255, 255, 0, 0x00}), 900))
      << "exceeds the output";
}

TEST(BloscLzEncoderTest, EveryStreamObeysTheFormat) {
  const auto encoder = MakeBloscLz();
  int compressed = 0;
  for (const size_t size : SampleSizes()) {
    for (const Sample& sample : Samples(size)) {
      for (int clevel = 1; clevel <= 9; ++clevel) {
        if (size > 100000 && clevel % 4 != 1) continue;
        SCOPED_TRACE(sample.name + " " + std::to_string(size) + " " + std::to_string(clevel));
        const auto stream = Encode(*encoder, sample.bytes, size + 100, clevel);
        if (stream.empty()) continue;
        ++compressed;
        ASSERT_LT(stream.size(), size);
        const Opcodes seen = Walk(stream);
        EXPECT_TRUE(seen.first_is_literal);
        EXPECT_TRUE(seen.last_is_literal);
        EXPECT_LE(seen.longest_distance, 73724);
        EXPECT_GE(seen.shortest_match, 3);
        const auto decoded = Decode(stream, size);
        ASSERT_TRUE(IsOk(decoded));
        ASSERT_EQ(*decoded, sample.bytes);
      }
    }
  }
  EXPECT_GT(compressed, 1000);
}

TEST(BloscLzEncoderTest, UsesTheFarthestDistanceAllowed) {
  std::mt19937 random(7);
  for (const size_t distance : {73724, 73725}) {
    auto bytes = Generate(distance, random);
    const std::vector<std::byte> repeated(bytes.begin(), bytes.begin() + 60000);
    bytes.insert(bytes.end(), repeated.begin(), repeated.end());
    const auto encoder = MakeBloscLz();
    const auto stream = Encode(*encoder, bytes, bytes.size(), 9);
    if (distance == 73725) {
      EXPECT_TRUE(stream.empty());
    } else {
      ASSERT_FALSE(stream.empty());
      EXPECT_EQ(Walk(stream).longest_distance, distance);
    }
  }
}

TEST(BloscLzEncoderTest, FitsExactlyOrNotAtAll) {
  const auto encoder = MakeBloscLz();
  for (const size_t size : {40, 1000, 70000}) {
    for (const Sample& sample : Samples(size)) {
      const auto stream = Encode(*encoder, sample.bytes, size, 5);
      if (stream.empty()) continue;
      EXPECT_EQ(Encode(*encoder, sample.bytes, stream.size(), 5), stream) << sample.name;
      EXPECT_EQ(Encode(*encoder, sample.bytes, stream.size() + 3, 5), stream) << sample.name;
      EXPECT_TRUE(Encode(*encoder, sample.bytes, stream.size() - 1, 5).empty()) << sample.name;
      EXPECT_TRUE(Encode(*encoder, sample.bytes, 0, 5).empty()) << sample.name;
    }
  }
}

TEST(BloscLzEncoderTest, ShrinksWhatIsWorthIt) {
  // The share of the bytes that is left, at most.
  const std::map<std::string, double> expected = {
      {"zeros", 0.01},
      {"low counter bytes", 0.02},
      {"high counter bytes", 0.03},
      {"period 2", 0.01},
      {"period 7", 0.01},
      {"period 8191", 0.2},
      {"words", 0.4},
      {"random", 0},
  };
  const auto encoder = MakeBloscLz();
  for (const Sample& sample : Samples(100000)) {
    if (!expected.contains(sample.name)) continue;
    for (int clevel = 3; clevel <= 9; ++clevel) {
      const size_t size = Encode(*encoder, sample.bytes, sample.bytes.size(), clevel).size();
      EXPECT_LE(static_cast<double>(size), 1e5 * expected.at(sample.name)) << sample.name << clevel;
      EXPECT_EQ(size > 0, sample.name != "random") << sample.name << clevel;
    }
  }
}

// The lowest bytes of integers that count up, as SHUFFLE leaves them.
TEST(BloscLzEncoderTest, ShrinksShortStreamsThatRepeatAfter256Bytes) {
  const auto encoder = MakeBloscLz();
  for (size_t size = 400; size < 20000; size += size / 8) {
    std::vector<std::byte> bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i);
    for (int clevel = 1; clevel <= 9; ++clevel) {
      const size_t coded = Encode(*encoder, bytes, size, clevel).size();
      EXPECT_GT(coded, 0) << size << " bytes, level " << clevel;
      EXPECT_LT(coded, 300 + size / 100) << size << " bytes, level " << clevel;
    }
  }
}

// `fresh` random bytes and then `known` ones from a few words, over and over.
std::vector<std::byte> Alternating(size_t size, size_t fresh, size_t known) {
  std::mt19937 random(11);
  const auto words = Generate(64 * known, random);
  std::vector<std::byte> bytes;
  while (bytes.size() < size) {
    const auto noise = Generate(fresh, random);
    bytes.insert(bytes.end(), noise.begin(), noise.end());
    const auto word = words.begin() + static_cast<ptrdiff_t>(random() % 64 * known);
    bytes.insert(bytes.end(), word, word + static_cast<ptrdiff_t>(known));
  }
  return bytes;
}

TEST(BloscLzEncoderTest, ShortMatchesAreNotWorthTheirTimeBelowLevel8) {
  const auto long_matches = Alternating(100000, 96, 96);
  const auto short_matches = Alternating(100000, 6, 6);
  const auto encoder = MakeBloscLz();
  for (int clevel = 3; clevel <= 9; ++clevel) {
    EXPECT_LT(Encode(*encoder, long_matches, 100000, clevel).size(), 65000) << clevel;
    EXPECT_EQ(Encode(*encoder, short_matches, 100000, clevel).empty(), clevel < 8) << clevel;
  }
}

TEST(BloscLzEncoderTest, FindsOrderAfterNoiseThatHardlyRepeats) {
  auto bytes = Alternating(200000, 300, 7);
  bytes.resize(200000);
  const auto order = Alternating(60000, 2, 30);
  bytes.insert(bytes.end(), order.begin(), order.end());
  const auto encoder = MakeBloscLz();
  for (int clevel = 1; clevel <= 9; ++clevel) {
    EXPECT_LT(Encode(*encoder, bytes, bytes.size(), clevel).size(), 220000) << clevel;
  }
}

// The numbers of bytes wrap around after 4 GiB; the encoder must then not see ghosts.
TEST(BloscLzEncoderTest, ForgetsEarlierStreamsForever) {
  const std::vector<Sample> samples = Samples(1000);
  const auto fresh = MakeBloscLz();
  std::vector<std::vector<std::byte>> expected;
  for (const Sample& sample : samples) expected.push_back(Encode(*fresh, sample.bytes, 1000, 9));
  const auto worn = MakeBloscLz();
  for (int round = 0; round < 8; ++round) {
    for (size_t i = 0; i < samples.size(); ++i) {
      ASSERT_EQ(Encode(*worn, samples[i].bytes, 1000, 9), expected[i]) << samples[i].name;
    }
    // Each of these uses up about 75000 numbers of 2^32.
    for (int i = 0; i < 8000; ++i) Encode(*worn, samples[0].bytes, 100, 9);
  }
}

}  // namespace
}  // namespace cairn::codec
