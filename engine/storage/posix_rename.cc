#include "engine/storage/posix_rename.h"

#include <cerrno>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

#include "engine/base/status.h"
#include "engine/storage/posix_attributes.h"

namespace cairn::storage {

namespace {

int RenameAt(const PosixDirectory& directory, const std::string& from, const std::string& to,
             unsigned int flags) {
  return ::renameat2(directory.fd(), from.c_str(), directory.fd(), to.c_str(), flags);
}

// Whether renameat2 said that the kernel or the file system does not know the flag.
bool IsUnknownFlag(int error) { return error == EINVAL || error == ENOSYS; }

// What replaces another of its kind gets its attributes; never what a link at `from` leads to, for
// other processes may change names there.
absl::Status KeepAttributesOf(const PosixDirectory& directory, const std::string& to,
                              const std::string& from) {
  const absl::StatusOr<PosixStat> old = directory.LookAt(to);
  if (absl::IsNotFound(old.status())) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(old.status());
  CAIRN_ASSIGN_OR_RETURN(const PosixStat mine, directory.LookAt(from));
  const bool same_kind =
      (S_ISREG(old->mode) && S_ISREG(mine.mode)) || (S_ISDIR(old->mode) && S_ISDIR(mine.mode));
  if (!same_kind) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(const UniqueFd replaced, directory.OpenToRead(to));
  CAIRN_ASSIGN_OR_RETURN(const UniqueFd made, directory.OpenItself(from));
  return KeepAttributes({.fd = replaced.get(), .path = directory.Shown(to)}, made.get(),
                        Keep::kExactly);
}

}  // namespace

absl::Status RenameWithoutReplacing(const PosixDirectory& directory, const std::string& from,
                                    const std::string& to) {
  if (RenameAt(directory, from, to, RENAME_NOREPLACE) == 0) return absl::OkStatus();
  if (IsUnknownFlag(errno)) return LinkThenUnlink(directory, from, to);
  return directory.Failure(errno, from, absl::StrCat("rename to ", directory.Shown(to)));
}

absl::Status LinkThenUnlink(const PosixDirectory& directory, const std::string& from,
                            const std::string& to) {
  const int fd = directory.fd();
  if (::linkat(fd, from.c_str(), fd, to.c_str(), 0) != 0) {
    return directory.Failure(errno, from, absl::StrCat("link to ", directory.Shown(to)));
  }
  if (::unlinkat(fd, from.c_str(), 0) == 0) return absl::OkStatus();
  const absl::Status failure =
      directory.Failure(errno, from, absl::StrCat("remove the old name of ", directory.Shown(to)));
  ::unlinkat(fd, to.c_str(), 0);  // a rename that fails has changed nothing
  return failure;
}

absl::Status RenameReplacing(const PosixDirectory& directory, const std::string& from,
                             const std::string& to) {
  CAIRN_RETURN_IF_ERROR(KeepAttributesOf(directory, to, from));
  const int fd = directory.fd();
  if (::renameat(fd, from.c_str(), fd, to.c_str()) == 0) return absl::OkStatus();
  return directory.Failure(errno, from, absl::StrCat("rename to ", directory.Shown(to)));
}

absl::Status ExchangeNames(const PosixDirectory& directory, const std::string& a,
                           const std::string& b) {
  CAIRN_RETURN_IF_ERROR(KeepAttributesOf(directory, b, a));
  if (RenameAt(directory, a, b, RENAME_EXCHANGE) == 0) return absl::OkStatus();
  if (IsUnknownFlag(errno)) {
    return Unimplemented("%s: this file system cannot exchange it with %s", directory.Shown(a),
                         directory.Shown(b));
  }
  return directory.Failure(errno, a, absl::StrCat("exchange with ", directory.Shown(b)));
}

}  // namespace cairn::storage
