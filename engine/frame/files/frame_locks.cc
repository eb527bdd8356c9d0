#include "engine/frame/files/frame_locks.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

#include "engine/base/check.h"
#include "engine/base/deadline.h"
#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/files/copy_files.h"
#include "engine/storage/lock_file.h"

namespace cairn::frame {

namespace {

constexpr char kLockFileSuffix[] = ".b2lock";
constexpr std::chrono::milliseconds kLockFileWait(100);

// A file, as a name in an opened directory if possible, because that name follows no link.
struct LockPlace {
  std::shared_ptr<FileSystem> files;
  std::string name;
};

// Finds the lock file of a contiguous frame. A link next to a frame that came from elsewhere may
// lead to any file, which would be written to. So it must lead to the lock file of the frame that
// the frame's own path leads to.
absl::StatusOr<LockPlace> FindLockFile(const FrameLocation& location, const std::string& lock) {
  FileSystem& files = *location.files;
  const auto parts_of = [](const std::string& path) {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return std::pair(std::string("."), path);
    return std::pair(path.substr(0, std::max<size_t>(slash, 1)), path.substr(slash + 1));
  };
  const auto [directory, name] = parts_of(lock);
  std::string file = files.Resolve(lock);
  const std::string unlinked = absl::StrCat(files.Resolve(directory), "/", name);
  if (file != lock && file != unlinked &&
      file != absl::StrCat(files.Resolve(location.path), kLockFileSuffix)) {
    CAIRN_ASSIGN_OR_RETURN(const auto around, files.OpenDirectory(directory));
    // This opens no target of a link, and its error names the owner of the link.
    const absl::Status link = around->Open(name, FileMode::kRead).status();
    return FailedPrecondition("%s; it leads to %s", link.message(), file);
  }
  const auto [around, plain] = parts_of(file);
  absl::StatusOr<std::shared_ptr<FileSystem>> opened = files.OpenDirectory(around);
  if (absl::IsUnimplemented(opened.status())) return LockPlace{location.files, std::move(file)};
  CAIRN_RETURN_IF_ERROR(opened.status());
  return LockPlace{*std::move(opened), plain};
}

// Adds what to do: anybody who may create files next to a frame can put something else at the name.
absl::Status Advise(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kNotFound:
      return FailedPrecondition(
          "%s; a writer must lock this file, as programs of C-Blosc2 do: remove it, have its owner "
          "or an administrator remove it, or move the frame to a folder where only its writers "
          "create files",
          status.message());
    default:
      return status;
  }
}

}  // namespace

absl::StatusOr<std::shared_ptr<File>> LockForWriting(FileSystem& files, const std::string& path,
                                                     std::chrono::milliseconds wait,
                                                     std::shared_ptr<File> file) {
  constexpr int kMinAttempts = 16;
  const Deadline deadline(wait);
  // The writer that held the lock may have replaced the opened file.
  for (int attempt = 1; attempt <= kMinAttempts || !deadline.has_passed(); ++attempt) {
    if (file == nullptr) {
      CAIRN_ASSIGN_OR_RETURN(file, files.Open(path, FileMode::kReadWrite));
    }
    const absl::Status locked = file->WaitForByte(kWriterLockByte, deadline.left());
    if (absl::IsUnavailable(locked) && wait > std::chrono::milliseconds(0)) {
      return absl::UnavailableError(absl::StrCat(locked.message(), "; a longer wait may help"));
    }
    CAIRN_RETURN_IF_ERROR(locked);
    CAIRN_ASSIGN_OR_RETURN(const bool there, RefersTo(files, path, *file));
    if (there) return file;
    file.reset();
  }
  return absl::UnavailableError(path + " is being replaced again and again");
}

namespace {

// Returns a location where a new lock file is open only to users to whom the frame is open. Users
// who can open it can keep writers out.
absl::StatusOr<FrameLocation> ToMakeLockFile(FrameLocation location) {
  if (!location.is_sparse()) {
    location.files = FilesForCopyOf(location, location.files);
    return location;
  }
  location.outer_files = FilesForCopyOf(location, location.outer_files);
  CAIRN_ASSIGN_OR_RETURN(location.files, location.outer_files->OpenDirectory(location.outer_path));
  return location;
}

}  // namespace

absl::StatusOr<std::unique_ptr<File>> TakePeerLock(const FrameLocation& at,
                                                   const WriterOptions& options) {
  FrameLocation location = at;
  if (options.make_lock_file) {
    CAIRN_ASSIGN_OR_RETURN(location, ToMakeLockFile(at));
  }
  const std::string path =
      location.is_sparse() ? std::string(format::kLockFileName) : location.path + kLockFileSuffix;
  // No file can have a name that is too long, so there is no lock file.
  const bool too_long = path.size() - (path.rfind('/') + 1) > format::kMaxNameSize;
  if (!options.make_lock_file &&
      (too_long || absl::IsNotFound(location.files->Identity(path).status()))) {
    return nullptr;  // the usual case
  }
  absl::StatusOr<LockPlace> place = LockPlace{location.files, path};
  if (!location.is_sparse()) place = FindLockFile(location, path);
  if (!place.ok()) return Advise(place.status());
  // Other programs hold the lock only for the moment of one call.
  auto lock = storage::TakeLockFile(*place->files, place->name, options.make_lock_file,
                                    std::max(options.wait, kLockFileWait));
  if (!lock.ok()) return Advise(lock.status());
  return lock;
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
  const MutexLock lock(registry->mutex_);
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
  const MutexLock lock(mutex_);
  const auto holders = holders_.find(byte);
  CAIRN_DCHECK(holders != holders_.end() && holders->second > 0);
  if (--holders->second > 0) return;
  holders_.erase(holders);
  file_->UnlockByte(byte).IgnoreError();
}

}  // namespace cairn::frame
