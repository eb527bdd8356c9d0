#include "engine/frame/files/frame_locks.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"

#include "engine/base/retry.h"
#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/storage/lock_file.h"

namespace cairn::frame {

namespace {

constexpr char kLockFileSuffix[] = ".b2lock";
constexpr std::chrono::milliseconds kLockFileWait(100);

// A link beside a frame that came from elsewhere may lead to any file, which would be written to:
// it has to lead to the lock of the frame that its own path leads to.
absl::Status CheckLockLink(FileSystem& files, const std::string& frame, const std::string& lock) {
  const size_t name = lock.rfind('/') + 1;
  const std::string directory = files.Resolve(name == 0 ? "." : lock.substr(0, name));
  const std::string file = files.Resolve(lock);
  if (file == lock || file == absl::StrCat(directory, "/", lock.substr(name)) ||
      file == files.Resolve(frame) + kLockFileSuffix) {
    return absl::OkStatus();
  }
  return FailedPrecondition("%s is a symbolic link to %s", lock, file);
}

}  // namespace

absl::StatusOr<std::shared_ptr<File>> LockForWriting(FileSystem& files, const std::string& path,
                                                     std::chrono::milliseconds wait,
                                                     std::shared_ptr<File> file) {
  constexpr int kMinAttempts = 16;
  const Deadline deadline(wait);
  // The writer that held the lock may have replaced the file that was opened.
  for (int attempt = 1; attempt <= kMinAttempts || !deadline.has_passed(); ++attempt) {
    if (file == nullptr) {
      CAIRN_ASSIGN_OR_RETURN(file, files.Open(path, FileMode::kReadWrite));
    }
    CAIRN_RETURN_IF_ERROR(file->WaitForByte(kWriterLockByte, deadline.left()));
    CAIRN_ASSIGN_OR_RETURN(const bool there, RefersTo(files, path, *file));
    if (there) return file;
    file.reset();
  }
  return absl::UnavailableError(path + " is being replaced again and again");
}

absl::StatusOr<std::unique_ptr<File>> TakePeerLock(const FrameLocation& location,
                                                   const WriterOptions& options) {
  const std::string path =
      location.is_sparse() ? std::string(format::kLockFileName) : location.path + kLockFileSuffix;
  if (!options.make_lock_file && absl::IsNotFound(location.files->Identity(path).status())) {
    return nullptr;  // the usual case
  }
  if (!location.is_sparse()) {
    CAIRN_RETURN_IF_ERROR(CheckLockLink(*location.files, location.path, path));
  }
  // Other programs hold it for the moment of one call.
  return RetryUnavailable(std::max(options.wait, kLockFileWait), [&] {
    return storage::TakeLockFile(*location.files, path, options.make_lock_file);
  });
}

absl::StatusOr<std::vector<GenerationHolder>> FindHolders(const File& file, uint64_t generation) {
  const auto count = static_cast<int64_t>(generation);
  CAIRN_ASSIGN_OR_RETURN(const std::vector<LockHolder> locks,
                         file.LockHolders(kReaderLockByte, count));
  std::vector<GenerationHolder> holders;
  for (const LockHolder& lock : locks) {
    holders.push_back({.generation = static_cast<uint64_t>(lock.offset - kReaderLockByte),
                       .pid = lock.pid,
                       .running = lock.running});
  }
  std::ranges::sort(holders, {}, &GenerationHolder::generation);
  return holders;
}

absl::StatusOr<std::shared_ptr<const void>> ReaderLocks::Hold(
    const std::shared_ptr<ReaderLocks>& registry, int64_t byte) {
  const std::lock_guard lock(registry->mutex_);
  if (!registry->holders_.contains(byte)) CAIRN_RETURN_IF_ERROR(registry->Lock(byte));
  ++registry->holders_[byte];
  return std::shared_ptr<const void>(registry.get(),
                                     [registry, byte](const void*) { registry->Leave(byte); });
}

absl::Status ReaderLocks::Lock(int64_t byte) const {
  constexpr std::chrono::milliseconds kWait(10);
  const absl::Status status =
      RetryUnavailable(kWait, [&] { return file_->LockByte(byte, LockMode::kShared); });
  // A file system that cannot even be asked for locks has none.
  if (status.ok() || absl::IsUnimplemented(status) || !file_->IsLocked(byte, 1).ok()) {
    return absl::OkStatus();
  }
  return Annotate(WithCode(absl::StatusCode::kUnavailable, status),
                  "a reader's lock of generation %d", byte - kReaderLockByte);
}

void ReaderLocks::Leave(int64_t byte) {
  const std::lock_guard lock(mutex_);
  const auto holders = holders_.find(byte);
  if (--holders->second > 0) return;
  holders_.erase(holders);
  file_->UnlockByte(byte).IgnoreError();
}

}  // namespace cairn::frame
