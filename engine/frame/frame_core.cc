#include "engine/frame/frame_core.h"

#include <utility>

#include "engine/base/status.h"
#include "engine/frame/loader.h"
#include "engine/storage/buffer_mapping.h"
#include "engine/storage/memory_file.h"

namespace cairn::frame {

namespace {

constexpr int kMaxAttempts = 16;

}  // namespace

std::shared_ptr<const Environment> MakeEnvironment(const OpenOptions& options) {
  auto env = std::make_shared<Environment>();
  env->use_mmap = options.use_mmap;
  env->verify = options.verify;
  env->limits = options.limits;
  env->registry = options.registry;
  env->executor = options.executor;
  return env;
}

absl::StatusOr<std::shared_ptr<FrameCore>> FrameCore::Open(const std::string& path,
                                                           const OpenOptions& options) {
  FileSystem* files = options.file_system != nullptr ? options.file_system : PosixFileSystem();
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const File> file, files->Open(path, FileMode::kRead));
  auto core = std::make_shared<FrameCore>(
      FramePlace{.files = files, .path = path},
      FrameSource::OfFile(std::move(file), options.offset, options.use_mmap),
      MakeEnvironment(options));
  if (const auto state = core->Load(); !state.ok()) return At(path, state.status());
  return core;
}

absl::StatusOr<std::shared_ptr<FrameCore>> FrameCore::OpenBuffer(Bytes cframe,
                                                                 const OpenOptions& options) {
  auto core = std::make_shared<FrameCore>(
      FramePlace{}, FrameSource::OfBuffer(storage::BorrowBytes(cframe), options.offset),
      MakeEnvironment(options));
  CAIRN_RETURN_IF_ERROR(core->Load().status());
  return core;
}

FrameSource FrameCore::source() const {
  const std::lock_guard lock(mutex_);
  return source_;
}

std::shared_ptr<const State> FrameCore::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

absl::StatusOr<std::shared_ptr<const State>> FrameCore::MoveTo(FrameSource source) {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const State> state, LoadState(source, env_));
  const std::lock_guard lock(mutex_);
  source_ = std::move(source);
  newest_ = state;
  return state;
}

void FrameCore::Adopt(FrameSource source, std::shared_ptr<const State> state) {
  const std::lock_guard refresh(refresh_mutex_);
  const std::lock_guard lock(mutex_);
  source_ = std::move(source);
  newest_ = std::move(state);
}

absl::StatusOr<bool> FrameCore::IsAtItsPlace(const File& file) const {
  if (place_.files == nullptr) return true;
  CAIRN_ASSIGN_OR_RETURN(const FileIdentity ours, file.Identity());
  const absl::StatusOr<FileIdentity> there = place_.files->Identity(place_.path);
  if (absl::IsNotFound(there.status())) return false;
  CAIRN_RETURN_IF_ERROR(there.status());
  return *there == ours;
}

absl::StatusOr<std::shared_ptr<File>> FrameCore::LockOld() const {
  if (place_.files == nullptr) return nullptr;
  absl::StatusOr<std::unique_ptr<File>> file =
      place_.files->Open(place_.path, FileMode::kReadWrite);
  // What nobody can write has no writer.
  if (!file.ok()) return nullptr;
  CAIRN_RETURN_IF_ERROR((*file)->LockByte(kWriterLockByte, LockMode::kExclusive));
  return std::shared_ptr<File>(*std::move(file));
}

absl::StatusOr<std::shared_ptr<File>> FrameCore::OpenForWriting() {
  const FrameSource source = this->source();
  if (source.file() == nullptr) return FailedPrecondition("a frame in a buffer is read-only");
  if (source.origin() != 0) {
    return FailedPrecondition("the frame at offset %d of a larger file is read-only",
                              source.origin());
  }
  if (place_.files == nullptr) {
    const auto& memory = static_cast<const storage::MemoryFile&>(*source.file());
    std::shared_ptr<File> file = memory.Reopen();
    CAIRN_RETURN_IF_ERROR(file->LockByte(kWriterLockByte, LockMode::kExclusive));
    return file;
  }
  // The writer that we waited for may have put another file in place of the one that we opened.
  for (int attempt = 1;; ++attempt) {
    CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<File> file,
                           place_.files->Open(place_.path, FileMode::kReadWrite));
    CAIRN_RETURN_IF_ERROR(file->LockByte(kWriterLockByte, LockMode::kExclusive));
    CAIRN_ASSIGN_OR_RETURN(const bool there, IsAtItsPlace(*file));
    if (there) return file;
    if (attempt == kMaxAttempts) {
      return absl::UnavailableError(place_.path + " is being replaced again and again");
    }
  }
}

absl::StatusOr<FrameSource> FrameCore::OpenForReading(const std::shared_ptr<File>& written) const {
  if (place_.files == nullptr) {
    const auto& memory = static_cast<const storage::MemoryFile&>(*written);
    return FrameSource::OfFile(memory.Reopen(), 0, env_->use_mmap);
  }
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<const File> file,
                         place_.files->Open(place_.path, FileMode::kRead));
  return FrameSource::OfFile(std::move(file), 0, env_->use_mmap);
}

absl::StatusOr<std::shared_ptr<const State>> FrameCore::Refresh() {
  const std::lock_guard refresh(refresh_mutex_);
  const FrameSource source = this->source();
  if (source.file() == nullptr) return newest();
  CAIRN_ASSIGN_OR_RETURN(const bool there, IsAtItsPlace(*source.file()));
  if (!there) {
    absl::StatusOr<std::shared_ptr<const File>> file =
        place_.files->Open(place_.path, FileMode::kRead);
    if (absl::IsNotFound(file.status())) return newest();  // what we hold stays readable
    CAIRN_RETURN_IF_ERROR(file.status());
    return MoveTo(FrameSource::OfFile(*std::move(file), source.origin(), env_->use_mmap));
  }
  CAIRN_ASSIGN_OR_RETURN(const int64_t frame_size, LoadFrameSize(source));
  std::shared_ptr<const State> state = newest();
  if (frame_size == state->header.frame_size) return state;
  return MoveTo(source);
}

}  // namespace cairn::frame
