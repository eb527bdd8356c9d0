// Streams to test codecs with, the same in every run.
#ifndef CAIRN_TESTS_CODEC_SAMPLES_H_
#define CAIRN_TESTS_CODEC_SAMPLES_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "cairn/types.h"

namespace cairn::codec {

struct Sample {
  std::string name;
  std::vector<std::byte> bytes;
};

// `size` bytes of each kind: compressible or not, with near, far and overlapping repeats.
std::vector<Sample> Samples(size_t size);

// Sizes where something changes: registers, literal runs, matches, blocks.
std::vector<size_t> SampleSizes();

// Bytes 0..255 by `draw()`.
template <typename Draw>
std::vector<std::byte> Generate(size_t size, Draw draw) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(draw());
  return bytes;
}

}  // namespace cairn::codec

#endif  // CAIRN_TESTS_CODEC_SAMPLES_H_
