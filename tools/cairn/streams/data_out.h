// Writes decoded data of a frame on standard output, piece by piece.
#ifndef CAIRN_TOOLS_CAIRN_STREAMS_DATA_OUT_H_
#define CAIRN_TOOLS_CAIRN_STREAMS_DATA_OUT_H_

#include <cstdint>

#include "absl/status/status.h"

#include "cairn/snapshot.h"
#include "tools/cairn/io/progress.h"

namespace cairn::tool {

// Two numbers, the second excluded.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;
};

absl::Status WriteChunks(const Snapshot& snapshot, const Range& chunks, Progress& progress);
// Writes bytes. For an array they are in storage order, with padding.
absl::Status WriteBytes(const Snapshot& snapshot, const Range& bytes, Progress& progress);
// Writes complete items by number. For an array they are in C order.
absl::Status WriteItems(const Snapshot& snapshot, const Range& items, Progress& progress);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_STREAMS_DATA_OUT_H_
