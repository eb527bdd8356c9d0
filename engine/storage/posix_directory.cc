#include "engine/storage/posix_directory.h"

#include <cerrno>
#include <dirent.h>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

#include "engine/base/status.h"
#include "engine/storage/errors.h"

namespace cairn::storage {

namespace {

struct CloseReader {
  void operator()(DIR* reader) const { ::closedir(reader); }
};

}  // namespace

absl::StatusOr<PosixDirectory> PosixDirectory::Open(const std::string& path) const {
  const int flags = open_flags() | O_RDONLY | O_DIRECTORY;
  UniqueFd fd(RetryInterrupted([&] { return ::openat(this->fd(), path.c_str(), flags); }));
  if (!fd.ok()) return Failure(errno, path, "open the directory");
  return PosixDirectory(std::move(fd), Shown(path));
}

absl::Status PosixDirectory::Check(const std::string& path) const {
  if (!opened()) return absl::OkStatus();
  constexpr std::string_view kNotInNames("/\0", 2);
  if (path.empty() || path == "." || path == ".." ||
      path.find_first_of(kNotInNames) != std::string::npos) {
    return InvalidArgument("\"%s\" is not a plain name in %s", path, path_);
  }
  return absl::OkStatus();
}

std::string PosixDirectory::Shown(const std::string& path) const {
  if (!opened()) return path;
  return path == "." ? path_ : absl::StrCat(path_, "/", path);
}

absl::Status PosixDirectory::Failure(int error, const std::string& path,
                                     std::string_view action) const {
  // The kernel says ENOTDIR of a link where it was asked for a directory.
  if ((error == ELOOP || error == ENOTDIR) && opened() && IsLink(path)) return LinkIsDamage(path);
  return ErrnoStatus(error, Shown(path), action);
}

absl::StatusOr<mode_t> PosixDirectory::ModeOfNewFile() const {
  constexpr mode_t kOwner = 0600;
  constexpr mode_t kEverybody = 0666;
  if (!opened()) return kEverybody;
  const std::optional<PosixStat> info = StatOf(fd_.get());
  if (!info.has_value()) return ErrnoStatus(errno, path_, "look at");
  return (info->mode & kEverybody) | kOwner;
}

absl::StatusOr<UniqueFd> PosixDirectory::OpenToRead(const std::string& path) const {
  return OpenToRead(path, open_flags());
}

absl::StatusOr<UniqueFd> PosixDirectory::OpenItself(const std::string& path) const {
  return OpenToRead(path, O_CLOEXEC | O_NOFOLLOW);
}

absl::StatusOr<UniqueFd> PosixDirectory::OpenToRead(const std::string& path, int how) const {
  const int flags = how | O_RDONLY | O_NONBLOCK | O_NOCTTY;
  UniqueFd fd(RetryInterrupted([&] { return ::openat(this->fd(), path.c_str(), flags); }));
  if (!fd.ok()) return Failure(errno, path, "open");
  return fd;
}

absl::StatusOr<PosixStat> PosixDirectory::LookAt(const std::string& path) const {
  const std::optional<PosixStat> info = StatAt(fd(), path.c_str(), at_flags());
  if (!info.has_value()) return Failure(errno, path, "look at");
  if (S_ISLNK(info->mode)) return LinkIsDamage(path);
  return *info;
}

absl::StatusOr<std::vector<std::string>> PosixDirectory::List(std::string_view prefix,
                                                              int64_t most) const {
  // Opened once more: the position of the reader belongs to the descriptor.
  const int fd = RetryInterrupted(
      [&] { return ::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (fd < 0) return ErrnoStatus(errno, path_, "open the directory");
  const std::unique_ptr<DIR, CloseReader> reader(::fdopendir(fd));
  if (reader == nullptr) {
    const int error = errno;
    ::close(fd);
    return ErrnoStatus(error, path_, "list the directory");
  }
  std::vector<std::string> names;
  errno = 0;  // the end and a failure differ in nothing else
  for (int64_t seen = 0; seen < most; ++seen) {
    const dirent* const entry = ::readdir(reader.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && name.starts_with(prefix)) names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return ErrnoStatus(errno, path_, "list the directory");
  return names;
}

absl::Status PosixDirectory::Sync() const {
  // EINVAL: this file system has nothing to sync in a directory.
  if (RetryInterrupted([&] { return ::fsync(fd_.get()); }) == 0 || errno == EINVAL) {
    return absl::OkStatus();
  }
  return ErrnoStatus(errno, path_, "sync the directory");
}

bool PosixDirectory::IsLink(const std::string& path) const {
  const std::optional<PosixStat> info = StatAt(fd(), path.c_str(), AT_SYMLINK_NOFOLLOW);
  return info.has_value() && S_ISLNK(info->mode);
}

absl::Status PosixDirectory::LinkIsDamage(const std::string& path) const {
  return DataLoss("%s is a symbolic link", Shown(path));
}

}  // namespace cairn::storage
