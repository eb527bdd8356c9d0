// Frames that operations read and edit.
#ifndef CAIRN_TOOLS_BENCH_COSTS_FRAMES_H_
#define CAIRN_TOOLS_BENCH_COSTS_FRAMES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

#include "cairn/options.h"
#include "tools/bench/data/datasets.h"

namespace cairn::bench {

CreateOptions FrameOf(DataSet set, int32_t chunk_nbytes);

// A sealed frame.
absl::Status MakeFrame(const std::string& path, DataSet set, int32_t chunk_nbytes, int64_t nchunks);

}  // namespace cairn::bench

#endif  // CAIRN_TOOLS_BENCH_COSTS_FRAMES_H_
