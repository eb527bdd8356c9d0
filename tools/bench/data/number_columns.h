// Makes columns of numbers like those that people measure and count.
#ifndef CAIRN_TOOLS_BENCH_DATA_NUMBER_COLUMNS_H_
#define CAIRN_TOOLS_BENCH_DATA_NUMBER_COLUMNS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::bench {

struct NumberColumn {
  std::string name;
  int32_t size = 8;  // bytes of a number
  uint8_t kind = 0;  // as CompressionOptions::codec_meta of codecs of numbers
  std::vector<std::byte> bytes = {};
};

// Returns the columns, each of `count` numbers, the same in every run:
//   decimals  float64, a walk rounded to 0.01
//   walk      float64, a walk with all its bits
//   single    float32, a walk rounded to 0.1
//   times     int64, microseconds with jitter
//   counter   uint64, a count that grows by up to 1,000
//   level     int32, a walk of integers
//   ids       uint32, of 50,000 things, the first ones the most frequent
std::vector<NumberColumn> NumberColumns(int64_t count);

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_DATA_NUMBER_COLUMNS_H_
