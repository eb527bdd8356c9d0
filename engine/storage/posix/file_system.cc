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

// Returns true if renameat2 said that the kernel or the file system does not know the flag.
bool IsUnknownFlag(int error) { return error == EINVAL || error == ENOSYS; }

// Either all files, or those of one opened directory. Of all files any path will do, and symbolic
// links are followed. In an opened directory paths are plain names, and a symbolic link is damage.
// An opened directory stays the same one, whatever happens to its path.
class PosixFiles final : public FileSystem {
 public:
  explicit PosixFiles(bool has_renameat2)
      : has_renameat2_(has_renameat2), kept_(std::make_shared<KeptDescriptors>()) {}
  PosixFiles(UniqueFd directory, std::string path, std::shared_ptr<KeptDescriptors> kept,
             Limits limits)
      : directory_(std::move(directory)),
        path_(std::move(path)),
        kept_(std::move(kept)),
        limits_(std::move(limits)) {}

  // Returns the same files with limits. Both share the descriptors that the process must not close.
  std::shared_ptr<FileSystem> LimitedTo(Limits limits) const {
    return std::make_shared<PosixFiles>(UniqueFd(), std::string(), kept_, std::move(limits));
  }

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    CAIRN_RETURN_IF_ERROR(Check(path));
    mode_t permissions = 0;
    const bool is_new = mode == FileMode::kCreateNew;
    if (is_new) {
      CAIRN_ASSIGN_OR_RETURN(permissions, ModeOfNewFile());
    }
    const bool writable = mode != FileMode::kRead;
    UniqueFd fd = is_new ? UniqueFd() : TakeKept(path, writable);
    if (!fd.ok()) {
      CAIRN_ASSIGN_OR_RETURN(fd, OpenFd(path, mode, permissions));
    }
    if (is_new && !limits_.empty()) {
      const absl::Status opened_up = OpenWithin(limits_, fd.get(), Shown(path));
      if (!opened_up.ok()) ::unlinkat(at(), path.c_str(), 0);
      CAIRN_RETURN_IF_ERROR(opened_up);
    }
    return MakeFile(std::move(fd), Shown(path), writable);
  }

  absl::StatusOr<std::unique_ptr<File>> CreateFor(const std::string& path,
                                                  const std::string& old) override {
    constexpr mode_t kOwners = 0600;
    CAIRN_ASSIGN_OR_RETURN(const GuardedFd replaced, OpenReplaced(old, false));
    if (!replaced.ok()) return Open(path, FileMode::kCreateNew);
    CAIRN_RETURN_IF_ERROR(Check(path));
    Replaced keep{.fd = replaced.get(), .path = Shown(old)};
    UniqueFd around;
    if (const std::string parent = DirectoryOf(old);
        !opened() && parent != "." && DirectoryOf(parent) == DirectoryOf(path)) {
      CAIRN_ASSIGN_OR_RETURN(around, OpenDirectoryFd(parent));
      keep.around = around.get();
    }
    CAIRN_ASSIGN_OR_RETURN(UniqueFd fd, OpenFd(path, FileMode::kCreateNew, kOwners));
    const absl::Status kept = KeepAttributes(keep, fd.get(), Keep::kWhileItIsMade, limits_);
    if (kept.ok()) return MakeFile(std::move(fd), Shown(path), true);
    ::unlinkat(at(), path.c_str(), 0);
    return kept;
  }

  absl::Status Rename(const std::string& from, const std::string& to, bool replace) override {
    CAIRN_RETURN_IF_ERROR(Check(from));
    CAIRN_RETURN_IF_ERROR(Check(to));
    CAIRN_RETURN_IF_ERROR(replace ? KeepAttributesOf(to, from) : FinishCopy(from));
    const int result = replace ? ::renameat(at(), from.c_str(), at(), to.c_str())
                               : RenameAt(from, to, RENAME_NOREPLACE);
    if (result == 0) return absl::OkStatus();
    if (!replace && IsUnknownFlag(errno)) return LinkThenUnlink(from, to);
    return Failure(errno, from, absl::StrCat("rename to ", Shown(to)));
  }

  absl::Status Remove(const std::string& path) override {
    CAIRN_RETURN_IF_ERROR(Check(path));
    if (::unlinkat(at(), path.c_str(), 0) == 0) return absl::OkStatus();
    return Failure(errno, path, "remove");
  }

  absl::Status SyncDirectoryOf(const std::string& path) override {
    if (opened()) return SyncDirectory(at(), path_);
    const std::string parent = DirectoryOf(path);
    CAIRN_ASSIGN_OR_RETURN(const UniqueFd fd, OpenDirectoryFd(parent));
    return SyncDirectory(fd.get(), parent);
  }

  absl::StatusOr<std::shared_ptr<FileSystem>> OpenDirectory(const std::string& path) override {
    CAIRN_RETURN_IF_ERROR(Check(path));
    CAIRN_ASSIGN_OR_RETURN(UniqueFd fd, OpenDirectoryFd(path));
    return std::make_shared<PosixFiles>(std::move(fd), Shown(path), kept_, limits_);
  }

  absl::Status MakeDirectory(const std::string& path) override {
    constexpr mode_t kAll = 0777;
    if (limits_.empty()) return MakeDirectory(path, kAll);
    return MakePrivateDirectory(path,
                                [&](int made) { return OpenWithin(limits_, made, Shown(path)); });
  }

  absl::Status MakeDirectoryFor(const std::string& path, const std::string& old) override {
    CAIRN_ASSIGN_OR_RETURN(const GuardedFd replaced, OpenReplaced(old, true));
    if (!replaced.ok()) return MakeDirectory(path);
    return MakePrivateDirectory(path, [&](int made) {
      return KeepAttributes({.fd = replaced.get(), .path = Shown(old)}, made, Keep::kWhileItIsMade,
                            limits_);
    });
  }

  absl::Status RemoveDirectory(const std::string& path) override {
    CAIRN_RETURN_IF_ERROR(Check(path));
    if (::unlinkat(at(), path.c_str(), AT_REMOVEDIR) == 0) return absl::OkStatus();
    return Failure(errno, path, "remove the directory");
  }

  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
    return ListSome(path, "", INT64_MAX);
  }

  absl::StatusOr<std::vector<std::string>> ListSome(const std::string& path,
                                                    std::string_view prefix,
                                                    int64_t most) override {
    if (path != ".") CAIRN_RETURN_IF_ERROR(Check(path));
    CAIRN_ASSIGN_OR_RETURN(UniqueFd fd, OpenDirectoryFd(path));
    const std::unique_ptr<DIR, CloseReader> reader(::fdopendir(fd.get()));
    if (reader == nullptr) return ErrnoStatus(errno, Shown(path), "list the directory");
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
    if (errno != 0) return ErrnoStatus(errno, Shown(path), "list the directory");
    return names;
  }

  absl::Status Exchange(const std::string& a, const std::string& b) override {
    CAIRN_RETURN_IF_ERROR(Check(a));
    CAIRN_RETURN_IF_ERROR(Check(b));
    CAIRN_RETURN_IF_ERROR(KeepAttributesOf(b, a));
    if (RenameAt(a, b, RENAME_EXCHANGE) == 0) return absl::OkStatus();
    if (IsUnknownFlag(errno)) return FileSystem::Exchange(Shown(a), Shown(b));
    return Failure(errno, a, absl::StrCat("exchange with ", Shown(b)));
  }

  absl::StatusOr<std::string> Absolute(const std::string& path) override {
    // The operating system would take only the part before the zero byte.
    if (path.find('\0') != std::string::npos) {
      return InvalidArgument("%s: a path with a zero byte", absl::CEscape(path));
    }
    // An empty path leads nowhere, so it stays as it is.
    if (opened() || path.empty() || path.starts_with('/')) return path;
    const std::unique_ptr<char, decltype(&std::free)> here(::getcwd(nullptr, 0), &std::free);
    if (here == nullptr) return ErrnoStatus(errno, path, "find the working directory");
    return absl::StrCat(here.get(), here.get() == std::string_view("/") ? "" : "/", path);
  }

  std::string Resolve(const std::string& path) override {
    if (opened()) return path;
    const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr),
                                                               &std::free);
    return resolved == nullptr ? path : std::string(resolved.get());
  }

  absl::StatusOr<FileIdentity> Identity(const std::string& path) override {
    CAIRN_RETURN_IF_ERROR(Check(path));
    CAIRN_ASSIGN_OR_RETURN(const PosixStat info, LookAt(path));
    return info.identity;
  }

  absl::StatusOr<FileIdentity> IdentityOfLeft(const std::string& path,
                                              const std::string& other) override {
    CAIRN_RETURN_IF_ERROR(Check(path));
    return IdentityOfLeftFile(at(), path, other);
  }

  uint64_t BootId() const override {
    static const uint64_t boot = ReadBootId();
    return boot;
  }

 private:
  // Flags that open the named file itself, and never what a link leads to.
  static constexpr int kItself = O_CLOEXEC | O_NOFOLLOW;

  bool opened() const { return directory_.ok(); }
  // Returns the directory for system calls that take one.
  int at() const { return opened() ? directory_.get() : AT_FDCWD; }
  int open_flags() const { return O_CLOEXEC | (opened() ? O_NOFOLLOW : 0); }

  // Returns kInvalidArgument for a path that is not a plain name in an opened directory.
  absl::Status Check(const std::string& path) const {
    if (!opened()) return absl::OkStatus();
    constexpr std::string_view kNotInNames("/\0", 2);
    if (path.empty() || path == "." || path == ".." ||
        path.find_first_of(kNotInNames) != std::string::npos) {
      return InvalidArgument("\"%s\" is not a plain name in %s", path, path_);
    }
    return absl::OkStatus();
  }

  // Returns the path that messages show.
  std::string Shown(const std::string& path) const {
    if (!opened()) return path;
    return path == "." ? path_ : absl::StrCat(path_, "/", path);
  }

  // Returns "<path>: cannot <action>: <what errno means>", or kDataLoss for a link that was not
  // followed.
  absl::Status Failure(int error, const std::string& path, std::string_view action) const {
    // The kernel returns ENOTDIR for a link if it was asked for a directory.
    if ((error == ELOOP || error == ENOTDIR) && opened() && IsLink(path)) return LinkIsDamage(path);
    return ErrnoStatus(error, Shown(path), action);
  }

  bool IsLink(const std::string& path) const {
    const std::optional<PosixStat> info = StatAt(at(), path.c_str(), AT_SYMLINK_NOFOLLOW);
    return info.has_value() && S_ISLNK(info->mode);
  }

  absl::Status LinkIsDamage(const std::string& path) const {
    const std::optional<PosixStat> info = StatAt(at(), path.c_str(), AT_SYMLINK_NOFOLLOW);
    return DataLoss("%s is %s", Shown(path), info ? Described(*info) : "a symbolic link");
  }

  // Adds what is at the path, and whose it is. Other users can put files into a shared folder.
  absl::Status WithOwner(const absl::Status& status, const std::string& path) const {
    if (absl::IsDataLoss(status)) return status;  // a link, which is named already
    std::optional<PosixStat> info = StatAt(at(), path.c_str(), opened() ? AT_SYMLINK_NOFOLLOW : 0);
    if (!info.has_value()) info = StatAt(at(), path.c_str(), AT_SYMLINK_NOFOLLOW);  // leads nowhere
    if (!info.has_value()) return status;
    return {status.code(), absl::StrCat(status.message(), "; it is ", Described(*info))};
  }

  // Returns the permissions of a new file. In an opened directory they are at most those of the
  // directory.
  absl::StatusOr<mode_t> ModeOfNewFile() const {
    constexpr mode_t kOwner = 0600;
    constexpr mode_t kEverybody = 0666;
    if (!limits_.empty()) return kOwner;
    if (!opened()) return kEverybody;
    CAIRN_ASSIGN_OR_RETURN(const PosixStat info, StatOf(at(), path_, "look at"));
    return (info.mode & kEverybody) | kOwner;
  }

  absl::StatusOr<PosixStat> LookAt(const std::string& path) const {
    const int flags = opened() ? AT_SYMLINK_NOFOLLOW : 0;
    const std::optional<PosixStat> info = StatAt(at(), path.c_str(), flags);
    if (!info.has_value()) return Failure(errno, path, "look at");
    if (S_ISLNK(info->mode)) return LinkIsDamage(path);
    return *info;
  }

  absl::StatusOr<UniqueFd> OpenFd(const std::string& path, FileMode mode, mode_t permissions) {
    const int flags = OpenFlags(mode) | open_flags();
    UniqueFd fd = OpenAt(at(), path, flags, permissions);
    if (fd.ok()) return fd;
    if (mode == FileMode::kCreateNew) return Failure(errno, path, "create");
    return WithOwner(Failure(errno, path, "open"), path);
  }

  // The path "." is an opened directory itself.
  absl::StatusOr<UniqueFd> OpenDirectoryFd(const std::string& path) const {
    const int flags = open_flags() | O_RDONLY | O_DIRECTORY;
    UniqueFd fd = OpenAt(at(), path, flags);
    if (fd.ok()) return fd;
    const int error = errno;
    const absl::Status status = Failure(error, path, "open the directory");
    return error == EACCES || error == ELOOP ? WithOwner(status, path) : status;
  }

  // Takes a kept descriptor of the file that is at the path now. In a directory of frames no
  // descriptor that only reads is kept.
  UniqueFd TakeKept(const std::string& path, bool writable) const {
    if (kept_->empty() || (opened() && !writable)) return {};
    kept_->CloseUnneeded();
    const int flags = opened() ? AT_SYMLINK_NOFOLLOW : 0;
    const std::optional<PosixStat> info = StatAt(at(), path.c_str(), flags);
    return info.has_value() ? kept_->Take(info->identity, writable) : UniqueFd();
  }

  absl::StatusOr<std::unique_ptr<File>> MakeFile(UniqueFd fd, std::string shown,
                                                 bool writable) const {
    CAIRN_ASSIGN_OR_RETURN(const PosixStat info, StatOf(fd.get(), shown, "look at"));
    if (!S_ISREG(info.mode)) return ExpectedFile(shown, info);
    return MakePosixFile(GuardedFd(std::move(fd), info.identity, writable, kept_), std::move(shown),
                         opened());
  }

  // Opens a file or a directory.
  absl::StatusOr<GuardedFd> OpenToRead(const std::string& path, int how) const {
    UniqueFd fd = (how & O_NOFOLLOW) == 0 ? TakeKept(path, false) : UniqueFd();
    if (!fd.ok()) {
      const int flags = how | O_RDONLY | O_NONBLOCK | O_NOCTTY;
      fd = OpenAt(at(), path, flags);
    }
    if (!fd.ok()) return Failure(errno, path, "open");
    CAIRN_ASSIGN_OR_RETURN(const PosixStat info, StatOf(fd.get(), Shown(path), "look at"));
    return GuardedFd(std::move(fd), info.identity, /*writable=*/false, kept_);
  }

  // Opens the file that will be replaced. Returns an empty descriptor if there is none.
  absl::StatusOr<GuardedFd> OpenReplaced(const std::string& old, bool may_be_directory) {
    CAIRN_RETURN_IF_ERROR(Check(old));
    const absl::StatusOr<PosixStat> info = LookAt(old);
    if (absl::IsNotFound(info.status())) return GuardedFd();
    CAIRN_RETURN_IF_ERROR(info.status());
    if (S_ISREG(info->mode) || (may_be_directory && S_ISDIR(info->mode))) {
      return OpenToRead(old, open_flags());
    }
    return ExpectedFile(Shown(old), *info);
  }

  absl::Status MakeDirectory(const std::string& path, mode_t permissions) {
    CAIRN_RETURN_IF_ERROR(Check(path));
    if (::mkdirat(at(), path.c_str(), permissions) == 0) return absl::OkStatus();
    return Failure(errno, path, "create the directory");
  }

  // Makes a directory that is open to its owner alone, then opens it to others with `open_up`.
  // Leaves no directory on failure.
  absl::Status MakePrivateDirectory(const std::string& path,
                                    absl::FunctionRef<absl::Status(int)> open_up) {
    constexpr mode_t kOwners = 0700;
    CAIRN_RETURN_IF_ERROR(MakeDirectory(path, kOwners));
    const absl::StatusOr<GuardedFd> made = OpenToRead(path, kItself);
    const absl::Status status = made.ok() ? open_up(made->get()) : made.status();
    if (!status.ok()) ::unlinkat(at(), path.c_str(), AT_REMOVEDIR);
    return status;
  }

  int RenameAt(const std::string& from, const std::string& to, unsigned int flags) {
    if (has_renameat2_) return ::renameat2(at(), from.c_str(), at(), to.c_str(), flags);
    errno = ENOSYS;
    return -1;
  }

  // Renames a file that cannot be renamed in one step. A crash between the two steps leaves it
  // under both names.
  absl::Status LinkThenUnlink(const std::string& from, const std::string& to) {
    if (::linkat(at(), from.c_str(), at(), to.c_str(), 0) != 0) {
      return Failure(errno, from, absl::StrCat("link to ", Shown(to)));
    }
    if (::unlinkat(at(), from.c_str(), 0) == 0) return absl::OkStatus();
    const absl::Status failure =
        Failure(errno, from, absl::StrCat("remove the old name of ", Shown(to)));
    ::unlinkat(at(), to.c_str(), 0);  // a rename that fails has changed nothing
    return failure;
  }

  // Gives a file the attributes of the file of its kind that it replaces. It never follows a link
  // at `from`, because other processes may change names there.
  absl::Status KeepAttributesOf(const std::string& to, const std::string& from) {
    const absl::StatusOr<PosixStat> old = LookAt(to);
    if (absl::IsNotFound(old.status())) return FinishCopy(from);
    CAIRN_RETURN_IF_ERROR(old.status());
    CAIRN_ASSIGN_OR_RETURN(const PosixStat mine, LookAt(from));
    const bool same_kind =
        (S_ISREG(old->mode) && S_ISREG(mine.mode)) || (S_ISDIR(old->mode) && S_ISDIR(mine.mode));
    if (!same_kind) return absl::OkStatus();
    CAIRN_ASSIGN_OR_RETURN(const GuardedFd replaced, OpenToRead(to, open_flags()));
    CAIRN_ASSIGN_OR_RETURN(const GuardedFd made, OpenToRead(from, kItself));
    return KeepAttributes({.fd = replaced.get(), .path = Shown(to)}, made.get(), Keep::kExactly,
                          limits_);
  }

  // Takes the right to write a complete file from its owner, unless the owner may write its source.
  absl::Status FinishCopy(const std::string& path) {
    if (limits_.empty()) return absl::OkStatus();
    CAIRN_ASSIGN_OR_RETURN(const GuardedFd made, OpenToRead(path, kItself));
    return CloseToOwner(limits_, made.get(), Shown(path));
  }

  const UniqueFd directory_;
  const std::string path_;
  const bool has_renameat2_ = true;
  const std::shared_ptr<KeptDescriptors> kept_;
  const Limits limits_;
};

}  // namespace

std::unique_ptr<FileSystem> MakePosixFileSystem(bool has_renameat2) {
  return std::make_unique<PosixFiles>(has_renameat2);
}

std::shared_ptr<FileSystem> MakeLimitedFiles(Limits limits) {
  return static_cast<const PosixFiles&>(*PosixFileSystem()).LimitedTo(std::move(limits));
}

}  // namespace storage

FileSystem* PosixFileSystem() {
  // Never destroyed, because files may be opened until the very end of the process. Its only state
  // is the descriptors that this process must not close yet.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static FileSystem* const files = storage::MakePosixFileSystem(true).release();
  return files;
}

}  // namespace cairn
