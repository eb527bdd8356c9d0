#include "tests/codec/samples.h"

#include <algorithm>
#include <string_view>

namespace cairn::codec {

namespace {

std::vector<std::byte> Periodic(size_t size, size_t period) {
  std::mt19937 random(static_cast<unsigned>(period));
  const std::vector<std::byte> pattern = Generate(period, random);
  size_t at = 0;
  return Generate(size, [&] { return pattern[at++ % period]; });
}

std::vector<std::byte> Words(size_t size) {
  static constexpr std::string_view kWords[] = {"chunk ", "of ",     "the ",  "frame",
                                                ", ",     "offset ", "0x1F ", "is\n"};
  std::mt19937 random(1);
  std::string text;
  while (text.size() < size) text += kWords[random() % std::size(kWords)];
  size_t at = 0;
  return Generate(size, [&] { return text[at++]; });
}

// The byte at `position` of each of the ascending 32-bit integers.
std::vector<std::byte> Counter(size_t size, int position) {
  uint32_t value = 0;
  return Generate(size, [&] { return value++ >> (8 * position); });
}

std::vector<std::byte> Runs(size_t size) {
  std::mt19937 random(2);
  size_t byte = 0;
  return Generate(size, [&] {
    if (random() % 23 == 0) byte = random() % 5;
    return byte;
  });
}

// Compressible stretches between others that are not.
std::vector<std::byte> Patchwork(size_t size) {
  std::mt19937 random(3);
  size_t at = 0;
  return Generate(size, [&] { return ++at % 3000 < 700 ? random() : at / 9 % 7; });
}

}  // namespace

std::vector<Sample> Samples(size_t size) {
  std::mt19937 random(4);
  return {
      {"zeros", std::vector<std::byte>(size)},
      {"random", Generate(size, random)},
      {"words", Words(size)},
      {"low counter bytes", Counter(size, 0)},
      {"high counter bytes", Counter(size, 1)},
      {"runs", Runs(size)},
      {"patchwork", Patchwork(size)},
      {"period 2", Periodic(size, 2)},
      {"period 3", Periodic(size, 3)},
      {"period 7", Periodic(size, 7)},
      {"period 11", Periodic(size, 11)},
      {"period 8191", Periodic(size, 8191)},
      {"period 8192", Periodic(size, 8192)},
      {"period 73725", Periodic(size, 73725)},
  };
}

std::vector<size_t> SampleSizes() {
  return {1,  2,   3,   7,   8,   12,  13,   15,   16,    17,    31,    32,    33,     64,     65,
          66, 100, 127, 255, 256, 257, 1000, 4096, 10000, 65535, 65536, 73800, 200000, 1 << 20};
}

}  // namespace cairn::codec
