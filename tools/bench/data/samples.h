// Chunks of data A that are made beforehand and then repeated.
#ifndef CAIRN_TOOLS_BENCH_DATA_SAMPLES_H_
#define CAIRN_TOOLS_BENCH_DATA_SAMPLES_H_

#include <cstdint>
#include <vector>

#include "cairn/types.h"
#include "tools/bench/data/datasets.h"

namespace cairn::bench {

inline constexpr int32_t kSampleSize = 4096;
inline constexpr size_t kSamples = 4096;

inline std::vector<std::byte> MakeSamples() { return MakeData(DataSet::kA, kSampleSize, kSamples); }

inline Bytes SampleAt(const std::vector<std::byte>& samples, uint64_t i) {
  return Bytes(samples).subspan(i % kSamples * kSampleSize, kSampleSize);
}

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_DATA_SAMPLES_H_
