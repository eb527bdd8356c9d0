// Options and caches of one open frame, shared by its states and writers.
#ifndef CAIRN_ENGINE_FRAME_STATE_FRAME_CONTEXT_H_
#define CAIRN_ENGINE_FRAME_STATE_FRAME_CONTEXT_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "cairn/options.h"
#include "engine/chunk/decoder.h"
#include "engine/chunk/workspace.h"
#include "engine/frame/files/frame_location.h"
#include "engine/frame/state/block_cache.h"
#include "engine/frame/state/scan_detector.h"
#include "engine/frame/state/verified_chunks.h"

namespace cairn::frame {

// What replay insists on. Only a test that plants a fault switches a check off, to see that crashes
// then do harm.
struct ReplayChecks {
  bool check_chunks = true;  // of commits that were perhaps not durable
  bool check_prev = true;    // that each record follows the one that it names
  // That a commit is durable, for a reader that asks for that.
  bool check_durable = true;
  // That a summary of the journal is durable, or of this boot.
  bool check_boot = true;
};

// How checkpoints are made. Others than these only in tests.
struct CheckpointPolicy {
  int64_t least_edits = int64_t{1} << 14;    // of a journal that is long
  int64_t least_gradual = int64_t{1} << 14;  // chunks of a frame whose checkpoints a thread writes
  bool use_thread = true;                    // or each commit a piece
  int64_t least_free = int64_t{4} << 20;     // bytes, for one of these to go down
  // Of a frame with so many chunks the journal is summed up, each time after so many edits.
  int64_t least_summarized = int64_t{1} << 17;
  int64_t edits_of_summary = int64_t{1} << 13;
};

// The options that the frame was opened with. Immutable but for what keeps work from being done
// twice, which is thread-safe.
struct FrameContext : OpenOptions {
  explicit FrameContext(const OpenOptions& options)
      : OpenOptions(options), blocks(std::max<int64_t>(cache_memory, 0)) {}

  ReplayChecks replay;
  CheckpointPolicy checkpoints;
  uint64_t boot = FilesOrPosix(file_system)->BootId();
  mutable chunk::WorkspacePool pool;
  mutable VerifiedChunks verified;
  mutable BlockCache blocks;
  mutable ScanDetector scans;                            // of files that are far away
  mutable std::atomic<uint64_t> last_checkpoint_id = 0;  // see State::checkpoint_id

  // How any chunk is decoded; what the frame says of its chunks is still to be added.
  chunk::DecodeContext MakeDecodeContext() const {
    return {.registry = registry,
            .executor = executor,
            .pool = &pool,
            .max_memory = limits.max_decode_memory,
            .blockshape = {}};
  }
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_FRAME_CONTEXT_H_
