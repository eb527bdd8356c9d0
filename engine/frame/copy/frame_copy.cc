#include "engine/frame/copy/frame_copy.h"

#include <chrono>
#include <memory>

#include "engine/base/deadline.h"
#include "engine/base/shown_path.h"
#include "engine/base/status.h"
#include "engine/frame/checkpoint/live_copy.h"
#include "engine/frame/files/atomic_file.h"
#include "engine/frame/files/replacement.h"
#include "engine/frame/stage/sparse_sink.h"

namespace cairn::frame {

namespace {

using Fill = absl::FunctionRef<absl::StatusOr<StagedState>(ChunkSink&)>;

// Plans a copy, which is sealed even if its source is not.
CheckpointPlan PlanSealed(const State& source, int64_t index_begin) {
  CheckpointPlan plan = PlanCopy(source, index_begin);
  if (plan.seal.type == FingerprintType::kNone) plan.seal.type = FingerprintType::k64Bit;
  return plan;
}

// A reader that leaves soon does not spoil a copy that took long.
constexpr std::chrono::milliseconds kWaitForReaders(200);

// Gives the copy its name. Readers can open the frame at `old` until the copy is complete and
// durable.
template <typename Made>
absl::Status Publish(Made& made, const CopyTarget& target, const FrameLocation& old) {
  CAIRN_RETURN_IF_ERROR(made.Persist());
  CAIRN_ASSIGN_OR_RETURN(const HeldFiles unread,
                         RetryUnavailable(kWaitForReaders, [&] { return LockFromReaders(old); }));
  return made.Publish(target.overwrite);
}

absl::Status PublishFile(const State& source, int64_t header_len, const CopyTarget& target,
                         const FrameLocation& old, Fill fill) {
  CAIRN_ASSIGN_OR_RETURN(AtomicFile made,
                         AtomicFile::CreateBeside(target.location.files, target.location.path));
  ContiguousSink sink = SinkInto(made.file(), header_len);
  CAIRN_ASSIGN_OR_RETURN(StagedState staged, fill(sink));
  staged.header.layout = Layout::kContiguous;
  CAIRN_RETURN_IF_ERROR(StoreCheckpoint(*made.file(), staged, PlanSealed(source, sink.end())));
  return Publish(made, target, old);
}

absl::Status PublishDirectory(const State& source, int64_t header_len, const CopyTarget& target,
                              const FrameLocation& old, Fill fill) {
  CAIRN_ASSIGN_OR_RETURN(AtomicDirectory made, AtomicDirectory::CreateBeside(target.location.files,
                                                                             target.location.path));
  SparseSink sink(made.directory());
  CAIRN_ASSIGN_OR_RETURN(StagedState staged, fill(sink));
  CAIRN_RETURN_IF_ERROR(SyncChunkFiles(*made.directory(), sink.staged()));
  staged.header.layout = Layout::kSparse;
  CAIRN_RETURN_IF_ERROR(StoreCheckpoint(*made.index(), staged, PlanSealed(source, header_len)));
  return Publish(made, target, old);
}

}  // namespace

absl::Status CheckCopyable(const State& state) {
  if (state.checkpoint->era != Era::kCurrent) {
    return absl::UnimplementedError(
        "a frame from before Blosc2 2.0 cannot be copied as it is: its items have to be coded "
        "again");
  }
  CAIRN_RETURN_IF_ERROR(state.checkpoint->trailer_damage);
  return state.JournalStatus();
}

absl::Status PublishCopy(const State& source, int64_t header_len, const CopyTarget& target,
                         Fill fill) {
  const std::shared_ptr<FileSystem>& files = target.location.files;
  const std::string& path = target.location.path;
  if (!target.overwrite && files->Identity(path).ok()) {
    return absl::AlreadyExistsError(absl::StrFormat("%s exists", ShownPath(path)));
  }
  RemoveAbandoned(target.location);
  CAIRN_ASSIGN_OR_RETURN(const FrameLocation old, LocateFrame(files, path));
  HeldFiles unwritten;
  if (target.overwrite) {
    CAIRN_ASSIGN_OR_RETURN(unwritten, LockFromWriters(old));
    // shows a refusal before the copy is made
    CAIRN_RETURN_IF_ERROR(LockFromReaders(old).status());
  }
  const auto publish = target.layout == Layout::kSparse ? PublishDirectory : PublishFile;
  return publish(source, header_len, target, old, fill);
}

absl::Status CopyFrame(const State& state, const CopyTarget& target, ChunkProgress progress) {
  CAIRN_RETURN_IF_ERROR(CheckCopyable(state));
  return PublishCopy(state, state.header().header_len, target,
                     [&](ChunkSink& sink) { return CopyInto(state, sink, progress); });
}

}  // namespace cairn::frame
