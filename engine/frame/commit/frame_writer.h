// Commits what a stager made.
//
// A checkpoint leaves a frame in which any Blosc2 reader sees everything; where the layout has a
// journal, a commit is less than that. No committed byte but those of the header's first sector is
// ever overwritten, so every snapshot stays good. How the files of a frame go from one state to the
// next differs by layout; see ContiguousWriter and SparseWriter.
#ifndef CAIRN_ENGINE_FRAME_COMMIT_FRAME_WRITER_H_
#define CAIRN_ENGINE_FRAME_COMMIT_FRAME_WRITER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "cairn/reports.h"
#include "engine/frame/commit/checkpoint_encoder.h"
#include "engine/frame/commit/live_copy.h"
#include "engine/frame/files/frame_location.h"
#include "engine/frame/open/frame_core.h"
#include "engine/frame/stage/stager.h"
#include "engine/storage/lock_file.h"
#include "engine/storage/owner_process.h"

namespace cairn::frame {

// Not thread-safe. After a failed write every call gives kFailedPrecondition; after one of staged
// bytes that found the disk full, only until Rollback.
class FrameWriter {
 public:
  // Whether commits can follow this state: no damage is there that they would bury, and no other
  // frame behind.
  static absl::Status CheckMayGoOn(const FrameFile& source, const State& state, bool drop_stranded);

  // Opens the writer of a frame that is there. kUnavailable while another one holds it.
  static absl::StatusOr<std::unique_ptr<FrameWriter>> Open(std::shared_ptr<FrameCore> core,
                                                           const WriterOptions& options,
                                                           bool drop_stranded = false);
  // Starts a frame that is nowhere yet: it appears at `place` with the first commit. With `plain`
  // and no fingerprints that commit leaves out both of Cairn's layers.
  static absl::StatusOr<std::unique_ptr<FrameWriter>> Build(FrameLocation place,
                                                            const CreateOptions& options,
                                                            bool plain);
  virtual ~FrameWriter() = default;

  // The stager, when edits are possible.
  absl::StatusOr<Stager*> GetStager();

  // The committed state with the staged edits on top.
  absl::StatusOr<std::shared_ptr<const State>> Staged();
  absl::StatusOr<std::shared_ptr<const State>> Commit(Durability durability);
  absl::Status Checkpoint();
  void Rollback();
  // Writes the committed state anew, without a dead byte. Nothing may be staged.
  absl::StatusOr<CompactReport> Compact(ChunkProgress progress);
  absl::StatusOr<ReclaimReport> Reclaim(const ReclaimOptions& options);
  absl::Status Close();

  const std::shared_ptr<FrameCore>& core() const { return core_; }

 protected:
  // What a writer starts from.
  struct Start {
    std::shared_ptr<FrameCore> core;
    std::shared_ptr<File> file;
    FrameFile source;
    std::shared_ptr<const State> base;
    StagerOptions options;
    FingerprintType fingerprint = FingerprintType::k64Bit;
  };
  // How the first commit of a frame that is nowhere yet goes.
  struct First {
    bool replace = false;  // whether it may take the name of another
    bool plain = false;    // whether it leaves out Cairn's layers
    bool array = false;    // whether it begins as an n-dimensional array of zeros
  };

  explicit FrameWriter(Start start);

  // Where the frame will be found after its first commit.
  virtual const FrameLocation& wanted() const { return core_->place(); }
  // The files go from the committed state to the staged one, whose tail is a chunk, in a
  // checkpoint. Ends with Adopt.
  virtual absl::Status Publish() = 0;
  // They go there in any way that other Cairns understand.
  virtual absl::Status PublishCommit(Durability /*durability*/) { return Fold(); }
  // Makes durable what is committed.
  virtual absl::Status SyncCommitted() { return absl::OkStatus(); }
  // Gives back what nobody needs; nothing is staged.
  virtual absl::StatusOr<ReclaimReport> Free(const ReclaimOptions& options) = 0;
  // The same, and nothing dead is left. Returns the bytes that the files had before.
  virtual absl::StatusOr<int64_t> Rewrite(ChunkProgress progress) = 0;
  // Forgets what is staged, and goes on staging from the committed state.
  virtual absl::Status Restart() = 0;
  // Makes what a snapshot of staged edits reads stay, until it is gone.
  virtual void KeepStaged() {}
  // Whether one is still there. What it reads no commit need name.
  bool StagedIsRead() const;
  // Leaves nothing in the files that is not the committed frame, and its reserve of disk space.
  virtual absl::Status CleanUp() = 0;
  // Keeps disk space for what frees a full disk, where there is some.
  virtual void HoldReserve() = 0;

  // Leaves a new receipt of this boot behind the journal: all its commits are durable. The last one
  // may be all that tells of an acknowledged commit.
  absl::Status WitnessJournal();
  // Makes a chunk of the pending items, and brings what is staged to the files.
  absl::Status Finish();
  // Commits what is staged, and the journal, in a checkpoint.
  absl::Status Fold();
  // Fails the step under way, which has changed nothing that is committed: the writer stays usable.
  absl::Status Refuse(absl::Status status);
  // Whether it is known what is committed. False also for a writer that never got so far as to
  // stage.
  bool usable() const { return stager_.has_value() && owner_.is_here() && unusable_.ok(); }
  void StageInto(ChunkSink& sink) { stager_.emplace(base_, sink, options_, !first_.has_value()); }
  // `new_file`: nothing of the state before is in the file.
  CheckpointPlan PlanAt(int64_t index_begin, bool new_file) const;
  absl::Status CheckAtPlace() const;
  // The committed state is now the one in `file`.
  absl::Status Adopt(std::shared_ptr<File> file);
  // The committed state is now `state`, of the same file.
  void Adopt(std::shared_ptr<const State> state);

  std::shared_ptr<FrameCore> core_;
  std::shared_ptr<File> file_;  // holds the lock
  FrameFile source_;            // the same file, for reading; without the lock
  std::shared_ptr<const State> base_;
  StagerOptions options_;
  FingerprintType fingerprint_;
  std::optional<First> first_;  // while the frame is nowhere yet
  std::optional<Stager> stager_;

 private:
  absl::Status CheckUsable() const;
  absl::Status Confirm();
  absl::Status ConfirmJournal();
  absl::Status FoldGaps();
  absl::Status Run(absl::FunctionRef<absl::Status()> step);
  absl::Status StageNewArray();

  std::vector<std::weak_ptr<const State>> staged_;  // that snapshots were given
  absl::Status unusable_;  // the first failure, or that the writer is closed
  bool refused_ = false;   // the step under way
  storage::OwnerProcess owner_;
  std::optional<storage::LockFile> lock_file_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COMMIT_FRAME_WRITER_H_
