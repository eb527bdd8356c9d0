// Commits to a frame in an object store, which writers on other machines may do at the same time.
//
// The frame is a sparse one whose files are objects: each chunk, the index, and each commit record
// of the journal. Only the index is ever replaced, and no other name is used twice, so there is
// nothing to lock, and snapshots stay as they are.
//   1. Staged chunks are put as new objects, many at once. Nothing refers to them.
//   2. The commit record is put under the name of the position where the journal ends, if nothing
//      is there. That one request is the commit: of the writers that try at the same time one wins.
//      The others take over its commit, make their edits on top of it, and try again. If the store
//      does not say what became of the request, object_record.h finds out.
//   3. A checkpoint is a new index object in place of the one that it was made after. It inherits
//      the journal: the next record follows the one of the commit whose state the checkpoint has,
//      whoever puts it. So no commit of another writer is lost in the meantime.
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
  // `frame` has only its core. PersistBase loads the rest.
  ObjectBackend(CommittedFrame frame, StagerOptions options);

  absl::Status PersistBase() override;
  absl::StatusOr<std::unique_ptr<Stager>> Stage() override;
  absl::Status Restart(bool failed) override;
  // Does nothing, because staged objects stay until the grace ends.
  void PinStaged(const StatePtr& /*snapshot*/) override {}
  bool IsPinned() const override { return false; }
  bool is_shared() const override { return true; }
  absl::Status Suspend() override { return absl::OkStatus(); }
  absl::StatusOr<bool> Resume(const WriterOptions& options) override;
  absl::Status PublishCommit(Stager& stager, Durability durability) override;
  bool IsWorthClosing(const Stager& stager) const override;
  absl::Status WriteCheckpoint(Stager& stager, Follows follows) override;
  absl::StatusOr<ReclaimReport> ReclaimSpace(const ReclaimOptions& options) override;
  absl::StatusOr<int64_t> Rewrite(std::unique_ptr<LiveCopy> begun, ChunkProgress progress) override;
  absl::Status DropUncommitted() override;

 private:
  using Clock = BootClock;

  // Holds a commit record that is being put.
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
  absl::Status PutIndex();
  absl::Status MakeShared();
  bool TakeOver();
  absl::Status Reload();
  absl::Status LoadFrom(std::shared_ptr<object::IndexFile> index);
  absl::Status Install(std::shared_ptr<const object::IndexFile> index, FrameFile source,
                       StatePtr loaded);

  const std::shared_ptr<ObjectStore> store_;
  const Clock::duration grace_;
  const int64_t read_ahead_;
  const uint64_t writer_id_;
  std::optional<uint64_t> journal_base_;  // named by all records; nothing until PersistBase
  std::shared_ptr<const object::IndexFile> index_;
  std::unique_ptr<ObjectSink> sink_;
  Clock::time_point validated_;  // when the index was known to be the frame's
  Clock::time_point collected_;  // when garbage was last collected
};

// Returns the bytes of an index object for a state without pending items. Errors:
// kFailedPrecondition if the state has no room for the seal.
absl::StatusOr<std::vector<std::byte>> EncodeIndexObject(const StagedState& staged,
                                                         const CheckpointPlan& plan);
// Errors: kInvalidArgument if a request may be tried for longer than a quarter of the grace.
absl::Status CheckGrace(const ObjectDirectoryInfo& objects);
// Fails if staged chunks are so old that other processes may take them for those of a dead writer.
absl::Status CheckStagedInTime(const ObjectSink& sink, BootClock::duration grace);
// Returns true if writers share the frame's journal. A frame that was uploaded has no such journal.
bool IsShared(const State& state);
// Returns a random name for ObjectStore::CheckConditions.
std::string ScratchObjectName();
// Returns the beginning of a new frame's journal: at a random position, so that no other frame of
// this name had it.
format::InheritedJournal BeginJournal(uint64_t generation);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_LAYOUT_OBJECT_BACKEND_H_
