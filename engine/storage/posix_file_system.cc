#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "cairn/file_system.h"
#include "engine/base/bytes.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/storage/errors.h"
#include "engine/storage/posix_attributes.h"
#include "engine/storage/posix_directory.h"
#include "engine/storage/posix_file.h"
#include "engine/storage/posix_rename.h"
#include "engine/storage/posix_stat.h"
#include "engine/storage/unique_fd.h"

namespace cairn {

namespace storage {

namespace {

int OpenFlags(FileMode mode) {
  // O_NONBLOCK: opening a pipe by mistake must not wait for its other end.
  constexpr int kAlways = O_NONBLOCK | O_NOCTTY;
  switch (mode) {
    case FileMode::kRead:
      return kAlways | O_RDONLY;
    case FileMode::kReadWrite:
      return kAlways | O_RDWR;
    case FileMode::kCreateNew:
      return kAlways | O_RDWR | O_CREAT | O_EXCL;
  }
  return kAlways | O_RDONLY;
}

absl::StatusOr<FileIdentity> IdentityOfRegular(const UniqueFd& fd, const std::string& path) {
  const std::optional<PosixStat> info = StatOf(fd.get());
  if (!info.has_value()) return ErrnoStatus(errno, path, "look at");
  if (S_ISDIR(info->mode)) return FailedPrecondition("%s is a directory", path);
  if (!S_ISREG(info->mode)) return FailedPrecondition("%s is not a regular file", path);
  return info->identity;
}

// "a/b" and "a/b/" lie in "a", "b" in ".", "/b" in "/".
std::string DirectoryOf(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

// 0 when the kernel does not report it.
uint64_t ReadBootId() {
  const UniqueFd fd(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  if (!fd.ok()) return 0;
  std::array<std::byte, 64> text{};
  const ssize_t got = RetryInterrupted([&] { return ::read(fd.get(), text.data(), text.size()); });
  return got > 0 ? Xxh3(Bytes(text).first(static_cast<size_t>(got))) : 0;
}

// All files, or those of an opened directory.
class PosixFiles final : public FileSystem {
 public:
  explicit PosixFiles(PosixDirectory directory) : directory_(std::move(directory)) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    CAIRN_RETURN_IF_ERROR(directory_.Check(path));
    mode_t permissions = 0;
    if (mode == FileMode::kCreateNew) {
      CAIRN_ASSIGN_OR_RETURN(permissions, directory_.ModeOfNewFile());
    }
    CAIRN_ASSIGN_OR_RETURN(UniqueFd fd, OpenFd(path, mode, permissions));
    return FileOf(std::move(fd), path, mode);
  }

  absl::StatusOr<std::unique_ptr<File>> CreateFor(const std::string& path,
                                                  const std::string& old) override {
    CAIRN_RETURN_IF_ERROR(directory_.Check(old));
    const absl::StatusOr<PosixStat> info = directory_.LookAt(old);
    if (absl::IsNotFound(info.status())) return Open(path, FileMode::kCreateNew);
    CAIRN_RETURN_IF_ERROR(info.status());
    if (!S_ISREG(info->mode)) {
      return FailedPrecondition("%s is not a regular file", directory_.Shown(old));
    }
    CAIRN_RETURN_IF_ERROR(directory_.Check(path));
    CAIRN_ASSIGN_OR_RETURN(const UniqueFd replaced, directory_.OpenToRead(old));
    Replaced keep{.fd = replaced.get(), .path = directory_.Shown(old)};
    PosixDirectory around;
    if (const std::string parent = DirectoryOf(old);
        !directory_.opened() && parent != "." && DirectoryOf(parent) == DirectoryOf(path)) {
      CAIRN_ASSIGN_OR_RETURN(around, directory_.Open(parent));
      keep.around = around.fd();
    }
    constexpr mode_t kOwners = 0600;
    CAIRN_ASSIGN_OR_RETURN(UniqueFd fd, OpenFd(path, FileMode::kCreateNew, kOwners));
    const absl::Status kept = KeepAttributes(keep, fd.get(), Keep::kWhileItIsMade);
    if (kept.ok()) return FileOf(std::move(fd), path, FileMode::kCreateNew);
    ::unlinkat(directory_.fd(), path.c_str(), 0);
    return kept;
  }

  absl::Status Rename(const std::string& from, const std::string& to, bool replace) override {
    CAIRN_RETURN_IF_ERROR(directory_.Check(from));
    CAIRN_RETURN_IF_ERROR(directory_.Check(to));
    return replace ? RenameReplacing(directory_, from, to)
                   : RenameWithoutReplacing(directory_, from, to);
  }

  absl::Status Remove(const std::string& path) override {
    CAIRN_RETURN_IF_ERROR(directory_.Check(path));
    if (::unlinkat(directory_.fd(), path.c_str(), 0) == 0) return absl::OkStatus();
    return directory_.Failure(errno, path, "remove");
  }

  absl::Status SyncDirectoryOf(const std::string& path) override {
    if (directory_.opened()) return directory_.Sync();
    CAIRN_ASSIGN_OR_RETURN(const PosixDirectory parent, directory_.Open(DirectoryOf(path)));
    return parent.Sync();
  }

  absl::StatusOr<std::shared_ptr<FileSystem>> OpenDirectory(const std::string& path) override {
    CAIRN_RETURN_IF_ERROR(directory_.Check(path));
    CAIRN_ASSIGN_OR_RETURN(PosixDirectory directory, directory_.Open(path));
    return std::make_shared<PosixFiles>(std::move(directory));
  }

  absl::Status MakeDirectory(const std::string& path) override {
    constexpr mode_t kAll = 0777;
    return MakeDirectory(path, kAll);
  }

  absl::Status MakeDirectoryFor(const std::string& path, const std::string& old) override {
    constexpr mode_t kOwners = 0700;
    CAIRN_RETURN_IF_ERROR(directory_.Check(old));
    const absl::StatusOr<PosixStat> info = directory_.LookAt(old);
    if (absl::IsNotFound(info.status())) return MakeDirectory(path);
    CAIRN_RETURN_IF_ERROR(info.status());
    if (!S_ISREG(info->mode) && !S_ISDIR(info->mode)) {
      return FailedPrecondition("%s is neither a file nor a directory", directory_.Shown(old));
    }
    CAIRN_ASSIGN_OR_RETURN(const UniqueFd replaced, directory_.OpenToRead(old));
    CAIRN_RETURN_IF_ERROR(MakeDirectory(path, kOwners));
    const auto keep = [&]() -> absl::Status {
      CAIRN_ASSIGN_OR_RETURN(const UniqueFd made, directory_.OpenItself(path));
      return KeepAttributes({.fd = replaced.get(), .path = directory_.Shown(old)}, made.get(),
                            Keep::kWhileItIsMade);
    };
    const absl::Status kept = keep();
    if (!kept.ok()) ::unlinkat(directory_.fd(), path.c_str(), AT_REMOVEDIR);
    return kept;
  }

  absl::Status RemoveDirectory(const std::string& path) override {
    CAIRN_RETURN_IF_ERROR(directory_.Check(path));
    if (::unlinkat(directory_.fd(), path.c_str(), AT_REMOVEDIR) == 0) return absl::OkStatus();
    return directory_.Failure(errno, path, "remove the directory");
  }

  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
    return ListSome(path, "", INT64_MAX);
  }

  absl::StatusOr<std::vector<std::string>> ListSome(const std::string& path,
                                                    std::string_view prefix,
                                                    int64_t most) override {
    if (path != ".") CAIRN_RETURN_IF_ERROR(directory_.Check(path));
    CAIRN_ASSIGN_OR_RETURN(const PosixDirectory directory, directory_.Open(path));
    return directory.List(prefix, most);
  }

  absl::Status Exchange(const std::string& a, const std::string& b) override {
    CAIRN_RETURN_IF_ERROR(directory_.Check(a));
    CAIRN_RETURN_IF_ERROR(directory_.Check(b));
    return ExchangeNames(directory_, a, b);
  }

  absl::StatusOr<std::string> Absolute(const std::string& path) override {
    // An empty path leads nowhere.
    if (directory_.opened() || path.empty() || path.starts_with('/')) return path;
    const std::unique_ptr<char, decltype(&std::free)> here(::getcwd(nullptr, 0), &std::free);
    if (here == nullptr) return ErrnoStatus(errno, path, "find the working directory");
    return absl::StrCat(here.get(), here.get() == std::string_view("/") ? "" : "/", path);
  }

  std::string Resolve(const std::string& path) override {
    if (directory_.opened()) return path;
    const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr),
                                                               &std::free);
    return resolved == nullptr ? path : std::string(resolved.get());
  }

  absl::StatusOr<FileIdentity> Identity(const std::string& path) override {
    CAIRN_RETURN_IF_ERROR(directory_.Check(path));
    CAIRN_ASSIGN_OR_RETURN(const PosixStat info, directory_.LookAt(path));
    return info.identity;
  }

  uint64_t BootId() const override {
    static const uint64_t boot = ReadBootId();
    return boot;
  }

 private:
  absl::Status MakeDirectory(const std::string& path, mode_t permissions) {
    CAIRN_RETURN_IF_ERROR(directory_.Check(path));
    if (::mkdirat(directory_.fd(), path.c_str(), permissions) == 0) return absl::OkStatus();
    return directory_.Failure(errno, path, "create the directory");
  }

  absl::StatusOr<UniqueFd> OpenFd(const std::string& path, FileMode mode, mode_t permissions) {
    const int flags = OpenFlags(mode) | directory_.open_flags();
    UniqueFd fd(RetryInterrupted(
        [&] { return ::openat(directory_.fd(), path.c_str(), flags, permissions); }));
    if (fd.ok()) return fd;
    return directory_.Failure(errno, path, mode == FileMode::kCreateNew ? "create" : "open");
  }

  absl::StatusOr<std::unique_ptr<File>> FileOf(UniqueFd fd, const std::string& path,
                                               FileMode mode) {
    const std::string shown = directory_.Shown(path);
    CAIRN_ASSIGN_OR_RETURN(const FileIdentity identity, IdentityOfRegular(fd, shown));
    return std::make_unique<PosixFile>(std::move(fd), identity, shown, mode != FileMode::kRead);
  }

  const PosixDirectory directory_;
};

}  // namespace

}  // namespace storage

FileSystem* PosixFileSystem() {
  // Never destroyed: files may be opened until the very end of the process. It has no state.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
  static FileSystem* const files = new storage::PosixFiles(storage::PosixDirectory());
  return files;
}

}  // namespace cairn
