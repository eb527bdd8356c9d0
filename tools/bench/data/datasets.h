// The data that all questions are asked of.
#ifndef CAIRN_TOOLS_BENCH_DATA_DATASETS_H_
#define CAIRN_TOOLS_BENCH_DATA_DATASETS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cairn/options.h"
#include "cairn/types.h"

namespace cairn::bench {

enum class DataSet {
  // A chunk's first half are int64 timestamps in microseconds with jitter, the second a float64
  // walk on a grid of 1/4096. The typesize is 8.
  kA,
  kB,  // int32 with 19 significant bits; typesize 4
  kC,  // noise; typesize 8
};

std::string NameOf(DataSet set);
int32_t TypesizeOf(DataSet set);
// Returns LZ4 level 5 + shuffle, which all questions use unless they say otherwise.
CompressionOptions UsualCompression(DataSet set);

// Makes chunks without end, equal in each run. No two chunks are alike.
class DataSource {
 public:
  DataSource(DataSet set, size_t chunk_nbytes, uint64_t seed = 1);
  // The result is valid until the next call.
  Bytes Next();

 private:
  uint64_t Random();
  void FillA();
  void FillB();
  void FillC();

  DataSet set_;
  uint64_t random_;
  int64_t time_ = 1'700'000'000'000'000;
  double walk_ = 100;
  std::vector<std::byte> chunk_;
};

// `nchunks` chunks one after the other.
std::vector<std::byte> MakeData(DataSet set, size_t chunk_nbytes, size_t nchunks,
                                uint64_t seed = 1);

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_DATA_DATASETS_H_
