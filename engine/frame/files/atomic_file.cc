#include "engine/frame/files/atomic_file.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/files/frame_locks.h"
#include "engine/frame/files/replacement.h"

namespace cairn::frame {

namespace {

// At most this many names of a directory are looked at. That takes a few milliseconds, as a sync
// does. A directory of a million frames must not cost each writer all of its names.
constexpr int64_t kMostNames = 10'000;

// Returns the place of a frame that is made for `path`: after links, and without a slash at the
// end.
std::string TargetOf(FileSystem& files, const std::string& path) {
  std::string target = files.Resolve(path);
  while (target.size() > 1 && target.ends_with('/')) target.pop_back();
  return target;
}

// Returns the beginning of temporary names for a path.
std::string TemporaryStemOfPath(std::string_view path) {
  const size_t name = path.rfind('/') + 1;  // 0 where there is no slash
  const size_t size = format::TemporaryStemOf(path.substr(name)).size();
  return std::string(path.substr(0, name + size));
}

// Takes the writer's lock on `file`, which was opened or made as `name`. Errors: kAborted if
// another File holds the lock, or if `name` no longer leads to `file`. This happens if one process
// has just made the file and another takes it for one that a dead writer left. Both ask for the
// lock.
absl::Status LockNamed(FileSystem& files, const std::string& name, File& file) {
  const absl::Status locked = file.LockByte(kWriterLockByte, LockMode::kExclusive);
  if (absl::IsUnavailable(locked)) return WithCode(absl::StatusCode::kAborted, locked);
  CAIRN_RETURN_IF_ERROR(locked);
  CAIRN_ASSIGN_OR_RETURN(const bool there, RefersTo(files, name, file));
  if (there) return absl::OkStatus();
  return absl::AbortedError(absl::StrFormat("%s was removed while it was made", name));
}

// Returns an error of the temporary file as one of the file that the caller named. A folder that
// does not exist, for example, is not a fault of the temporary name.
absl::Status AboutTarget(const absl::Status& status, const std::string& temporary,
                         const std::string& target) {
  std::string message(status.message());
  if (!message.starts_with(temporary)) return status;
  message.replace(0, temporary.size(), target);
  return absl::Status(status.code(), message);
}

// Makes something for `path`, under a temporary name next to the file that links lead to. Tries
// again while `make` fails with kAborted.
template <typename Make>
std::invoke_result_t<Make, TemporaryName> MakeBeside(const std::shared_ptr<FileSystem>& files,
                                                     const std::string& path, Make make) {
  constexpr int kMaxAttempts = 16;
  if (path.empty()) return InvalidArgument("'': a path must not be empty");
  const std::string target = TargetOf(*files, path);
  for (int attempt = 1;; ++attempt) {
    TemporaryName temporary(files, target);
    const std::string name = temporary.name();
    auto made = make(std::move(temporary));
    if (made.ok()) return made;
    if (!absl::IsAborted(made.status())) return AboutTarget(made.status(), name, target);
    if (attempt == kMaxAttempts) return WithCode(absl::StatusCode::kUnavailable, made.status());
  }
}

// Takes the lock of a directory's index if it is free. The index is removed last, because until
// then the rest can be found again.
absl::StatusOr<std::unique_ptr<File>> LockAbandoned(FileSystem& directory) {
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, directory.List("."));
  if (!std::ranges::all_of(names, BelongsToFrame)) return FailedPrecondition("not a frame");
  const std::string index_name(format::kIndexFileName);
  absl::StatusOr<std::unique_ptr<File>> index = directory.Open(index_name, FileMode::kReadWrite);
  // If there is no index, its writer died before it made one, or will find ours and make another
  // directory.
  if (absl::IsNotFound(index.status())) index = directory.Open(index_name, FileMode::kCreateNew);
  CAIRN_RETURN_IF_ERROR(index.status());
  CAIRN_RETURN_IF_ERROR(LockNamed(directory, index_name, **index));
  CAIRN_RETURN_IF_ERROR((*index)->LockByte(kReaderLockByte, LockMode::kExclusive));
  return index;
}

void RemoveIfAbandoned(FileSystem& around, const std::string& name) {
  absl::StatusOr<std::unique_ptr<File>> locked;
  if (const auto directory = around.OpenDirectory(name); directory.ok()) {
    locked = LockAbandoned(**directory);
  } else if (locked = around.Open(name, FileMode::kReadWrite); locked.ok()) {
    if (!LockNamed(around, name, **locked).ok()) return;
  }
  // The file may be the old frame, which must stay until the new one has its name for good.
  if (locked.ok() && around.SyncDirectoryOf(".").ok()) RemoveFrame(around, name);
}

}  // namespace

TemporaryName::TemporaryName(std::shared_ptr<FileSystem> files, std::string target)
    : files_(std::move(files)),
      target_(std::move(target)),
      name_(absl::StrFormat("%s.%016x.tmp", TemporaryStemOfPath(target_), RandomNumber())) {}

TemporaryName& TemporaryName::operator=(TemporaryName&& other) noexcept {
  std::swap(files_, other.files_);
  std::swap(target_, other.target_);
  std::swap(name_, other.name_);
  std::swap(owner_, other.owner_);
  return *this;
}

TemporaryName::~TemporaryName() {
  if (files_ != nullptr && !name_.empty() && owner_.is_here()) RemoveFrame(*files_, name_);
}

absl::Status TemporaryName::RenameIntoPlace(bool replace) {
  const bool replaces = replace && files_->Identity(target_).ok();
  // Only an exchange replaces a directory by another in one step.
  const bool swaps =
      replaces && (files_->OpenDirectory(name_).ok() || files_->OpenDirectory(target_).ok());
  const absl::StatusOr<FileIdentity> ours = files_->Identity(name_);
  CAIRN_RETURN_IF_ERROR(swaps ? files_->Exchange(name_, target_)
                              : files_->Rename(name_, target_, replace));
  const std::string temporary = std::exchange(name_, {});
  const absl::Status synced = files_->SyncDirectoryOf(target_);
  if (!synced.ok() && !replaces) {
    // The content of a directory is removed only when the directory has lost its name for good.
    const absl::StatusOr<FileIdentity> there = files_->Identity(target_);
    const bool still_ours = ours.ok() && there.ok() && *ours == *there;
    if (still_ours && files_->Rename(target_, temporary, false).ok() &&
        files_->SyncDirectoryOf(target_).ok()) {
      name_ = temporary;
    }
    return synced;
  }
  if (!synced.ok()) {
    return {synced.code(), absl::StrFormat("%s was replaced, but perhaps not for good: %s", target_,
                                           synced.message())};
  }
  // The old frame may be removed only now.
  if (swaps) RemoveFrame(*files_, temporary);
  return absl::OkStatus();
}

absl::StatusOr<std::string> TemporaryName::SwapIntoPlace() {
  CAIRN_RETURN_IF_ERROR(files_->Exchange(name_, target_));
  const std::string old = std::exchange(name_, {});
  CAIRN_RETURN_IF_ERROR(files_->SyncDirectoryOf(target_));
  return old;
}

absl::StatusOr<AtomicFile> AtomicFile::CreateBeside(const std::shared_ptr<FileSystem>& files,
                                                    const std::string& path) {
  return MakeBeside(files, path, [](TemporaryName name) -> absl::StatusOr<AtomicFile> {
    FileSystem& files = name.files();
    CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<File> file,
                           files.CreateFor(name.name(), FileOfFrame(files, name.target())));
    CAIRN_RETURN_IF_ERROR(LockNamed(files, name.name(), *file));
    return AtomicFile(std::move(name), std::move(file));
  });
}

absl::StatusOr<AtomicDirectory> AtomicDirectory::CreateBeside(
    const std::shared_ptr<FileSystem>& files, const std::string& path) {
  return MakeBeside(files, path, [](TemporaryName name) -> absl::StatusOr<AtomicDirectory> {
    CAIRN_RETURN_IF_ERROR(name.files().MakeDirectoryFor(name.name(), name.target()));
    AtomicDirectory made(std::move(name));
    const absl::Status filled = made.Fill();
    // Without the lock of an index, another writer may have taken the directory for one that a dead
    // writer left.
    if (absl::IsNotFound(filled) || absl::IsAlreadyExists(filled)) {
      return WithCode(absl::StatusCode::kAborted, filled);
    }
    CAIRN_RETURN_IF_ERROR(filled);
    return made;
  });
}

absl::Status AtomicDirectory::Fill() {
  FileSystem& files = name_.files();
  CAIRN_ASSIGN_OR_RETURN(directory_, files.OpenDirectory(name_.name()));
  const std::string index = absl::StrFormat("%s/%s", name_.name(), format::kIndexFileName);
  CAIRN_ASSIGN_OR_RETURN(index_, files.CreateFor(index, FileOfFrame(files, name_.target())));
  CAIRN_RETURN_IF_ERROR(LockNamed(files, index, *index_));
  return index_->LockByte(kReaderLockByte, LockMode::kShared);
}

absl::Status AtomicDirectory::Persist() {
  CAIRN_RETURN_IF_ERROR(index_->Sync(SyncMode::kAll));
  return directory_->SyncDirectoryOf(".");
}

void RemoveAbandoned(const FrameLocation& location) {
  FileSystem& files = location.is_sparse() ? *location.outer_files : *location.files;
  const std::string target =
      TargetOf(files, location.is_sparse() ? location.outer_path : location.path);
  const size_t slash = target.rfind('/');
  const std::string base = target.substr(slash + 1);  // all of it where there is no slash
  const std::string parent =
      slash == std::string::npos ? "." : target.substr(0, std::max<size_t>(slash, 1));
  // An opened directory follows no links.
  const auto around = files.OpenDirectory(parent);
  if (!around.ok()) return;
  const std::string stem = std::string(format::TemporaryStemOf(base)) + ".";
  const auto names = (*around)->ListSome(".", stem, kMostNames);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (format::IsTemporaryNameOf(base, name)) RemoveIfAbandoned(**around, name);
  }
}

}  // namespace cairn::frame
