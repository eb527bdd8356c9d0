#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <stdio.h>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "absl/strings/str_cat.h"

#include "cairn/file_system.h"
#include "engine/base/status.h"
#include "engine/storage/errors.h"
#include "engine/storage/posix_file.h"
#include "engine/storage/posix_rename.h"
#include "engine/storage/unique_fd.h"

namespace cairn {

namespace storage {

namespace {

int OpenFlags(FileMode mode) {
  // O_NONBLOCK: opening a pipe by mistake must not wait for its other end.
  constexpr int kAlways = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
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

absl::Status CheckIsRegular(const UniqueFd& fd, const std::string& path) {
  struct stat info;
  if (::fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, path, "look at");
  if (S_ISDIR(info.st_mode)) return FailedPrecondition("%s is a directory", path);
  if (!S_ISREG(info.st_mode)) return FailedPrecondition("%s is not a regular file", path);
  return absl::OkStatus();
}

// "a/b" and "a/b/" lie in "a", "b" in ".", "/b" in "/".
std::string DirectoryOf(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

class PosixFiles final : public FileSystem {
 public:
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    const int flags = OpenFlags(mode);
    UniqueFd fd(RetryInterrupted([&] { return ::open(path.c_str(), flags, 0666); }));
    if (!fd.ok()) {
      return ErrnoStatus(errno, path, mode == FileMode::kCreateNew ? "create" : "open");
    }
    CAIRN_RETURN_IF_ERROR(CheckIsRegular(fd, path));
    return std::make_unique<PosixFile>(std::move(fd), path, mode != FileMode::kRead);
  }

  absl::Status Rename(const std::string& from, const std::string& to, bool replace) override {
    if (!replace) return RenameWithoutReplacing(from, to);
    struct stat old;
    if (::stat(to.c_str(), &old) == 0 && ::chmod(from.c_str(), old.st_mode & 07777) != 0) {
      return ErrnoStatus(errno, from, "give the permissions of the file that it replaces");
    }
    if (::rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
    return ErrnoStatus(errno, from, absl::StrCat("rename to ", to));
  }

  absl::Status Remove(const std::string& path) override {
    if (::unlink(path.c_str()) == 0) return absl::OkStatus();
    return ErrnoStatus(errno, path, "remove");
  }

  absl::Status SyncDirectoryOf(const std::string& path) override {
    const std::string directory = DirectoryOf(path);
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    const UniqueFd fd(RetryInterrupted([&] { return ::open(directory.c_str(), kFlags); }));
    if (!fd.ok()) return ErrnoStatus(errno, directory, "open the directory");
    // EINVAL: this file system has nothing to sync in a directory.
    if (RetryInterrupted([&] { return ::fsync(fd.get()); }) == 0 || errno == EINVAL) {
      return absl::OkStatus();
    }
    return ErrnoStatus(errno, directory, "sync the directory");
  }

  std::string Resolve(const std::string& path) override {
    const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr),
                                                               &std::free);
    return resolved == nullptr ? path : std::string(resolved.get());
  }

  absl::StatusOr<FileIdentity> Identity(const std::string& path) override {
    struct stat info;
    if (::stat(path.c_str(), &info) != 0) return ErrnoStatus(errno, path, "ask for the inode");
    return FileIdentity{.device = info.st_dev, .inode = info.st_ino};
  }
};

}  // namespace

}  // namespace storage

FileSystem* PosixFileSystem() {
  // Never destroyed: files may be opened until the very end of the process. It has no state.
  static FileSystem* const files = new storage::PosixFiles;
  return files;
}

}  // namespace cairn
