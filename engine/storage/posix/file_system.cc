#include "engine/storage/posix/file_system.h"

#include <cerrno>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <stdio.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

#include "engine/base/status.h"
#include "engine/storage/errors.h"
#include "engine/storage/posix/attributes.h"
#include "engine/storage/posix/fd.h"
#include "engine/storage/posix/file.h"
#include "engine/storage/posix/kept_descriptors.h"
#include "engine/storage/posix/left_file.h"
#include "engine/storage/posix/path_scope.h"

namespace cairn {

namespace storage {

namespace {

// Returns the directory of a path: "a/b" and "a/b/" lie in "a", "b" in ".", "/b" in "/".
std::string DirectoryOf(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

struct CloseReader {
  void operator()(DIR* reader) const { ::closedir(reader); }
};

// Renames with flags, unless the kernel is to be taken for an old one.
int RenameWith(bool has_renameat2, int at, const std::string& from, const std::string& to,
               unsigned int flags) {
  if (has_renameat2) return ::renameat2(at, from.c_str(), at, to.c_str(), flags);
  errno = ENOSYS;
  return -1;
}

// Returns true if renameat2 said that the kernel or the file system does not know the flag.
bool IsUnknownFlag(int error) { return error == EINVAL || error == ENOSYS; }

// Returns why `path` could not be done this to, which would have made a file named `to`. A link
// to nothing has the name, although no file seems to be there.
absl::Status FailureToMake(const PathScope& paths, int error, const std::string& path,
                           const std::string& to, const std::string& what) {
  const absl::Status status = paths.Failure(error, path, what);
  const bool is_dangling = error == EEXIST && ::faccessat(paths.at(), to.c_str(), F_OK, 0) != 0;
  if (!is_dangling) return status;
  return {status.code(), absl::StrCat(status.message(), "; it is a link to nothing")};
}

// The files of a PathScope.
class PosixFiles final : public FileSystem {
 public:
  explicit PosixFiles(bool has_renameat2)
      : has_renameat2_(has_renameat2), kept_(std::make_shared<KeptDescriptors>()) {}
  PosixFiles(UniqueFd directory, std::string path, std::shared_ptr<KeptDescriptors> kept,
             Limits limits)
      : paths_(std::move(directory), std::move(path)),
        kept_(std::move(kept)),
        limits_(std::move(limits)) {}

  // Returns the same files with limits. Both share the descriptors that the process must not close.
  std::shared_ptr<FileSystem> LimitedTo(Limits limits) const {
    return std::make_shared<PosixFiles>(UniqueFd(), std::string(), kept_, std::move(limits));
  }

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    CAIRN_RETURN_IF_ERROR(paths_.Check(path));
    mode_t permissions = 0;
    const bool is_new = mode == FileMode::kCreateNew;
    if (is_new) {
      CAIRN_ASSIGN_OR_RETURN(permissions, ModeOfNewFile());
    }
    const bool writable = mode != FileMode::kRead;
    UniqueFd fd = is_new ? UniqueFd() : TakeKept(path, writable);
    if (!fd.ok()) {
      CAIRN_ASSIGN_OR_RETURN(fd, paths_.OpenFile(path, mode, permissions));
    }
    if (is_new && !limits_.empty()) {
      const absl::Status opened_up = OpenWithin(limits_, fd.get(), paths_.Shown(path));
      if (!opened_up.ok()) ::unlinkat(paths_.at(), path.c_str(), 0);
      CAIRN_RETURN_IF_ERROR(opened_up);
    }
    return MakeFile(std::move(fd), paths_.Shown(path), writable);
  }

  absl::StatusOr<std::unique_ptr<File>> CreateFor(const std::string& path,
                                                  const std::string& old) override {
    constexpr mode_t kOwners = 0600;
    CAIRN_ASSIGN_OR_RETURN(const GuardedFd replaced, OpenReplaced(old, false));
    if (!replaced.ok()) return Open(path, FileMode::kCreateNew);
    CAIRN_RETURN_IF_ERROR(paths_.Check(path));
    Replaced keep{.fd = replaced.get(), .path = paths_.Shown(old)};
    UniqueFd around;
    if (const std::string parent = DirectoryOf(old);
        !paths_.is_opened() && parent != "." && DirectoryOf(parent) == DirectoryOf(path)) {
      CAIRN_ASSIGN_OR_RETURN(around, paths_.OpenDirectory(parent));
      keep.around = around.get();
    }
    CAIRN_ASSIGN_OR_RETURN(UniqueFd fd, paths_.OpenFile(path, FileMode::kCreateNew, kOwners));
    const absl::Status kept = KeepAttributes(keep, fd.get(), Keep::kWhileItIsMade, limits_);
    if (kept.ok()) return MakeFile(std::move(fd), paths_.Shown(path), true);
    ::unlinkat(paths_.at(), path.c_str(), 0);
    return kept;
  }

  absl::Status Rename(const std::string& from, const std::string& to, bool replace) override {
    CAIRN_RETURN_IF_ERROR(paths_.Check(from));
    CAIRN_RETURN_IF_ERROR(paths_.Check(to));
    CAIRN_RETURN_IF_ERROR(replace ? KeepAttributesOf(to, from) : FinishCopy(from));
    const int result = replace
                           ? ::renameat(paths_.at(), from.c_str(), paths_.at(), to.c_str())
                           : RenameWith(has_renameat2_, paths_.at(), from, to, RENAME_NOREPLACE);
    if (result == 0) return absl::OkStatus();
    if (!replace && IsUnknownFlag(errno)) return LinkThenUnlink(from, to);
    return FailureToMake(paths_, errno, from, to, absl::StrCat("rename to ", paths_.Shown(to)));
  }

  absl::Status Remove(const std::string& path) override {
    CAIRN_RETURN_IF_ERROR(paths_.Check(path));
    if (::unlinkat(paths_.at(), path.c_str(), 0) == 0) return absl::OkStatus();
    return paths_.Failure(errno, path, "remove");
  }

  absl::Status SyncDirectoryOf(const std::string& path) override {
    if (paths_.is_opened()) return SyncDirectory(paths_.at(), paths_.path());
    const std::string parent = DirectoryOf(path);
    CAIRN_ASSIGN_OR_RETURN(const UniqueFd fd, paths_.OpenDirectory(parent));
    return SyncDirectory(fd.get(), parent);
  }

  absl::StatusOr<std::shared_ptr<FileSystem>> OpenDirectory(const std::string& path) override {
    CAIRN_RETURN_IF_ERROR(paths_.Check(path));
    CAIRN_ASSIGN_OR_RETURN(UniqueFd fd, paths_.OpenDirectory(path));
    return std::make_shared<PosixFiles>(std::move(fd), paths_.Shown(path), kept_, limits_);
  }

  absl::Status MakeDirectory(const std::string& path) override {
    constexpr mode_t kAll = 0777;
    if (limits_.empty()) return MakeDirectory(path, kAll);
    return MakePrivateDirectory(
        path, [&](int made) { return OpenWithin(limits_, made, paths_.Shown(path)); });
  }

  absl::Status MakeDirectoryFor(const std::string& path, const std::string& old) override {
    CAIRN_ASSIGN_OR_RETURN(const GuardedFd replaced, OpenReplaced(old, true));
    if (!replaced.ok()) return MakeDirectory(path);
    return MakePrivateDirectory(path, [&](int made) {
      return KeepAttributes({.fd = replaced.get(), .path = paths_.Shown(old)}, made,
                            Keep::kWhileItIsMade, limits_);
    });
  }

  absl::Status RemoveDirectory(const std::string& path) override {
    CAIRN_RETURN_IF_ERROR(paths_.Check(path));
    if (::unlinkat(paths_.at(), path.c_str(), AT_REMOVEDIR) == 0) return absl::OkStatus();
    return paths_.Failure(errno, path, "remove the directory");
  }

  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
    return ListSome(path, "", INT64_MAX);
  }

  absl::StatusOr<std::vector<std::string>> ListSome(const std::string& path,
                                                    std::string_view prefix,
                                                    int64_t most) override {
    if (path != ".") CAIRN_RETURN_IF_ERROR(paths_.Check(path));
    CAIRN_ASSIGN_OR_RETURN(UniqueFd fd, paths_.OpenDirectory(path));
    const std::unique_ptr<DIR, CloseReader> reader(::fdopendir(fd.get()));
    if (reader == nullptr) return ErrnoStatus(errno, paths_.Shown(path), "list the directory");
    fd.Release();
    std::vector<std::string> names;
    errno = 0;  // only errno tells a failure from the end
    for (int64_t seen = 0; seen < most; ++seen) {
      const dirent* const entry = ::readdir(reader.get());
      if (entry == nullptr) break;
      const std::string_view name = entry->d_name;
      if (name != "." && name != ".." && name.starts_with(prefix)) names.emplace_back(name);
      errno = 0;
    }
    if (errno != 0) return ErrnoStatus(errno, paths_.Shown(path), "list the directory");
    return names;
  }

  absl::Status Exchange(const std::string& a, const std::string& b) override {
    CAIRN_RETURN_IF_ERROR(paths_.Check(a));
    CAIRN_RETURN_IF_ERROR(paths_.Check(b));
    CAIRN_RETURN_IF_ERROR(KeepAttributesOf(b, a));
    if (RenameWith(has_renameat2_, paths_.at(), a, b, RENAME_EXCHANGE) == 0)
      return absl::OkStatus();
    if (IsUnknownFlag(errno)) return FileSystem::Exchange(paths_.Shown(a), paths_.Shown(b));
    return paths_.Failure(errno, a, absl::StrCat("exchange with ", paths_.Shown(b)));
  }

  absl::StatusOr<std::string> Absolute(const std::string& path) override {
    // The operating system would take only the part before the zero byte.
    if (path.find('\0') != std::string::npos) {
      return InvalidArgument("%s: a path with a zero byte", absl::CEscape(path));
    }
    // An empty path leads nowhere, so it stays as it is.
    if (paths_.is_opened() || path.empty() || path.starts_with('/')) return path;
    const std::unique_ptr<char, decltype(&std::free)> here(::getcwd(nullptr, 0), &std::free);
    if (here == nullptr) return ErrnoStatus(errno, path, "find the working directory");
    return absl::StrCat(here.get(), here.get() == std::string_view("/") ? "" : "/", path);
  }

  std::string Resolve(const std::string& path) override {
    if (paths_.is_opened()) return path;
    const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr),
                                                               &std::free);
    return resolved == nullptr ? path : std::string(resolved.get());
  }

  absl::StatusOr<FileIdentity> Identity(const std::string& path) override {
    CAIRN_RETURN_IF_ERROR(paths_.Check(path));
    CAIRN_ASSIGN_OR_RETURN(const PosixStat info, paths_.LookAt(path));
    return info.identity;
  }

  absl::StatusOr<FileIdentity> IdentityOfLeft(const std::string& path,
                                              const std::string& other) override {
    CAIRN_RETURN_IF_ERROR(paths_.Check(path));
    return IdentityOfLeftFile(paths_.at(), path, other);
  }

  uint64_t BootId() const override {
    static const uint64_t boot = ReadBootId();
    return boot;
  }

 private:
  // Flags that open the named file itself, and never what a link leads to.
  static constexpr int kItself = O_CLOEXEC | O_NOFOLLOW;

  // Returns the permissions of a new file. In an opened directory they are at most those of the
  // directory.
  absl::StatusOr<mode_t> ModeOfNewFile() const {
    constexpr mode_t kOwner = 0600;
    constexpr mode_t kEverybody = 0666;
    if (!limits_.empty()) return kOwner;
    if (!paths_.is_opened()) return kEverybody;
    CAIRN_ASSIGN_OR_RETURN(const PosixStat info, StatOf(paths_.at(), paths_.path(), "look at"));
    return (info.mode & kEverybody) | kOwner;
  }

  // Takes a kept descriptor of the file that is at the path now. In a directory of frames no
  // descriptor that only reads is kept.
  UniqueFd TakeKept(const std::string& path, bool writable) const {
    if (kept_->empty() || (paths_.is_opened() && !writable)) return {};
    kept_->CloseUnneeded();
    const int flags = paths_.is_opened() ? AT_SYMLINK_NOFOLLOW : 0;
    const std::optional<PosixStat> info = StatAt(paths_.at(), path.c_str(), flags);
    return info.has_value() ? kept_->Take(info->identity, writable) : UniqueFd();
  }

  absl::StatusOr<std::unique_ptr<File>> MakeFile(UniqueFd fd, std::string shown,
                                                 bool writable) const {
    CAIRN_ASSIGN_OR_RETURN(const PosixStat info, StatOf(fd.get(), shown, "look at"));
    if (!S_ISREG(info.mode)) return ExpectedFile(shown, info);
    return MakePosixFile(GuardedFd(std::move(fd), info.identity, writable, kept_), std::move(shown),
                         paths_.is_opened());
  }

  // Opens a file or a directory.
  absl::StatusOr<GuardedFd> OpenToRead(const std::string& path, int how) const {
    UniqueFd fd = (how & O_NOFOLLOW) == 0 ? TakeKept(path, false) : UniqueFd();
    if (!fd.ok()) {
      const int flags = how | O_RDONLY | O_NONBLOCK | O_NOCTTY;
      fd = OpenAt(paths_.at(), path, flags);
    }
    if (!fd.ok()) return paths_.Failure(errno, path, "open");
    CAIRN_ASSIGN_OR_RETURN(const PosixStat info, StatOf(fd.get(), paths_.Shown(path), "look at"));
    return GuardedFd(std::move(fd), info.identity, /*writable=*/false,
                     paths_.is_opened() ? nullptr : kept_);
  }

  // Opens the file that will be replaced. Returns an empty descriptor if there is none.
  absl::StatusOr<GuardedFd> OpenReplaced(const std::string& old, bool may_be_directory) {
    CAIRN_RETURN_IF_ERROR(paths_.Check(old));
    const absl::StatusOr<PosixStat> info = paths_.LookAt(old);
    if (absl::IsNotFound(info.status())) return GuardedFd();
    CAIRN_RETURN_IF_ERROR(info.status());
    if (S_ISREG(info->mode) || (may_be_directory && S_ISDIR(info->mode))) {
      return OpenToRead(old, paths_.open_flags());
    }
    return ExpectedFile(paths_.Shown(old), *info);
  }

  absl::Status MakeDirectory(const std::string& path, mode_t permissions) {
    CAIRN_RETURN_IF_ERROR(paths_.Check(path));
    if (::mkdirat(paths_.at(), path.c_str(), permissions) == 0) return absl::OkStatus();
    return FailureToMake(paths_, errno, path, path, "create the directory");
  }

  // Makes a directory that is open to its owner alone, then opens it to others with `open_up`.
  // Leaves no directory on failure.
  absl::Status MakePrivateDirectory(const std::string& path,
                                    absl::FunctionRef<absl::Status(int)> open_up) {
    constexpr mode_t kOwners = 0700;
    CAIRN_RETURN_IF_ERROR(MakeDirectory(path, kOwners));
    const absl::StatusOr<GuardedFd> made = OpenToRead(path, kItself);
    const absl::Status status = made.ok() ? open_up(made->get()) : made.status();
    if (!status.ok()) ::unlinkat(paths_.at(), path.c_str(), AT_REMOVEDIR);
    return status;
  }

  // Renames a file that cannot be renamed in one step. A crash between the two steps leaves it
  // under both names.
  absl::Status LinkThenUnlink(const std::string& from, const std::string& to) {
    if (::linkat(paths_.at(), from.c_str(), paths_.at(), to.c_str(), 0) != 0) {
      return FailureToMake(paths_, errno, from, to, absl::StrCat("link to ", paths_.Shown(to)));
    }
    if (::unlinkat(paths_.at(), from.c_str(), 0) == 0) return absl::OkStatus();
    const absl::Status failure =
        paths_.Failure(errno, from, absl::StrCat("remove the old name of ", paths_.Shown(to)));
    ::unlinkat(paths_.at(), to.c_str(), 0);  // a rename that fails has changed nothing
    return failure;
  }

  // Gives a file the attributes of the file of its kind that it replaces. It never follows a link
  // at `from`, because other processes may change names there.
  absl::Status KeepAttributesOf(const std::string& to, const std::string& from) {
    const absl::StatusOr<PosixStat> old = paths_.LookAt(to);
    if (absl::IsNotFound(old.status())) return FinishCopy(from);
    CAIRN_RETURN_IF_ERROR(old.status());
    CAIRN_ASSIGN_OR_RETURN(const PosixStat mine, paths_.LookAt(from));
    const bool same_kind =
        (S_ISREG(old->mode) && S_ISREG(mine.mode)) || (S_ISDIR(old->mode) && S_ISDIR(mine.mode));
    if (!same_kind) return absl::OkStatus();
    CAIRN_ASSIGN_OR_RETURN(const GuardedFd replaced, OpenToRead(to, paths_.open_flags()));
    CAIRN_ASSIGN_OR_RETURN(const GuardedFd made, OpenToRead(from, kItself));
    return KeepAttributes({.fd = replaced.get(), .path = paths_.Shown(to)}, made.get(),
                          Keep::kExactly, limits_);
  }

  // Takes the right to write a complete file from its owner, unless the owner may write its source.
  absl::Status FinishCopy(const std::string& path) {
    if (limits_.empty()) return absl::OkStatus();
    CAIRN_ASSIGN_OR_RETURN(const GuardedFd made, OpenToRead(path, kItself));
    return CloseToOwner(limits_, made.get(), paths_.Shown(path));
  }

  const PathScope paths_;
  const bool has_renameat2_ = true;
  const std::shared_ptr<KeptDescriptors> kept_;
  const Limits limits_;
};

}  // namespace

std::shared_ptr<FileSystem> MakePosixFileSystem(bool has_renameat2) {
  return std::make_shared<PosixFiles>(has_renameat2);
}

std::shared_ptr<FileSystem> MakeLimitedFiles(Limits limits) {
  return static_cast<const PosixFiles&>(*PosixFileSystem()).LimitedTo(std::move(limits));
}

}  // namespace storage

const std::shared_ptr<FileSystem>& PosixFileSystem() {
  // Never destroyed, because files may be opened until the very end of the process. Its only state
  // is the descriptors that this process must not close yet.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static const auto& files = *new std::shared_ptr<FileSystem>(storage::MakePosixFileSystem(true));
  return files;
}

}  // namespace cairn
