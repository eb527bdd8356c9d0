// Commits what a stager made.
//
// A checkpoint leaves a frame in which any Blosc2 reader sees everything; where the layout has a
// journal, a commit is less than that. No committed byte but those of the header's first sector is
// ever overwritten, so every snapshot stays good. How the files of a frame go from one state to the
// next differs by layout; see ContiguousBackend and SparseBackend.
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

// Not thread-safe, but for Sync. After a failed write every call gives kFailedPrecondition; after
// one of staged bytes that found the disk full, only until Rollback.
class FrameWriter {
 public:
  // `backend` made `stager`.
  FrameWriter(std::unique_ptr<CommitBackend> backend, std::unique_ptr<Stager> stager,
              WriterOptions options)
      : core_(backend->frame().core),
        sync_(backend->frame().sync),
        options_(std::move(options)),
        backend_(std::move(backend)),
        stager_(std::move(stager)) {}
  ~FrameWriter();

  // The stager, when it can be asked, and when edits are possible.
  absl::StatusOr<Stager*> GetStager();
  absl::StatusOr<Stager*> GetStagerToEdit();

  // The committed state with the staged edits on top.
  absl::StatusOr<StatePtr> Staged();
  absl::Status Prepare(Durability durability);
  absl::StatusOr<StatePtr> Commit(Durability durability);
  absl::Status Checkpoint();
  // Commits, in a checkpoint where that is worth it.
  absl::Status Flush();
  void Rollback();
  // Stages the increment, or nothing. Nothing may be staged.
  absl::Status ApplyIncrement(const State& increment);
  // Writes the committed state anew, without a dead byte, from what `begun` has if that is not
  // null. Nothing may be staged.
  absl::StatusOr<CompactReport> Compact(std::unique_ptr<LiveCopy> begun, ChunkProgress progress);
  absl::StatusOr<ReclaimReport> Reclaim(const ReclaimOptions& options);
  absl::Status Close();

  // Gives the lock up; until Resume every other call gives kFailedPrecondition.
  absl::Status Suspend();
  // In open_writer.cc. kUnavailable after the time to wait.
  absl::Status Resume(std::chrono::milliseconds wait);
  absl::StatusOr<bool> HasWaiters() const;

  // Waits until a state that Commit returned is durable. Thread-safe, also beside other calls.
  absl::Status Sync(const State& committed) const;

  const std::shared_ptr<FrameCore>& core() const { return core_; }

 private:
  const State& committed() const { return *backend_->frame().state; }
  bool edited() const { return stager_->staged().edited; }
  // Whether it is known what is committed.
  bool usable() const {
    return owner_.is_here() && unusable_.ok() && !sync_->has_failed() && !suspended_;
  }
  absl::Status CheckIsHere() const;
  absl::Status CheckSyncs() const;
  absl::Status CheckUsable() const;
  absl::Status CheckUnedited() const;
  absl::Status Restage();
  absl::Status Run(absl::FunctionRef<absl::Status()> step);
  // Resume; without `may_reopen` only where others have written no more than commits.
  absl::Status Regain(std::chrono::milliseconds wait, bool may_reopen);
  absl::Status GoOn(std::shared_ptr<File> file, bool may_reopen);

  const std::shared_ptr<FrameCore> core_;
  const std::shared_ptr<GroupSync> sync_;
  const WriterOptions options_;
  std::unique_ptr<CommitBackend> backend_;
  std::unique_ptr<Stager> stager_;  // into the backend
  absl::Status unusable_;           // the first failure, or that the writer is closed
  bool suspended_ = false;
  bool prepared_ = false;
  OwnerProcess owner_;
};

// What a writer that opens may do about damage.
enum class Repair {
  kNone,          // nothing: it is refused
  kHeader,        // an older header is replaced by the newest one: nothing is lost
  kDropStranded,  // and commits that cannot be read are cut off
};

// Whether commits can follow this state: they would bury no damage, and no other frame follows.
absl::Status CheckMayContinue(const FrameFile& source, const State& state, Repair repair);

// The writer of a frame that exists. kUnavailable while another one holds it.
absl::StatusOr<std::unique_ptr<FrameWriter>> OpenWriter(std::shared_ptr<FrameCore> core,
                                                        const WriterOptions& options,
                                                        Repair repair = Repair::kNone);

// The writer of a new frame, which appears at `location` with the first commit. With `plain` and no
// fingerprints that commit leaves out both of Cairn's layers.
absl::StatusOr<std::unique_ptr<FrameWriter>> CreateWriter(FrameLocation location,
                                                          const CreateOptions& options, bool plain);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_WRITER_FRAME_WRITER_H_
