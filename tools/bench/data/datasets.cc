#include "tools/bench/data/datasets.h"

#include <cstring>

namespace cairn::bench {

std::string NameOf(DataSet set) {
  switch (set) {
    case DataSet::kA:
      return "A";
    case DataSet::kB:
      return "B";
    case DataSet::kC:
      break;
  }
  return "C";
}

int32_t TypesizeOf(DataSet set) { return set == DataSet::kB ? 4 : 8; }

CompressionOptions UsualCompression(DataSet set) {
  CompressionOptions options;
  options.codec = Codec::kLz4;
  options.clevel = 5;
  options.typesize = TypesizeOf(set);
  return options;
}

DataSource::DataSource(DataSet set, size_t chunk_nbytes, uint64_t seed)
    : set_(set), random_(seed * 0x9e3779b97f4a7c15 + 1), chunk_(chunk_nbytes) {}

// SplitMix64.
uint64_t DataSource::Random() {
  uint64_t x = random_ += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

void DataSource::FillA() {
  const size_t count = chunk_.size() / 8;
  for (size_t i = 0; i < count; ++i) {
    std::byte* const item = chunk_.data() + 8 * i;
    if (i < count / 2) {
      time_ += 1000 + static_cast<int64_t>(Random() % 16);
      std::memcpy(item, &time_, 8);
    } else {
      walk_ += (static_cast<double>(Random() % 129) - 64) / 4096;
      std::memcpy(item, &walk_, 8);
    }
  }
}

void DataSource::FillB() {
  for (size_t i = 0; i < chunk_.size() / 4; ++i) {
    const auto value = static_cast<int32_t>(i * 2654435761u % (1u << 19) + Random() % 4);
    std::memcpy(chunk_.data() + 4 * i, &value, 4);
  }
}

void DataSource::FillC() {
  for (size_t i = 0; i < chunk_.size() / 8; ++i) {
    const uint64_t value = Random();
    std::memcpy(chunk_.data() + 8 * i, &value, 8);
  }
}

Bytes DataSource::Next() {
  switch (set_) {
    case DataSet::kA:
      FillA();
      break;
    case DataSet::kB:
      FillB();
      break;
    case DataSet::kC:
      FillC();
      break;
  }
  return chunk_;
}

std::vector<std::byte> MakeData(DataSet set, size_t chunk_nbytes, size_t nchunks, uint64_t seed) {
  DataSource source(set, chunk_nbytes, seed);
  std::vector<std::byte> all;
  all.reserve(chunk_nbytes * nchunks);
  for (size_t i = 0; i < nchunks; ++i) {
    const Bytes chunk = source.Next();
    all.insert(all.end(), chunk.begin(), chunk.end());
  }
  return all;
}

}  // namespace cairn::bench
