// The writers of frames that exist.
#include <array>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/format/frame_header.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/files/atomic_file.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/layout/contiguous_backend.h"
#include "engine/frame/layout/object_backend.h"
#include "engine/frame/layout/sparse_backend.h"
#include "engine/frame/open/legacy_loader.h"
#include "engine/frame/open/state_loader.h"
#include "engine/frame/state/initial_state.h"
#include "engine/frame/writer/frame_writer.h"

namespace cairn::frame {

namespace {

absl::StatusOr<StagerOptions> StagingOf(const WriterOptions& options, const State& base,
                                        const std::shared_ptr<const Registry>& registry) {
  StagerOptions staging;
  staging.compression = options.compression.value_or(CompressionOf(base.header()));
  staging.compression.typesize = base.header().typesize;
  if (options.executor != nullptr) staging.compression.executor = options.executor;
  if (options.registry != nullptr) staging.compression.registry = options.registry;
  if (staging.compression.registry == nullptr) staging.compression.registry = registry;
  FitToArray(base, staging.compression);
  if (staging.compression.format != ChunkFormat::kBlosc2) {
    return InvalidArgument("frames hold chunks of the Blosc2 format only");
  }
  if (options.chunksize < 1 || options.chunksize > kMaxChunkBytes) {
    return InvalidArgument("chunksize: expected 1 to %d, got %d", kMaxChunkBytes,
                           options.chunksize);
  }
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("max_file_size", options.max_file_size));
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("staged_memory", options.staged_memory));
  staging.staged_memory = options.staged_memory;
  staging.free_shapes = options.free_shapes;
  staging.chunksize = WholeItems(options.chunksize, base.header().typesize);
  return staging;
}

// The newest state of a frame whose lock is held.
absl::StatusOr<StatePtr> LoadNewest(const FrameFile& source, const FrameCore& core, Repair repair,
                                    JournalFootprint& footprint) {
  CAIRN_ASSIGN_OR_RETURN(StatePtr newest, LoadState(source, core.env(), &footprint));
  CAIRN_RETURN_IF_ERROR(CheckWritable(*newest));
  CAIRN_RETURN_IF_ERROR(CheckNotLast(*newest));
  CAIRN_RETURN_IF_ERROR(CheckMayContinue(source, *newest, repair));
  if (!newest->damage.has_value()) return newest;
  // The journal ends at the damage.
  auto state = std::make_shared<State>(*newest);
  state->damage.reset();
  return state;
}

// Holds the parts of a writer that was just opened.
struct OpenedFrame {
  std::unique_ptr<CommitBackend> backend;
  std::unique_ptr<Stager> stager;
};

// Opens a frame in files. `frame` has its core, and its file, which holds the writer's lock.
absl::StatusOr<OpenedFrame> OpenLocked(CommittedFrame frame, const WriterOptions& options,
                                       Repair repair) {
  CAIRN_ASSIGN_OR_RETURN(frame.peer_lock, TakePeerLock(frame.location(), options));
  // From here on no other process writes, so the state that is read is the newest one.
  CAIRN_ASSIGN_OR_RETURN(frame.source, frame.core->OpenForReading(frame.file));
  JournalFootprint footprint;
  CAIRN_ASSIGN_OR_RETURN(frame.state, LoadNewest(frame.source, *frame.core, repair, footprint));
  frame.keep_generations = options.keep_generations;
  frame.opening = options.opening;
  if (options.max_file_size > 0) {
    const FrameLocation& at = frame.location();
    frame.limit = {.path = at.is_sparse() ? at.outer_path : at.path,
                   .bytes = options.max_file_size};
  }
  frame.NoteCheckpoint();
  frame.core->InstallFile(frame.source, frame.state);
  frame.sync->Begin(frame.file, frame.committed(), {});  // until PersistBase
  if (frame.state->checkpoint->seal.has_value())
    frame.fingerprint = frame.state->checkpoint->seal->type;
  CAIRN_ASSIGN_OR_RETURN(StagerOptions staging,
                         StagingOf(options, *frame.state, frame.core->env()->registry));
  const FrameLocation& location = frame.location();  // of the core, which the backend keeps
  OpenedFrame opened;
  if (frame.state->header().layout == Layout::kSparse) {
    opened.backend =
        std::make_unique<SparseBackend>(std::move(frame), std::move(staging), footprint);
  } else {
    opened.backend =
        std::make_unique<ContiguousBackend>(std::move(frame), std::move(staging), footprint);
  }
  CAIRN_RETURN_IF_ERROR(opened.backend->PersistBase());
  RemoveAbandoned(location);
  CAIRN_RETURN_IF_ERROR(opened.backend->Restart(false));
  CAIRN_ASSIGN_OR_RETURN(opened.stager, opened.backend->Stage());
  return opened;
}

// Opens a frame in an object store, which other writers may have open at the same time.
absl::StatusOr<OpenedFrame> OpenShared(std::shared_ptr<FrameCore> core,
                                       const WriterOptions& options) {
  CommittedFrame frame;
  frame.core = std::move(core);
  CAIRN_RETURN_IF_ERROR(frame.core->CheckMayWrite());
  frame.state = frame.core->newest();
  const std::optional<format::Seal>& seal = frame.state->checkpoint->seal;
  if (seal.has_value()) frame.fingerprint = seal->type;
  CAIRN_ASSIGN_OR_RETURN(StagerOptions staging,
                         StagingOf(options, *frame.state, frame.core->env()->registry));
  OpenedFrame opened;
  opened.backend = std::make_unique<ObjectBackend>(std::move(frame), std::move(staging));
  CAIRN_RETURN_IF_ERROR(opened.backend->PersistBase());
  CAIRN_ASSIGN_OR_RETURN(opened.stager, opened.backend->Stage());
  return opened;
}

// Writes the checkpoint that an opened frame needs, unless that is left to the caller. A full disk
// may prevent it.
absl::Status CheckpointAfterOpening(FrameWriter& writer, Repair repair) {
  if (repair == Repair::kNoneYet || !writer.needs_checkpoint()) return absl::OkStatus();
  const absl::Status status = writer.Checkpoint();
  const bool refused = absl::IsResourceExhausted(status) && writer.GetStager().ok();
  return refused ? absl::OkStatus() : status;
}

}  // namespace

absl::Status CheckMayContinue(const FrameFile& source, const State& state, Repair repair) {
  CAIRN_RETURN_IF_ERROR(state.checkpoint->trailer_damage);
  if (const CommittedIndex* const index = state.chunks.base(); index != nullptr) {
    CAIRN_RETURN_IF_ERROR(index->damage());
  }
  if (state.damage.has_value()) {
    const bool keeps_all = state.damage->newer.has_value();
    const bool repairs = repair != Repair::kNone && repair != Repair::kNoneYet;
    if (keeps_all && !repairs) return state.JournalStatus();
    if (!keeps_all && repair != Repair::kDropStranded) {
      return DataLoss("%s; only a recovery that drops stranded commits cuts them off",
                      state.JournalStatus().message());
    }
  }
  // Bytes after a frame are cut, because a dead writer left them. Another frame must not be cut.
  constexpr size_t kMagicAt = 2;
  std::array<std::byte, kMagicAt + format::kFrameMagic.size()> after = {};
  const int64_t end = CommittedEnd(state);
  CAIRN_ASSIGN_OR_RETURN(const size_t got, source.ReadSome(end, after));
  if (got < after.size() || AsText(Bytes(after).subspan(kMagicAt)) != format::kFrameMagic) {
    return absl::OkStatus();
  }
  return FailedPrecondition("another frame begins at byte %d, where this one ends", end);
}

absl::StatusOr<std::unique_ptr<FrameWriter>> OpenWriter(std::shared_ptr<FrameCore> core,
                                                        const WriterOptions& options,
                                                        Repair repair) {
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("wait", options.wait.count()));
  CAIRN_RETURN_IF_ERROR(CheckWritable(*core->newest()));
  OpenedFrame opened;
  if (core->location().objects().store != nullptr) {
    CAIRN_ASSIGN_OR_RETURN(opened, OpenShared(std::move(core), options));
  } else {
    CommittedFrame frame;
    frame.core = std::move(core);
    CAIRN_ASSIGN_OR_RETURN(frame.file, frame.core->OpenForWriting(options.wait));
    CAIRN_ASSIGN_OR_RETURN(opened, OpenLocked(std::move(frame), options, repair));
  }
  auto writer = std::make_unique<FrameWriter>(std::move(opened.backend), std::move(opened.stager),
                                              options, repair);
  CAIRN_RETURN_IF_ERROR(CheckpointAfterOpening(*writer, repair));
  return writer;
}

absl::Status FrameWriter::Resume(std::chrono::milliseconds wait) { return Regain(wait, true); }

absl::Status FrameWriter::Regain(std::chrono::milliseconds wait, bool may_reopen) {
  CAIRN_RETURN_IF_ERROR(CheckIsHere());
  if (!suspended_) return FailedPrecondition("the writer is not suspended");
  CAIRN_RETURN_IF_ERROR(CheckSyncs());
  if (backend_->is_shared()) {
    CAIRN_RETURN_IF_ERROR(backend_->Resume(options_).status());
    suspended_ = false;
    return Restage();
  }
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<File> file,
                         core_->OpenForWriting(wait, backend_->frame().file));
  const absl::Status status = GoOn(file, may_reopen);
  // Nothing is staged, so the caller can try again.
  if (!status.ok()) file->UnlockByte(kWriterLockByte).IgnoreError();
  suspended_ = !status.ok();
  return status;
}

// Continues with `file`, which holds the writer's lock.
absl::Status FrameWriter::GoOn(std::shared_ptr<File> file, bool may_reopen) {
  if (file == backend_->frame().file) {
    CAIRN_ASSIGN_OR_RETURN(const bool continued, backend_->Resume(options_));
    if (continued) return Restage();
  }
  if (!may_reopen) return FailedPrecondition("another writer has written a checkpoint");
  CommittedFrame frame;
  frame.core = core_;
  frame.file = std::move(file);
  frame.sync = sync_;
  const Repair repair = repair_ == Repair::kNoneYet ? repair_ : Repair::kNone;
  CAIRN_ASSIGN_OR_RETURN(OpenedFrame opened, OpenLocked(std::move(frame), options_, repair));
  stager_ = std::move(opened.stager);  // the old one must be destroyed before its backend
  backend_ = std::move(opened.backend);
  suspended_ = false;
  return CheckpointAfterOpening(*this, repair_);
}

}  // namespace cairn::frame
