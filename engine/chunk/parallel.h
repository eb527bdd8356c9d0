// Runs the blocks of a chunk over an Executor.
#ifndef CAIRN_ENGINE_CHUNK_PARALLEL_H_
#define CAIRN_ENGINE_CHUNK_PARALLEL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

#include "cairn/executor.h"
#include "engine/chunk/workspace.h"

namespace cairn::chunk {

// Returns true if a chunk is worth waking other threads for.
bool WorthThreads(const Executor* executor, int64_t nbytes, int64_t nblocks);

struct BlockRange {
  int64_t first = 0;
  int64_t last = 0;  // the first one after the range
};

// Runs `run` on every block of the range, in several threads at once, each with a workspace of its
// own that `prepare` made ready for the chunk. Stops early at an error and returns the error of the
// lowest block. With a null executor everything runs here in `own`, in order.
absl::Status ForEachBlock(BlockRange range, Executor* executor, WorkspacePool& pool, Workspace& own,
                          absl::FunctionRef<absl::Status(Workspace&)> prepare,
                          absl::FunctionRef<absl::Status(int64_t block, Workspace&)> run);

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_PARALLEL_H_
