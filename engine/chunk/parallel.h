// Runs the blocks of a chunk over an Executor.
#ifndef CAIRN_ENGINE_CHUNK_PARALLEL_H_
#define CAIRN_ENGINE_CHUNK_PARALLEL_H_

#include <cstdint>

#include "absl/status/status.h"

#include "cairn/executor.h"
#include "engine/chunk/workspace.h"

namespace cairn::chunk {

// Whether a chunk is worth waking other threads for.
bool WorthThreads(const Executor* executor, int64_t nbytes, int64_t nblocks);

struct BlockRange {
  int64_t first = 0;
  int64_t last = 0;  // the first one after the range
};

// What is done to the blocks of one chunk.
class BlockTask {
 public:
  virtual ~BlockTask() = default;
  // Makes a thread's workspace ready for this chunk.
  virtual absl::Status Prepare(Workspace& workspace) const = 0;
  // Codes one block. Called from several threads at once.
  virtual absl::Status Run(int64_t block, Workspace& workspace) = 0;
};

// Runs the task on every block of the range, each thread with a workspace of its own. Stops early
// at an error and returns that of the lowest block. With a null executor everything runs here, in
// order.
absl::Status ForEachBlock(BlockRange range, Executor* executor, WorkspacePool& pool,
                          BlockTask& task);

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_PARALLEL_H_
