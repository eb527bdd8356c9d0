#include "cairn/frame.h"

#include <utility>

#include "engine/base/status.h"
#include "engine/frame/api/handle_access.h"
#include "engine/frame/copy/compaction.h"
#include "engine/frame/files/frame_location.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/open/frame_core.h"
#include "engine/frame/open/history.h"
#include "engine/frame/writer/frame_writer.h"
#include "engine/storage/memory_file_system.h"

namespace cairn {

namespace {

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
  CAIRN_ASSIGN_OR_RETURN(frame::FrameLocation place, frame::PlaceAt(path, options.file_system));
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<frame::FrameCore> core,
                         CreateEmpty(std::move(place), options));
  return Frame(std::move(core));
}

absl::StatusOr<Frame> Frame::OpenOrCreate(const std::string& path, const CreateOptions& options) {
  if (options.overwrite) {
    return AtPath(path, InvalidArgument("a frame that is opened or created is not overwritten"));
  }
  OpenOptions open;
  open.registry = options.compression.registry;
  open.executor = options.compression.executor;
  open.file_system = options.file_system;
  absl::StatusOr<Frame> frame = Open(path, open);
  if (!absl::IsNotFound(frame.status())) return frame;
  frame = Create(path, options);
  if (frame.ok()) return frame;
  // Another process may have created it in the meantime, which a creation meets in several ways.
  absl::StatusOr<Frame> theirs = Open(path, open);
  return theirs.ok() ? std::move(theirs) : std::move(frame);
}

absl::StatusOr<Frame> Frame::CreateInMemory(const CreateOptions& options) {
  if (options.layout == Layout::kSparse) {
    return InvalidArgument("a sparse frame is a directory: it cannot live in memory");
  }
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<frame::FrameCore> core,
                         CreateEmpty({.files = std::make_shared<storage::MemoryFileSystem>(),
                                      .path = "memory",
                                      .in_memory = true},
                                     options));
  return Frame(std::move(core));
}

absl::StatusOr<Writer> Frame::BeginCreate(const std::string& path, const CreateOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(frame::FrameLocation place, frame::PlaceAt(path, options.file_system));
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<frame::FrameWriter> writer,
                         frame::CreateWriter(std::move(place), options, true));
  return frame::HandleAccess::Make(std::move(writer));
}

std::string Frame::path() const {
  const frame::FrameLocation& location = core_->location();
  return location.in_memory ? std::string() : location.frame_path();
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

}  // namespace cairn
