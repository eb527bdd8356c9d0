#include "engine/frame/open/frame_core.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/open/history.h"
#include "engine/frame/open/legacy_loader.h"
#include "engine/frame/open/newer_checkpoint.h"
#include "engine/frame/open/state_loader.h"
#include "engine/frame/replay/replay.h"
#include "engine/storage/memory_file_system.h"

namespace cairn::frame {

namespace {

// The exclusive reader lock is held while a sparse frame is replaced: by a copy for milliseconds,
// by a new frame for its first commit.
constexpr int kMaxReadAttempts = 200;
constexpr std::chrono::milliseconds kPause(1);
// The time between two checks that the frame's name still refers to our file.
constexpr std::chrono::seconds kPollPause(1);
// A file that gets the frame's name raises no event if that name was gone, or is a directory's.
constexpr std::chrono::milliseconds kLongestWait = kPollPause;
// Writes within a tick of the clock of the file system have one time.
constexpr std::chrono::milliseconds kClockTick(50);
// Fewer staged chunks than this are skipped again each time.
constexpr int64_t kManySkipped = 16;
// The memory that is kept for reading the journal.
constexpr size_t kKeptWindow = 64 << 10;

absl::StatusOr<FrameFile> OpenSource(const FrameLocation& location, int64_t origin, bool use_mmap) {
  for (int attempt = 1;; ++attempt) {
    CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<File> file,
                           location.files->Open(location.path, FileMode::kRead));
    if (!location.is_sparse()) return FrameFile::OfFile(file, origin, use_mmap);
    if (file->is_immutable()) return FrameFile::OfFile(file, 0, use_mmap, location.files);
    // An index that lost its name before it was locked may have lost its chunk files too.
    const absl::Status status = file->LockByte(kReaderLockByte, LockMode::kShared);
    if (status.ok()) {
      CAIRN_ASSIGN_OR_RETURN(const bool there, RefersTo(*location.files, location.path, *file));
      if (there) return FrameFile::OfFile(file, 0, use_mmap, location.files);
    } else if (!absl::IsUnavailable(status)) {
      return status;
    }
    if (attempt == kMaxReadAttempts) {
      return absl::UnavailableError(location.path + " is being replaced");
    }
    std::this_thread::sleep_for(kPause);
  }
}

// Returns false for the same commit, loaded again.
bool IsNews(const State& seen, const State& state) {
  if (&seen == &state) return false;
  return state.checkpoint_id() == 0 || state.checkpoint_id() != seen.checkpoint_id() ||
         state.generation() != seen.generation();
}

// Returns why a directory without an index is not opened. Chunks are the remains of a frame.
absl::Status NoIndexIn(const FrameLocation& location) {
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, location.files->List("."));
  const bool has_chunks = std::ranges::any_of(
      names, [](const std::string& name) { return format::ParseChunkFileName(name).has_value(); });
  if (has_chunks) return DataLoss("index: %s is missing next to the chunks", location.path);
  return InvalidArgument("a directory without %s is not a Blosc2 frame", location.path);
}

absl::Status CheckOptions(const OpenOptions& options) {
  const Limits& limits = options.limits;
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("limits.max_chunk_nbytes", limits.max_chunk_nbytes));
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("limits.max_metadata_nbytes", limits.max_metadata_nbytes));
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("limits.max_nchunks", limits.max_nchunks));
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("limits.max_decode_memory", limits.max_decode_memory));
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("max_mapped_files", options.max_mapped_files));
  return CheckNotNegative("cache_memory", options.cache_memory);
}

}  // namespace

absl::StatusOr<std::shared_ptr<FrameCore>> FrameCore::Open(const std::string& path,
                                                           const OpenOptions& options,
                                                           const CheckpointPolicy& checkpoints) {
  CAIRN_ASSIGN_OR_RETURN(FrameLocation location,
                         LocateFrame(FilesOrPosix(options.file_system), path));
  const auto open = [&]() -> absl::StatusOr<FrameFile> {
    if (location.is_sparse() && options.offset != 0) {
      return InvalidArgument("a directory: no frame begins at offset %d", options.offset);
    }
    return OpenSource(location, options.offset, options.use_mmap);
  };
  absl::StatusOr<FrameFile> source = open();
  // A directory may have been replaced while this waited for its index, or have appeared after the
  // look for one.
  if (location.is_sparse() ? absl::IsNotFound(source.status())
                           : absl::IsFailedPrecondition(source.status())) {
    CAIRN_ASSIGN_OR_RETURN(location, LocateFrame(FilesOrPosix(options.file_system), path));
    source = open();
  }
  if (!source.ok()) {
    if (!location.is_sparse()) return source.status();
    if (!absl::IsNotFound(source.status())) return AtPath(path, source.status());
    return AtPath(path, NoIndexIn(location));
  }
  auto core = Load(std::move(location), *std::move(source), options, checkpoints);
  if (!core.ok()) return AtPath(path, core.status());
  return core;
}

absl::StatusOr<std::shared_ptr<FrameCore>> FrameCore::OpenBuffer(Bytes cframe,
                                                                 const OpenOptions& options) {
  const std::string name = "the buffer";
  FrameLocation location{.files = std::make_shared<storage::MemoryFileSystem>(name, cframe),
                         .path = name,
                         .in_memory = true};
  CAIRN_ASSIGN_OR_RETURN(FrameFile source, OpenSource(location, options.offset, true));
  return Load(std::move(location), std::move(source), options, {});
}

absl::StatusOr<std::shared_ptr<FrameCore>> FrameCore::Load(FrameLocation location, FrameFile source,
                                                           const OpenOptions& options,
                                                           const CheckpointPolicy& checkpoints) {
  CAIRN_RETURN_IF_ERROR(CheckOptions(options));
  auto env = std::make_shared<FrameContext>(options, location);
  env->checkpoints = checkpoints;
  auto core = std::make_shared<FrameCore>(std::move(location), source, std::move(env));
  const MutexLock refresh(core->refresh_mutex_);
  const absl::Status loaded = core->MoveTo(source).status();
  // A file that cannot be loaded may not be a frame at all, unless its directory shows that it is
  // one.
  if (absl::IsDataLoss(loaded) && source.directory() == nullptr) {
    const absl::Status no_frame = FindEra(source).status();
    if (absl::IsInvalidArgument(no_frame)) return no_frame;
  }
  CAIRN_RETURN_IF_ERROR(loaded);
  return core;
}

FrameFile FrameCore::source() const {
  const MutexLock lock(mutex_);
  return source_;
}

StatePtr FrameCore::newest() const {
  const MutexLock lock(mutex_);
  return newest_;
}

absl::StatusOr<FrameCore::LastWrite> FrameCore::LastWriteOf(const FrameFile& source) {
  const absl::StatusOr<int64_t> written = source.file()->ModifiedAt();
  if (absl::IsUnimplemented(written.status())) return LastWrite{.at = 0, .is_settled = true};
  CAIRN_RETURN_IF_ERROR(written.status());
  const auto since_then =
      std::chrono::system_clock::now().time_since_epoch() - std::chrono::nanoseconds(*written);
  return LastWrite{.at = *written, .is_settled = since_then > kClockTick};
}

absl::StatusOr<StatePtr> FrameCore::MoveTo(FrameFile source) {
  CAIRN_ASSIGN_OR_RETURN(loaded_, LastWriteOf(source));
  CAIRN_ASSIGN_OR_RETURN(StatePtr state, env_->generation.has_value()
                                             ? LoadGeneration(source, env_, *env_->generation)
                                             : LoadState(source, env_));
  // A checkpoint may be in the page cache alone, and a name too.
  if (env_->durable_only) {
    CAIRN_RETURN_IF_ERROR(source.Sync());
    CAIRN_RETURN_IF_ERROR(SyncNames(location_));
  }
  const MutexLock lock(mutex_);
  source_ = std::move(source);
  newest_ = state;
  return state;
}

void FrameCore::InstallFile(FrameFile source, StatePtr state) {
  const MutexLock refresh(refresh_mutex_);
  const MutexLock lock(mutex_);
  source_ = std::move(source);
  newest_ = std::move(state);
}

void FrameCore::InstallState(StatePtr state) {
  const MutexLock refresh(refresh_mutex_);
  const MutexLock lock(mutex_);
  // When there are other writers, a reader may have seen a later commit.
  const bool is_older = newest_ != nullptr && newest_->checkpoint_id() == state->checkpoint_id() &&
                        newest_->generation() > state->generation();
  if (!is_older) newest_.swap(state);
}

absl::Status FrameCore::CheckMayWrite() const {
  if (!owner_.is_here()) {
    return FailedPrecondition(
        "the frame was opened by the process that this one was forked from: open it again to write "
        "it");
  }
  if (env_->generation.has_value()) {
    return FailedPrecondition("generation %d of the frame's history is read-only",
                              *env_->generation);
  }
  if (env_->durable_only) {
    return FailedPrecondition("a frame that was opened with durable_only is read-only");
  }
  const int64_t origin = source().origin();
  if (origin == 0) return absl::OkStatus();
  return FailedPrecondition("the frame at offset %d of a larger file is read-only", origin);
}

absl::StatusOr<std::shared_ptr<File>> FrameCore::OpenForWriting(std::chrono::milliseconds wait,
                                                                std::shared_ptr<File> file) {
  CAIRN_RETURN_IF_ERROR(CheckMayWrite());
  return LockForWriting(*location_.files, location_.path, wait, std::move(file));
}

absl::StatusOr<FrameFile> FrameCore::OpenForReading(const std::shared_ptr<File>& written) const {
  CAIRN_ASSIGN_OR_RETURN(FrameFile source, OpenSource(location_, 0, env_->use_mmap));
  // Another process may have replaced the file since it was locked. The two must not be mixed up.
  CAIRN_ASSIGN_OR_RETURN(const FileIdentity ours, written->Identity());
  CAIRN_ASSIGN_OR_RETURN(const FileIdentity there, source.file()->Identity());
  if (ours != there) return FailedPrecondition("%s was replaced by another file", location_.path);
  return source;
}

// Reopens the frame if its name refers to another file.
absl::StatusOr<StatePtr> FrameCore::ReopenIfReplaced(StatePtr newest, const FrameFile& source) {
  CAIRN_ASSIGN_OR_RETURN(const bool there,
                         RefersTo(*location_.files, location_.path, *source.file()));
  polled_replaced_at_ = std::chrono::steady_clock::now();
  if (there) return newest;
  absl::StatusOr<FrameFile> moved = OpenSource(location_, source.origin(), env_->use_mmap);
  if (absl::IsNotFound(moved.status())) return newest;  // our state stays readable
  CAIRN_RETURN_IF_ERROR(moved.status());
  return MoveTo(*std::move(moved));
}

// Returns the position after the chunks that were skipped before, if they are still those of the
// same writer.
absl::StatusOr<int64_t> FrameCore::ResumePosition(const State& newest, const FrameFile& source) {
  const int64_t end = newest.journal->end;
  if (skipped_.begin != end) return end;
  std::array<std::byte, chunk::kHeaderSize> header{};
  CAIRN_RETURN_IF_ERROR(source.ReadSome(skipped_.last.position, header).status());
  return header == skipped_.last.header ? skipped_.end : end;
}

absl::StatusOr<StatePtr> FrameCore::ReplayNew(StatePtr newest, const FrameFile& source) {
  // Neither a chunk nor a record begins with a zero.
  const int64_t end = newest->journal->end;
  if (SeesFile(*newest, source) && newest->region.PeekIsZero(end)) {
    return PollReplaced(std::move(newest), source);
  }
  CAIRN_ASSIGN_OR_RETURN(const int64_t begin, ResumePosition(*newest, source));
  JournalReader reader(source, begin, std::move(window_));
  CAIRN_ASSIGN_OR_RETURN(
      const ReplayResult replayed,
      ReplayJournal(source, *newest, reader, {.durable_only = env_->durable_only}));
  window_ = reader.TakeMemory();
  if (window_.size() > kKeptWindow) window_ = {};
  if (replayed.state != nullptr) {
    skipped_ = {};
    // A checkpoint that inherits the journal may be the frame's by now. The bytes that were read
    // last may then lie in space that readers of the checkpoint before do not keep.
    CAIRN_ASSIGN_OR_RETURN(const bool moves_on, HasNewCheckpoint(*newest, source));
    if (moves_on) return MoveTo(source);
    newest = replayed.state;
    const MutexLock lock(mutex_);
    newest_ = newest;
  }
  // The replacement may be about to happen, or its writer died before it.
  if (replayed.moved) return ReopenIfReplaced(std::move(newest), source);
  if (replayed.state != nullptr) return newest;
  // Commits that are not durable yet are read again each time.
  if (reader.skipped().count >= kManySkipped && !env_->durable_only) {
    skipped_ = {.begin = end, .end = reader.position(), .last = reader.skipped()};
  }
  return PollReplaced(std::move(newest), source);
}

// Nothing follows, but from time to time another file may have been given the name.
absl::StatusOr<StatePtr> FrameCore::PollReplaced(StatePtr newest, const FrameFile& source) {
  const auto now = std::chrono::steady_clock::now();
  if (now - polled_replaced_at_ < kPollPause) return newest;
  skipped_ = {};  // another writer may have a chunk of the same size there
  return ReopenIfReplaced(std::move(newest), source);
}

// Loads a damaged state again, which may have been repaired in this file or in another one.
absl::StatusOr<StatePtr> FrameCore::ReloadDamaged(StatePtr damaged, const FrameFile& source) {
  if (std::chrono::steady_clock::now() - polled_replaced_at_ < kPollPause) return damaged;
  CAIRN_ASSIGN_OR_RETURN(const StatePtr moved, ReopenIfReplaced(damaged, source));
  return moved == damaged ? MoveTo(source) : moved;
}

absl::StatusOr<StatePtr> FrameCore::Refresh() {
  const MutexLock refresh(refresh_mutex_);
  return RefreshLocked();
}

absl::StatusOr<StatePtr> FrameCore::WaitForCommit(const StatePtr& seen,
                                                  std::chrono::milliseconds timeout) {
  const auto begin = std::chrono::steady_clock::now();
  FileEvent event = FileEvent::kNone;
  while (true) {
    // The watch begins before the frame is looked at, so that every later event ends the wait.
    const WatchPool::Lease watch = watches_.Watch(source().file());
    StatePtr state;
    {
      const MutexLock refresh(refresh_mutex_);
      if (event == FileEvent::kRenamed) polled_replaced_at_ = {};
      CAIRN_ASSIGN_OR_RETURN(state, RefreshLocked());
    }
    if (IsNews(*seen, *state)) return state;
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin);
    if (waited >= timeout) return seen;
    CAIRN_ASSIGN_OR_RETURN(event, watch.Wait(std::min(timeout - waited, kLongestWait)));
  }
}

absl::StatusOr<StatePtr> FrameCore::RefreshLocked() {
  const FrameFile source = this->source();
  StatePtr state = newest();
  if (env_->generation.has_value()) return state;
  if (source.file()->is_immutable()) return ReopenIfReplaced(std::move(state), source);
  const bool is_of_others = IsOfOthers(*state->checkpoint);
  if (!state->journal.has_value() || is_of_others) {
    CAIRN_ASSIGN_OR_RETURN(const StatePtr moved, ReopenIfReplaced(state, source));
    // Frames of older eras are never written.
    if (moved != state || state->checkpoint->era != Era::kCurrent) return moved;
  }
  if (is_of_others) {
    CAIRN_ASSIGN_OR_RETURN(const LastWrite now, LastWriteOf(source));
    if (now.at != loaded_.at || !loaded_.is_settled) return MoveTo(source);
  }
  CAIRN_ASSIGN_OR_RETURN(const bool moves_on, HasNewCheckpoint(*state, source));
  if (moves_on) {
    // After that checkpoint the journal may tell that another file replaces this one.
    CAIRN_ASSIGN_OR_RETURN(state, MoveTo(source));
  }
  if (state->damage.has_value()) return ReloadDamaged(std::move(state), source);
  return state->journal.has_value() ? ReplayNew(std::move(state), source) : state;
}

}  // namespace cairn::frame
