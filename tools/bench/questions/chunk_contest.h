// Compares coding and decoding a chunk by Cairn, by C-Blosc2 and by the bare codec.
#ifndef CAIRN_TOOLS_BENCH_QUESTIONS_CHUNK_CONTEST_H_
#define CAIRN_TOOLS_BENCH_QUESTIONS_CHUNK_CONTEST_H_

#include <cstdint>

#include "absl/status/status.h"

#include "cairn/options.h"
#include "tools/bench/data/datasets.h"
#include "tools/bench/results/session.h"

namespace cairn::bench {

struct ChunkRow {
  DataSet set = DataSet::kA;
  Codec codec = Codec::kLz4;
  int clevel = 5;
  Filter filter = Filter::kShuffle;
  size_t nbytes = 4 << 20;
  int threads = 1;
};

// Adds two results to the report: compressing and decompressing, in GB/s of raw data. The text of
// the first gives both ratios.
absl::Status CompareChunk(Session& session, const ChunkRow& row);

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_QUESTIONS_CHUNK_CONTEST_H_
