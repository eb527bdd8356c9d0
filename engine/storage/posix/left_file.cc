#include "engine/storage/posix/left_file.h"

#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>

#include "absl/strings/str_format.h"

#include "engine/storage/errors.h"
#include "engine/storage/posix/fd.h"

namespace cairn::storage {

absl::StatusOr<FileIdentity> IdentityOfLeftFile(int directory, const std::string& path,
                                                const std::string& other) {
  const std::optional<PosixStat> left = StatAt(directory, path.c_str(), AT_SYMLINK_NOFOLLOW);
  if (!left.has_value()) return ErrnoStatus(errno, path, "look at");
  const std::optional<PosixStat> file = StatAt(directory, other.c_str(), 0);
  if (!file.has_value()) return ErrnoStatus(errno, other, "look at");
  const bool may_change =
      left->owner == file->owner || left->owner == 0 || (file->mode & S_IWOTH) != 0;
  // A file with a second name may have been left for another file.
  if (may_change && S_ISREG(left->mode) && left->names == 1) return left->identity;
  return absl::PermissionDeniedError(
      absl::StrFormat("%s is %s: expected a file of root or of the owner of %s, with one name",
                      path, Described(*left), other));
}

}  // namespace cairn::storage
