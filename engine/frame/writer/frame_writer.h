// Commits the edits of a stager.
//
// A checkpoint leaves a frame in which any Blosc2 reader sees everything. If the layout has a
// journal, a commit writes less than that. Bytes that a snapshot needs are never overwritten,
// except the header's first sector, so every snapshot stays good. The files of a frame move from
// one state to the next in another way for each layout; see ContiguousBackend, SparseBackend and
// ObjectBackend.
#ifndef CAIRN_ENGINE_FRAME_WRITER_FRAME_WRITER_H_
#define CAIRN_ENGINE_FRAME_WRITER_FRAME_WRITER_H_

#include <chrono>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "cairn/reports.h"
#include "engine/base/owner_process.h"
#include "engine/frame/layout/commit_backend.h"

namespace cairn::frame {

// How a writer that opens a frame treats damage.
enum class Repair {
  kNone,          // refuses a damaged frame
  kNoneYet,       // likewise, and leaves a checkpoint that is needed to the caller
  kHeader,        // replaces an older header by the newest one, which loses nothing
  kDropStranded,  // also cuts off commits that cannot be read
};

// Writes a frame. Not thread-safe, except Sync. After a failed write every call gives
// kFailedPrecondition. If the failed write was one of staged bytes, and found the disk full or went
// to an object store, this ends with Rollback.
class FrameWriter {
 public:
  // `stager` must be one of `backend`.
  FrameWriter(std::unique_ptr<CommitBackend> backend, std::unique_ptr<Stager> stager,
              WriterOptions options, Repair repair)
      : core_(backend->frame().core),
        sync_(backend->frame().sync),
        options_(std::move(options)),
        repair_(repair),
        backend_(std::move(backend)),
        stager_(std::move(stager)) {}
  ~FrameWriter();

  // Returns the stager. GetStagerToEdit fails if edits are prepared.
  absl::StatusOr<Stager*> GetStager();
  absl::StatusOr<Stager*> GetStagerToEdit();

  // Returns the committed state with the staged edits on top.
  absl::StatusOr<StatePtr> Staged();
  absl::Status Prepare(Durability durability);
  absl::StatusOr<StatePtr> Commit(Durability durability);
  absl::Status Checkpoint(Follows follows = Follows::kCommits);
  // Commits durably, in a checkpoint if that is worth it.
  absl::Status Flush(Follows follows = Follows::kCommits);
  void Rollback();
  // Stages the increment, or nothing if that fails. Nothing may be staged before.
  absl::Status ApplyIncrement(const State& increment);
  // Rewrites the committed state without dead bytes. Completes `begun` if that is not null. Nothing
  // may be staged.
  absl::StatusOr<CompactReport> Compact(std::unique_ptr<LiveCopy> begun, ChunkProgress progress);
  absl::StatusOr<ReclaimReport> Reclaim(const ReclaimOptions& options);
  absl::Status Close();

  // Gives the lock up. Until Resume, every other call gives kFailedPrecondition.
  absl::Status Suspend();
  // Takes the lock again; see open_writer.cc. Errors: kUnavailable if another writer holds it for
  // all of `wait`.
  absl::Status Resume(std::chrono::milliseconds wait);
  absl::StatusOr<bool> HasWaiters() const;

  // Returns true if the frame needs a checkpoint: if there was no room for a receipt, or if bytes
  // cannot be read, because readers do not search far after those while there is a writer.
  bool needs_checkpoint() const {
    return backend_->needs_checkpoint() || committed().journal_skipped.size() > 0;
  }

  // Waits until a state that Commit returned is durable. Thread-safe, also during other calls.
  absl::Status Sync(const State& committed) const;

  const std::shared_ptr<FrameCore>& core() const { return core_; }

 private:
  const State& committed() const { return *backend_->frame().state; }
  // Returns true if this process owns the writer, holds the frame and knows what is committed.
  bool usable() const {
    return owner_.is_here() && unusable_.ok() && !sync_->has_failed() && !suspended_;
  }
  absl::Status CheckIsHere() const;
  absl::Status CheckSyncs() const;
  absl::Status CheckUsable() const;
  absl::Status CheckUnedited() const;
  absl::Status Restage();
  absl::Status Run(absl::FunctionRef<absl::Status()> step);
  // Does the work of Resume. Without `may_reopen`, fails if others have written more than commits.
  absl::Status Regain(std::chrono::milliseconds wait, bool may_reopen);
  absl::Status GoOn(std::shared_ptr<File> file, bool may_reopen);

  const std::shared_ptr<FrameCore> core_;
  const std::shared_ptr<GroupSync> sync_;
  const WriterOptions options_;
  const Repair repair_;
  std::unique_ptr<CommitBackend> backend_;
  std::unique_ptr<Stager> stager_;  // stages into the backend
  absl::Status unusable_;           // the first failure, or that the writer is closed
  bool suspended_ = false;
  bool prepared_ = false;
  OwnerProcess owner_;
};

// Checks that commits can follow this state. Errors: that of the damage, if commits would bury any;
// kFailedPrecondition if another frame begins where this one ends.
absl::Status CheckMayContinue(const FrameFile& source, const State& state, Repair repair);

// Returns the writer of a frame that exists. Errors: kUnavailable if another writer holds the frame
// for longer than `options.wait`.
absl::StatusOr<std::unique_ptr<FrameWriter>> OpenWriter(std::shared_ptr<FrameCore> core,
                                                        const WriterOptions& options,
                                                        Repair repair = Repair::kNone);

// Returns the writer of a new frame, which appears at `location` with the first commit. With
// `plain` and without fingerprints, that commit leaves out both of Cairn's layers.
absl::StatusOr<std::unique_ptr<FrameWriter>> CreateWriter(FrameLocation location,
                                                          const CreateOptions& options, bool plain);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_WRITER_FRAME_WRITER_H_
