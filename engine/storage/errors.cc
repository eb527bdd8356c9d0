#include "engine/storage/errors.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include "engine/base/checked.h"
#include "engine/base/status.h"

namespace cairn::storage {

namespace {

absl::StatusCode CodeOf(int error) {
  switch (error) {
    case ENOENT:
      return absl::StatusCode::kNotFound;
    case EEXIST:
      return absl::StatusCode::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::StatusCode::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOLCK:
      return absl::StatusCode::kResourceExhausted;
    case EISDIR:
    case ENOTDIR:
    case ENOTEMPTY:
    case ENXIO:
    case EXDEV:
    case ELOOP:
      return absl::StatusCode::kFailedPrecondition;
    case EINVAL:
    case ENAMETOOLONG:
      return absl::StatusCode::kInvalidArgument;
    case EAGAIN:
    case EBUSY:
    case ETXTBSY:
      return absl::StatusCode::kUnavailable;
    case ENODEV:  // mmap returns it where files cannot be mapped
    case ENOSYS:
    case EOPNOTSUPP:
      return absl::StatusCode::kUnimplemented;
    default:
      // EIO is here too: the disk failed, and the fingerprints of the data tell whether any are
      // lost.
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::Status ErrnoStatus(int error, std::string_view path, std::string_view action) {
  // "File too large" would blame the frame. The words that a shell uses name the limit.
  const std::string meaning =
      error == EFBIG ? "File size limit exceeded" : std::generic_category().message(error);
  if (path.empty()) path = "''";
  return absl::Status(CodeOf(error), absl::StrFormat("%s: cannot %s: %s", path, action, meaning));
}

absl::Status PastEnd(std::string_view path, int64_t offset, int64_t size, int64_t file_size) {
  return AtPath(path, OutOfRange("%d bytes asked for at offset %d, the file has %d bytes", size,
                                 offset, file_size));
}

absl::Status CheckWritableRange(std::string_view path, int64_t offset, int64_t size) {
  if (offset < 0) return AtPath(path, InvalidArgument("negative offset %d", offset));
  if (!CheckedAdd(offset, size)) {
    return AtPath(path, ResourceExhausted("no file can hold %d bytes at offset %d", size, offset));
  }
  return absl::OkStatus();
}

absl::Status CheckLockRange(std::string_view path, int64_t offset, int64_t count) {
  if (offset < 0 || count < 0 || !CheckedAdd(offset, std::max<int64_t>(count - 1, 0))) {
    return AtPath(path, InvalidArgument("no file has %d bytes to lock at %d", count, offset));
  }
  return absl::OkStatus();
}

absl::Status LockIsHeld(std::string_view path) {
  return absl::UnavailableError(absl::StrFormat("%s is held by another writer", path));
}

absl::Status FileIsLocked(std::string_view path) {
  return absl::UnavailableError(absl::StrFormat("%s is locked by another program", path));
}

}  // namespace cairn::storage
