#include "cairn/frame.h"

#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/frame/api/handle_access.h"
#include "engine/frame/checkpoint/live_copy.h"
#include "engine/frame/copy/compaction.h"
#include "engine/frame/copy/frame_copy.h"
#include "engine/frame/copy/increment.h"
#include "engine/frame/files/copy_files.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/open/frame_core.h"
#include "engine/frame/open/history.h"
#include "engine/frame/writer/frame_writer.h"
#include "engine/storage/memory_file_system.h"

namespace cairn {

namespace {

// Returns where a frame will be, whatever is there now.
absl::StatusOr<frame::FrameLocation> PlaceOf(const std::string& path, FileSystem* file_system) {
  std::shared_ptr<FileSystem> files = frame::FilesOrPosix(file_system);
  CAIRN_ASSIGN_OR_RETURN(std::string absolute, files->Absolute(path));
  return frame::FrameLocation{.files = std::move(files), .path = std::move(absolute)};
}

frame::ChunkProgress ProgressOf(const std::function<bool(int64_t)>& progress) {
  return progress != nullptr ? frame::ChunkProgress(progress) : frame::NeverStop;
}

// Creates a frame that has everything from its first moment on.
absl::StatusOr<std::shared_ptr<frame::FrameCore>> CreateEmpty(frame::FrameLocation place,
                                                              const CreateOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(const std::unique_ptr<frame::FrameWriter> writer,
                         frame::CreateWriter(std::move(place), options, false));
  CAIRN_RETURN_IF_ERROR(writer->Close());
  return writer->core();
}

}  // namespace

Frame::Frame(std::shared_ptr<frame::FrameCore> core) : core_(std::move(core)) {}
Frame::Frame(Frame&&) noexcept = default;
Frame& Frame::operator=(Frame&&) noexcept = default;
Frame::~Frame() = default;

absl::StatusOr<Frame> Frame::Open(const std::string& path, const OpenOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<frame::FrameCore> core,
                         frame::FrameCore::Open(path, options));
  return Frame(std::move(core));
}

absl::StatusOr<Frame> Frame::OpenBuffer(Bytes cframe, const OpenOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<frame::FrameCore> core,
                         frame::FrameCore::OpenBuffer(cframe, options));
  return Frame(std::move(core));
}

absl::StatusOr<Frame> Frame::Create(const std::string& path, const CreateOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(frame::FrameLocation place, PlaceOf(path, options.file_system));
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<frame::FrameCore> core,
                         CreateEmpty(std::move(place), options));
  return Frame(std::move(core));
}

absl::StatusOr<Frame> Frame::CreateInMemory(const CreateOptions& options) {
  if (options.layout == Layout::kSparse) {
    return InvalidArgument("a sparse frame is a directory: it cannot live in memory");
  }
  CAIRN_ASSIGN_OR_RETURN(
      std::shared_ptr<frame::FrameCore> core,
      CreateEmpty({.files = std::make_shared<storage::MemoryFileSystem>(), .path = "memory"},
                  options));
  return Frame(std::move(core));
}

absl::StatusOr<Writer> Frame::BeginCreate(const std::string& path, const CreateOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(frame::FrameLocation place, PlaceOf(path, options.file_system));
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<frame::FrameWriter> writer,
                         frame::CreateWriter(std::move(place), options, true));
  return frame::HandleAccess::Make(std::move(writer));
}

Snapshot Frame::snapshot() const { return frame::HandleAccess::Make(core_->newest()); }

absl::StatusOr<Snapshot> Frame::Refresh() {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const frame::State> state, core_->Refresh());
  return frame::HandleAccess::Make(std::move(state));
}

absl::StatusOr<Snapshot> Frame::WaitForCommit(const Snapshot& seen,
                                              std::chrono::milliseconds timeout) {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const frame::State> state,
                         core_->WaitForCommit(frame::HandleAccess::PointerOf(seen), timeout));
  return frame::HandleAccess::Make(std::move(state));
}

absl::StatusOr<std::vector<GenerationInfo>> Frame::History(const HistoryOptions& options) const {
  return frame::ListHistory(core_->source(), core_->env(), options);
}

absl::StatusOr<std::vector<GenerationHolder>> Frame::OldReaders() const {
  const std::shared_ptr<const frame::State> state = core_->newest();
  if (!state->checkpoint->seal_holds || state->header().layout == Layout::kSparse) {
    return std::vector<GenerationHolder>();
  }
  return frame::FindHolders(*core_->source().file(), state->checkpoint->seal->generation);
}

absl::StatusOr<Writer> Frame::OpenWriter(const WriterOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<frame::FrameWriter> writer,
                         frame::OpenWriter(core_, options));
  return frame::HandleAccess::Make(std::move(writer));
}

absl::StatusOr<CompactReport> Frame::Compact(const CompactOptions& options) {
  return frame::CompactFrame(core_, options);
}

absl::StatusOr<Snapshot> Frame::CopyTo(const std::string& path, const CopyOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(Snapshot snapshot, Refresh());
  const frame::State& state = frame::HandleAccess::StateOf(snapshot);
  CAIRN_ASSIGN_OR_RETURN(frame::FrameLocation place, PlaceOf(path, options.file_system));
  if (place.files->ObjectsIn(place.path).store != nullptr) {
    return absl::UnimplementedError(path + ": a frame in an object store is built, not copied");
  }
  place.files = frame::FilesForCopyOf(core_->location(), std::move(place.files));
  const Layout own = options.since.has_value() ? Layout::kContiguous : state.header().layout;
  const frame::CopyTarget target{.location = std::move(place),
                                 .layout = options.layout.value_or(own),
                                 .overwrite = options.overwrite};
  const frame::ChunkProgress progress = ProgressOf(options.progress);
  CAIRN_RETURN_IF_ERROR(options.since.has_value()
                            ? frame::WriteIncrement(frame::HandleAccess::StateOf(*options.since),
                                                    state, target, progress)
                            : frame::CopyFrame(state, target, progress));
  return snapshot;
}

absl::StatusOr<std::vector<std::byte>> Frame::ToBuffer() const {
  const std::shared_ptr<const frame::State> state = core_->newest();
  if (state->header().layout == Layout::kSparse ||
      (state->journal.has_value() && !state->journal->empty()))
    return frame::SerializeContiguous(*state);
  std::vector<std::byte> out(static_cast<size_t>(state->header().frame_size));
  // The header in the file may be newer by now. The state's own header is the one that fits.
  CopyBytes(state->checkpoint->header_bytes, out);
  const int64_t header_len = state->header().header_len;
  ScratchBuffer scratch;
  CAIRN_ASSIGN_OR_RETURN(
      const Bytes rest,
      state->region.Read(header_len, state->header().frame_size - header_len, scratch));
  CopyBytes(rest, MutableBytes(out).subspan(static_cast<size_t>(header_len)));
  return out;
}

}  // namespace cairn
