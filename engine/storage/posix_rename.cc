#include "engine/storage/posix_rename.h"

#include <cerrno>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

#include "engine/storage/errors.h"

namespace cairn::storage {

absl::Status RenameWithoutReplacing(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    return absl::OkStatus();
  }
  if (errno == EINVAL || errno == ENOSYS) return LinkThenUnlink(from, to);
  return ErrnoStatus(errno, from, absl::StrCat("rename to ", to));
}

absl::Status LinkThenUnlink(const std::string& from, const std::string& to) {
  if (::link(from.c_str(), to.c_str()) != 0) {
    return ErrnoStatus(errno, from, absl::StrCat("link to ", to));
  }
  if (::unlink(from.c_str()) == 0) return absl::OkStatus();
  const absl::Status failure =
      ErrnoStatus(errno, from, absl::StrCat("remove the old name of ", to));
  ::unlink(to.c_str());  // a rename that fails has changed nothing
  return failure;
}

}  // namespace cairn::storage
