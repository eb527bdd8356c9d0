// Options and caches of one open frame, which its states and writers share.
#ifndef CAIRN_ENGINE_FRAME_STATE_FRAME_CONTEXT_H_
#define CAIRN_ENGINE_FRAME_STATE_FRAME_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <utility>

#include "cairn/options.h"
#include "engine/chunk/decoder.h"
#include "engine/chunk/workspace.h"
#include "engine/frame/files/frame_location.h"
#include "engine/frame/state/block_cache.h"
#include "engine/frame/state/scan_detector.h"
#include "engine/frame/state/verified_chunks.h"

namespace cairn::frame {

// The checks of replay. Only a test that plants a fault switches one off, to see that crashes then
// do harm.
struct ReplayChecks {
  bool check_chunks = true;  // chunks of commits that were perhaps not durable
  bool check_prev = true;    // each record follows the one that it names
  // The commit is durable, for a reader that asks for that.
  bool check_durable = true;
  // A summary of the journal is durable, or of this boot.
  bool check_boot = true;
};

// Tells how checkpoints are made. Only tests and collections change it.
struct CheckpointPolicy {
  bool after_commits = true;  // in object stores; false if only the caller asks for checkpoints
  int64_t least_edits = int64_t{1} << 14;  // edits that make a journal long
  // least chunks of a frame whose checkpoints a thread writes
  int64_t least_gradual = int64_t{1} << 14;
  bool use_thread = true;                 // otherwise each commit writes a piece
  int64_t least_free = int64_t{4} << 20;  // least free bytes for a checkpoint to shrink the file
  // least bytes of chunks for which a checkpoint leaves room
  int64_t least_expected = int64_t{64} << 10;
  // The journal of a frame with this many chunks is summed up, each time after this many edits.
  int64_t least_summarized = int64_t{1} << 17;
  int64_t edits_of_summary = int64_t{1} << 13;
};

// The options that the frame was opened with. Immutable, except for caches that save work, which
// are thread-safe.
struct FrameContext : OpenOptions {
  explicit FrameContext(const OpenOptions& options, FrameLocation where = {})
      : OpenOptions(options), location(std::move(where)), blocks(cache_memory) {}

  // The place where the frame is found. A sparse frame may be named by its directory alone.
  const FrameLocation location;
  ReplayChecks replay;
  CheckpointPolicy checkpoints;
  uint64_t boot = FilesOrPosix(file_system)->BootId();
  mutable chunk::WorkspacePool pool;
  mutable VerifiedChunks verified;
  mutable BlockCache blocks;
  mutable ScanDetector scans;                            // for files that are far away
  mutable std::atomic<uint64_t> last_checkpoint_id = 0;  // see State::checkpoint_id

  // Returns how to decode any chunk. The caller adds the frame's facts about its chunks.
  chunk::DecodeContext MakeDecodeContext() const {
    return {.registry = registry.get(),
            .executor = executor.get(),
            .pool = &pool,
            .max_memory = limits.max_decode_memory,
            .blockshape = {}};
  }
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_FRAME_CONTEXT_H_
