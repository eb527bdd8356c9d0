// Scratch memory and codec states, pooled so that a warm call allocates nothing.
#ifndef CAIRN_ENGINE_CHUNK_WORKSPACE_H_
#define CAIRN_ENGINE_CHUNK_WORKSPACE_H_

#include <atomic>
#include <memory>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/base/scratch_buffer.h"
#include "engine/chunk/compressibility.h"
#include "engine/codec/codec_set.h"

namespace cairn::chunk {

// The state that one thread needs while it codes the blocks of a chunk.
struct Workspace {
  codec::CodecSet codecs;
  codec::StreamCodec* codec = nullptr;  // the codec of the current chunk
  CompressibilityProbe compressibility;
  ScratchBuffer sample;     // parts of a block to probe, before and after filters
  ScratchBuffer filtered;   // a block between codec and filters
  ScratchBuffer scratch;    // a second one, for longer pipelines
  ScratchBuffer stream;     // a stream that may not fit where it should go
  ScratchBuffer block;      // a decoded block if only a part is wanted
  ScratchBuffer reference;  // block 0, for DELTA
  ScratchBuffer stored;     // a chunk that cannot be read in place
  int64_t last_chunk = -1;  // number of the chunk read last, to see whether reads are in order
  ScratchBuffer gathered;   // a decoded block that many items are taken from
  ScratchBuffer decoded;    // a block as it is decoded, which a program's hook reads
  ScratchBuffer made;       // what a program's hook makes
};

// Lends workspaces to threads. Thread-safe.
class WorkspacePool {
 public:
  WorkspacePool() = default;
  WorkspacePool(const WorkspacePool&) = delete;
  WorkspacePool& operator=(const WorkspacePool&) = delete;

  // A workspace on loan. It goes back when the lease ends.
  class Lease {
   public:
    Lease(WorkspacePool& pool, Workspace& workspace) : pool_(pool), workspace_(workspace) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { pool_.Return(workspace_); }
    Workspace* operator->() const { return &workspace_; }
    Workspace& operator*() const { return workspace_; }

   private:
    WorkspacePool& pool_;
    Workspace& workspace_;
  };

  Lease Acquire() {
    const bool taken = first_is_lent_.load(std::memory_order_relaxed) ||
                       first_is_lent_.exchange(true, std::memory_order_acquire);
    return Lease(*this, taken ? AcquireAnother() : first_);
  }

 private:
  [[gnu::noinline]] Workspace& AcquireAnother() {
    const MutexLock lock(mutex_);
    if (idle_.empty()) return *std::make_unique<Workspace>().release();
    Workspace* const workspace = idle_.back().release();
    idle_.pop_back();
    return *workspace;
  }
  [[gnu::noinline]] void ReturnAnother(Workspace& workspace) {
    const MutexLock lock(mutex_);
    idle_.emplace_back(&workspace);
  }
  void Return(Workspace& workspace) {
    if (&workspace != &first_) return ReturnAnother(workspace);
    first_is_lent_.store(false, std::memory_order_release);
  }

  // A thread that is alone takes no lock, and only one step that others have to see.
  Workspace first_;
  std::atomic<bool> first_is_lent_ = false;
  Mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_WORKSPACE_H_
