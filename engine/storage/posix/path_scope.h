// PathScope: what paths lead to, which is all files or the files of one opened directory.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_PATH_SCOPE_H_
#define CAIRN_ENGINE_STORAGE_POSIX_PATH_SCOPE_H_

#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/storage/posix/fd.h"

namespace cairn::storage {

// If the scope is all files, any path will do, and symbolic links are followed. In an opened
// directory paths are plain names, and a symbolic link is damage. An opened directory stays the
// same one, whatever happens to its path. Thread-safe.
class PathScope {
 public:
  PathScope() = default;  // all files
  // An opened directory. `path` is for messages. All files if the descriptor is empty.
  PathScope(UniqueFd directory, std::string path)
      : directory_(std::move(directory)), path_(std::move(path)) {}

  bool is_opened() const { return directory_.ok(); }
  const std::string& path() const { return path_; }
  // Returns the directory for system calls that take one.
  int at() const { return is_opened() ? directory_.get() : AT_FDCWD; }
  int open_flags() const { return O_CLOEXEC | (is_opened() ? O_NOFOLLOW : 0); }

  // Returns kInvalidArgument for a path that is not a plain name in an opened directory.
  absl::Status Check(const std::string& path) const;

  // Returns the path that messages show.
  std::string Shown(const std::string& path) const;

  // Returns "<path>: cannot <action>: <what errno means>", or kDataLoss for a link that was not
  // followed.
  absl::Status Failure(int error, const std::string& path, std::string_view action) const;

  absl::StatusOr<PosixStat> LookAt(const std::string& path) const;

  absl::StatusOr<UniqueFd> OpenFile(const std::string& path, FileMode mode,
                                    mode_t permissions) const;

  // The path "." is an opened directory itself.
  absl::StatusOr<UniqueFd> OpenDirectory(const std::string& path) const;

 private:
  bool IsLink(const std::string& path) const;

  absl::Status LinkIsDamage(const std::string& path) const;

  // Adds what is at the path, and whose it is. Other users can put files into a shared folder.
  absl::Status WithOwner(const absl::Status& status, const std::string& path) const;

  UniqueFd directory_;
  std::string path_;
};

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_PATH_SCOPE_H_
