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
  kA,  // chunks of which the first half are int64 timestamps in microseconds with jitter, the
       // second a float64 walk on a grid of 1/4096; typesize 8
  kB,  // int32 with 19 significant bits; typesize 4
  kC,  // noise; typesize 8
};

std::string NameOf(DataSet set);
int32_t TypesizeOf(DataSet set);
// LZ4 level 5 + shuffle: what questions are asked of unless they say otherwise.
CompressionOptions UsualCompression(DataSet set);

// Chunks without end, the same in each run. No two are alike.
class DataSource {
 public:
  DataSource(DataSet set, size_t chunk_nbytes, uint64_t seed = 1);
  // Valid until the next call.
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
