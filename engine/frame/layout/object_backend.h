// Commits to a frame in an object store, beside other writers on any machine.
//
// The frame is a sparse one whose files are objects: each chunk, the index, and each commit record
// of the journal. Objects but the index are never changed, and no name is used twice, so there is
// nothing to lock, and snapshots stay as they are.
//   1. Staged chunks are put as new objects, many at once. Nothing refers to them.
//   2. The commit record is put under the name of the position where the journal ends, if nothing
//      is there. That one request is the commit: of writers that try at the same time one wins. The
//      others take over its commit, make their edits on top of it, and try again. Where the store
//      does not say what became of it, object_record.h finds out.
//   3. A checkpoint is a new index object in place of the one that it was made after. It inherits
//      the journal: the next record follows that of the commit whose state it is, whoever makes it,
//      so no commit is lost when others go on meanwhile.
//   4. Objects that no state needs any more are removed after a time of grace: see
//      object_garbage.h.
#ifndef CAIRN_ENGINE_FRAME_LAYOUT_OBJECT_BACKEND_H_
#define CAIRN_ENGINE_FRAME_LAYOUT_OBJECT_BACKEND_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cairn/object_store.h"
#include "engine/base/boot_clock.h"
#include "engine/frame/layout/commit_backend.h"
#include "engine/frame/layout/object_record.h"
#include "engine/frame/stage/object_sink.h"
#include "engine/object/index_file.h"

namespace cairn::frame {

class ObjectBackend final : public CommitBackend {
 public:
  // `frame` has its core; PersistBase loads the rest.
  ObjectBackend(CommittedFrame frame, StagerOptions options);

  absl::Status PersistBase() override;
  absl::StatusOr<std::unique_ptr<Stager>> Stage() override;
  absl::Status Restart(bool failed) override;
  // Objects that are staged stay as long as the grace lasts.
  void PinStaged(const StatePtr& /*snapshot*/) override {}
  bool IsPinned() const override { return false; }
  bool is_shared() const override { return true; }
  absl::Status Suspend() override { return absl::OkStatus(); }
  absl::StatusOr<bool> Resume(const WriterOptions& options) override;
  absl::Status PublishCommit(Stager& stager, Durability durability) override;
  bool IsWorthClosing(const Stager& stager) const override;
  absl::Status WriteCheckpoint(Stager& stager) override;
  absl::StatusOr<ReclaimReport> ReclaimSpace(const ReclaimOptions& options) override;
  absl::StatusOr<int64_t> Rewrite(std::unique_ptr<LiveCopy> begun, ChunkProgress progress) override;
  absl::Status DropUncommitted() override;

 private:
  using Clock = BootClock;

  // A commit record on its way.
  struct Attempt {
    format::CommitLinks links;
    format::Receipt receipt;
    std::vector<std::byte> bytes;  // record and receipt
    uint64_t checksum = 0;
  };

  Attempt MakeAttempt(const Stager& stager) const;
  absl::StatusOr<RecordFate> Put(const Attempt& attempt);
  absl::Status InstallState(Stager& stager, const Attempt& attempt);
  absl::Status PutCommit(Stager& stager);
  absl::Status CatchUp(Stager& stager) const;
  absl::Status Follow();
  absl::Status CheckSameFrame() const;
  absl::Status FollowRecords();
  absl::Status FollowAnew();
  absl::StatusOr<bool> IsEnded() const;
  bool IsCheckpointDue() const;
  absl::Status PutIndex();
  absl::Status MakeShared();
  absl::Status Reload();
  absl::Status LoadFrom(std::shared_ptr<object::IndexFile> index);

  const std::shared_ptr<ObjectStore> store_;
  const Clock::duration grace_;
  const int64_t read_ahead_;
  const uint64_t writer_id_;
  std::optional<uint64_t> journal_base_;  // which all its records name; none until PersistBase
  std::shared_ptr<object::IndexFile> index_;
  std::unique_ptr<ObjectSink> sink_;
  Clock::time_point validated_;  // when the index was known to be the frame's
  Clock::time_point collected_;  // when garbage was
};

// The bytes of an index object: of a committed state without pending items.
absl::StatusOr<std::vector<std::byte>> EncodeIndexObject(const StagedState& staged,
                                                         const CheckpointPlan& plan);
// kInvalidArgument where a request may be tried for longer than a quarter of the grace.
absl::Status CheckGrace(const ObjectDirectoryInfo& objects);
// Chunks that no commit names for too long may be taken for those of a dead writer.
absl::Status CheckStagedInTime(const ObjectSink& sink, BootClock::duration grace);
// Whether writers share its journal; a frame that was uploaded has none yet.
bool IsShared(const State& state);
// For ObjectStore::CheckConditions.
std::string ScratchObjectName();
// Where the journal of a new frame begins: at a position that no other frame of this name had.
format::InheritedJournal BeginJournal(uint64_t generation);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_LAYOUT_OBJECT_BACKEND_H_
