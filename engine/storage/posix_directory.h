// Where the paths of a file system start.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_DIRECTORY_H_
#define CAIRN_ENGINE_STORAGE_POSIX_DIRECTORY_H_

#include <cstdint>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/storage/posix_stat.h"
#include "engine/storage/unique_fd.h"

namespace cairn::storage {

// Either that of the process: then any path will do, and symbolic links are followed. Or an opened
// one: then paths are plain names in it, and a symbolic link is damage. A directory that was opened
// stays the same one, whatever happens to its path.
class PosixDirectory {
 public:
  // That of the process.
  PosixDirectory() = default;
  // The directory at `path` in this one, opened; "." for itself.
  absl::StatusOr<PosixDirectory> Open(const std::string& path) const;

  bool opened() const { return fd_.ok(); }
  // For the system calls that take a directory.
  int fd() const { return opened() ? fd_.get() : AT_FDCWD; }
  int open_flags() const { return O_CLOEXEC | (opened() ? O_NOFOLLOW : 0); }
  int at_flags() const { return opened() ? AT_SYMLINK_NOFOLLOW : 0; }

  // kInvalidArgument for what is no plain name, when this one is opened.
  absl::Status Check(const std::string& path) const;
  // What messages call it.
  std::string Shown(const std::string& path) const;
  // "<path>: cannot <action>: <what errno means>", or kDataLoss for a link that was not followed.
  absl::Status Failure(int error, const std::string& path, std::string_view action) const;

  // The permissions of a new file: in an opened directory, none that the directory does not give.
  absl::StatusOr<mode_t> ModeOfNewFile() const;
  absl::StatusOr<PosixStat> LookAt(const std::string& path) const;
  // A file or directory, opened for reading.
  absl::StatusOr<UniqueFd> OpenToRead(const std::string& path) const;
  // The same, but what has the name itself and nothing that a link leads to.
  absl::StatusOr<UniqueFd> OpenItself(const std::string& path) const;
  // These two need an opened one. Of the first `most` names, those that begin with `prefix`.
  absl::StatusOr<std::vector<std::string>> List(std::string_view prefix, int64_t most) const;
  absl::Status Sync() const;

 private:
  PosixDirectory(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  absl::StatusOr<UniqueFd> OpenToRead(const std::string& path, int how) const;
  bool IsLink(const std::string& path) const;
  absl::Status LinkIsDamage(const std::string& path) const;

  UniqueFd fd_;
  std::string path_;
};

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_DIRECTORY_H_
