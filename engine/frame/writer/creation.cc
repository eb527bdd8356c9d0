// The writers of frames that do not exist until their first commit.
#include "engine/frame/writer/creation.h"

#include <optional>
#include <utility>

#include "engine/base/shown_path.h"
#include "engine/base/status.h"
#include "engine/frame/array/array_options.h"
#include "engine/frame/checkpoint/live_copy.h"
#include "engine/frame/files/atomic_file.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/files/replacement.h"
#include "engine/frame/layout/contiguous_backend.h"
#include "engine/frame/layout/sparse_backend.h"
#include "engine/frame/state/initial_state.h"
#include "engine/frame/state/sparse_chunk_source.h"
#include "engine/frame/writer/frame_writer.h"

namespace cairn::frame {

namespace {

class ContiguousCreation final : public Creation {
 public:
  using Creation::Creation;

  absl::StatusOr<std::unique_ptr<Stager>> Stage() override { return StageInto(*sink_); }
  absl::Status Restart(bool failed) override;
  void PinStaged(const StatePtr& /*snapshot*/) override {}
  absl::Status WriteCheckpoint(Stager& stager, Follows follows) override;

 private:
  std::optional<AtomicFile> new_file_;
  std::optional<ContiguousSink> sink_;
};

// In a new file: what a snapshot reads of the old one stays there.
absl::Status ContiguousCreation::Restart(bool /*failed*/) {
  CAIRN_ASSIGN_OR_RETURN(AtomicFile file,
                         AtomicFile::CreateBeside(location_.files, location_.path));
  const format::FrameHeader& header = base().header();
  // Staged chunks can be read before there is a frame, so the file has to reach up to them.
  CAIRN_RETURN_IF_ERROR(file.file()->WriteAt(0, base().checkpoint->header_bytes));
  frame_.file = file.file();
  frame_.source = FrameFile::OfFile(frame_.file, 0, base().env()->use_mmap);
  if (frame_.core == nullptr) {
    frame_.core = std::make_shared<FrameCore>(location_, frame_.source, base().env());
  }
  new_file_ = std::move(file);
  sink_.emplace(frame_.file.get(), frame_.source, header.header_len, header.frame_size);
  return absl::OkStatus();
}

absl::Status ContiguousCreation::WriteCheckpoint(Stager& stager, Follows /*follows*/) {
  CAIRN_ASSIGN_OR_RETURN(const HeldFiles old, LockOld());
  frame_.peer_lock.reset();  // of an attempt that was refused
  auto peer_lock = TakePeerLock(location_, {});
  if (!peer_lock.ok()) return Refuse(peer_lock.status());
  frame_.peer_lock = *std::move(peer_lock);
  CAIRN_RETURN_IF_ERROR(Finish(stager));
  const StagedState& staged = stager.staged();
  if (sink_->end() - staged.header.header_len == staged.stored_bytes) {
    CAIRN_RETURN_IF_ERROR(
        StoreCheckpoint(*frame_.file, staged, frame_.PlanCheckpoint(sink_->end(), true)));
  } else {
    // Edits left dead bytes, which a snapshot may still read.
    CAIRN_ASSIGN_OR_RETURN(new_file_, CopyContiguous(frame_, stager, NeverStop));
    frame_.file = new_file_->file();
  }
  CAIRN_RETURN_IF_ERROR(new_file_->Persist());
  CAIRN_RETURN_IF_ERROR(new_file_->Publish(replace_));
  CAIRN_RETURN_IF_ERROR(frame_.InstallFile(frame_.file));
  successor_ = std::make_unique<ContiguousBackend>(std::move(frame_), options_);
  return absl::OkStatus();
}

// In a directory that gets its name with the first checkpoint.
class SparseCreation final : public Creation {
 public:
  using Creation::Creation;

  absl::StatusOr<std::unique_ptr<Stager>> Stage() override { return StageInto(*sink_); }
  absl::Status Restart(bool failed) override;
  void PinStaged(const StatePtr& snapshot) override { sink_->Pin(snapshot); }
  absl::Status WriteCheckpoint(Stager& stager, Follows follows) override;

 private:
  std::optional<AtomicDirectory> made_;
  std::unique_ptr<SparseSink> sink_;
};

absl::Status SparseCreation::Restart(bool /*failed*/) {
  if (sink_ != nullptr) {
    sink_->Discard();
    return absl::OkStatus();
  }
  CAIRN_ASSIGN_OR_RETURN(made_, AtomicDirectory::CreateBeside(location_.files, location_.path));
  auto state = std::make_shared<State>(base());
  frame_.file = made_->index();
  frame_.source = FrameFile::OfFile(frame_.file, 0, state->env()->use_mmap, made_->directory());
  frame_.core = std::make_shared<FrameCore>(
      LocationIn(made_->directory(), location_.files, location_.path), frame_.source, state->env());
  state->chunk_source = std::make_shared<SparseChunkSource>(
      made_->directory(), frame_.file, state->env()->use_mmap, state->env()->max_mapped_files);
  frame_.state = std::move(state);
  sink_ = std::make_unique<SparseSink>(made_->directory());
  return absl::OkStatus();
}

absl::Status SparseCreation::WriteCheckpoint(Stager& stager, Follows /*follows*/) {
  CAIRN_ASSIGN_OR_RETURN(const HeldFiles old, LockOld());
  CAIRN_RETURN_IF_ERROR(Finish(stager));
  CAIRN_RETURN_IF_ERROR(SyncChunkFiles(*made_->directory(), sink_->staged()));
  CAIRN_RETURN_IF_ERROR(StoreCheckpoint(*frame_.file, stager.staged(),
                                        frame_.PlanCheckpoint(base().header().header_len, true)));
  CAIRN_RETURN_IF_ERROR(made_->Persist());
  CAIRN_RETURN_IF_ERROR(made_->Publish(replace_));
  CAIRN_RETURN_IF_ERROR(frame_.InstallFile(frame_.file));
  successor_ = std::make_unique<SparseBackend>(std::move(frame_), options_, std::move(sink_));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<FrameWriter>> CreateWriter(FrameLocation location,
                                                          const CreateOptions& given, bool plain) {
  CAIRN_ASSIGN_OR_RETURN(CreateOptions options, ResolveArray(given));
  const bool in_objects = location.files->ObjectsIn(location.path).store != nullptr;
  if (in_objects) options.layout = Layout::kSparse;
  OpenOptions open;
  open.file_system = options.file_system;
  open.registry = options.compression.registry;
  open.executor = options.compression.executor;
  CAIRN_ASSIGN_OR_RETURN(StatePtr state,
                         MakeInitialState(options, std::make_shared<FrameContext>(open, location)));
  if (!options.overwrite && location.files->Identity(location.path).ok()) {
    return absl::AlreadyExistsError(absl::StrFormat("%s exists", ShownPath(location.path)));
  }
  if (!in_objects) RemoveAbandoned(location);  // an object is there as a whole or not at all
  std::unique_ptr<CommitBackend> backend;
  if (in_objects) {
    backend = MakeObjectCreation(std::move(location), options, std::move(state));
  } else if (options.layout == Layout::kContiguous) {
    backend =
        std::make_unique<ContiguousCreation>(std::move(location), options, std::move(state), plain);
  } else {
    backend =
        std::make_unique<SparseCreation>(std::move(location), options, std::move(state), plain);
  }
  CAIRN_RETURN_IF_ERROR(backend->Restart(false));
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<Stager> stager, backend->Stage());
  return std::make_unique<FrameWriter>(
      std::move(backend), std::move(stager),
      WriterOptions{.compression = options.compression,
                    .chunksize = options.chunksize.nbytes().value_or(WriterOptions().chunksize)},
      Repair::kNone);
}

}  // namespace cairn::frame
