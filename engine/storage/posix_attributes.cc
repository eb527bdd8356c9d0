#include "engine/storage/posix_attributes.h"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <system_error>
#include <unistd.h>

#include "engine/base/status.h"
#include "engine/storage/errors.h"
#include "engine/storage/posix_fd.h"

namespace cairn::storage {

namespace {

// Setting it sets the permissions too.
constexpr char kAccessList[] = "system.posix_acl_access";
// What new files of a directory get.
constexpr char kDefaultList[] = "system.posix_acl_default";

// They go with the bytes of the old file, or let them run with rights.
constexpr std::string_view kNotKept[] = {"security.capability", "security.evm", "security.ima",
                                         kAccessList, kDefaultList};

absl::Status CannotKeep(int error, const Replaced& old, std::string_view what) {
  switch (error) {
    case EPERM:
    case EACCES:
    case EINVAL:  // an owner that this user namespace does not know
    case EOPNOTSUPP:
      return AtPath(old.path, FailedPrecondition("its %s cannot be kept: %s", what,
                                                 std::generic_category().message(error)));
    default:
      return ErrnoStatus(error, old.path, absl::StrFormat("keep its %s", what));
  }
}

// Fills a buffer by a call that wants to know its size first, and may find it too small then.
template <typename Call>
std::optional<std::string> ReadAll(Call call) {
  for (;;) {
    const ssize_t size = call(nullptr, size_t{0});
    if (size <= 0) return size == 0 ? std::optional<std::string>("") : std::nullopt;
    std::string bytes(static_cast<size_t>(size), '\0');
    const ssize_t got = call(bytes.data(), bytes.size());
    if (got < 0 && errno == ERANGE) continue;
    if (got < 0) return std::nullopt;
    bytes.resize(static_cast<size_t>(got));
    return bytes;
  }
}

// Nothing where there is none, and where this process may not read it.
std::optional<std::string> Get(int fd, const std::string& name) {
  return ReadAll([&](char* to, size_t size) { return ::fgetxattr(fd, name.c_str(), to, size); });
}

absl::Status KeepValue(const Replaced& old, int made, const std::string& name) {
  const std::optional<std::string> value = Get(old.fd, name);
  if (!value.has_value() || value == Get(made, name)) return absl::OkStatus();
  if (::fsetxattr(made, name.c_str(), value->data(), value->size(), 0) == 0) {
    return absl::OkStatus();
  }
  return CannotKeep(errno, old, absl::StrFormat("attribute %s", name));
}

absl::Status KeepExtended(const Replaced& old, int made) {
  const std::string names =
      ReadAll([&](char* to, size_t size) { return ::flistxattr(old.fd, to, size); }).value_or("");
  // Each name ends with a zero.
  for (size_t at = 0; at < names.size();) {
    const std::string name = names.c_str() + at;
    at += name.size() + 1;
    if (std::ranges::count(kNotKept, name) > 0) continue;
    CAIRN_RETURN_IF_ERROR(KeepValue(old, made, name));
  }
  return absl::OkStatus();
}

// A directory may have given `made` a list that the old one lacks.
absl::Status KeepList(const Replaced& old, int made, const std::string& name) {
  if (Get(old.fd, name).has_value() || !Get(made, name).has_value()) {
    return KeepValue(old, made, name);
  }
  if (::fremovexattr(made, name.c_str()) == 0 || errno == ENODATA) return absl::OkStatus();
  return CannotKeep(errno, old, "lack of an access control list");
}

absl::Status KeepOwners(const Replaced& old, const PosixStat& wanted, int made,
                        const PosixStat& mine) {
  constexpr auto kSame = static_cast<uid_t>(-1);
  // The group first: what belongs to another owner may be out of reach.
  if (wanted.group != mine.group && ::fchown(made, kSame, wanted.group) != 0) {
    return CannotKeep(errno, old, absl::StrFormat("group %d", wanted.group));
  }
  if (wanted.owner != mine.owner && ::fchown(made, wanted.owner, kSame) != 0) {
    return CannotKeep(errno, old, absl::StrFormat("owner %d", wanted.owner));
  }
  return absl::OkStatus();
}

// To whom a file may be open that comes out of a directory: those who may enter that.
absl::StatusOr<mode_t> OpenAround(const Replaced& old, const PosixStat& info) {
  constexpr mode_t kEnter = S_IXGRP | S_IXOTH;
  if (!old.around.has_value()) return ALLPERMS;
  CAIRN_ASSIGN_OR_RETURN(const PosixStat around,
                         StatOf(*old.around, old.path, "look at the directory of"));
  const bool lists = Get(*old.around, kAccessList).has_value();
  if ((around.mode & kEnter) == kEnter && !lists) return ALLPERMS;
  if (lists || Get(old.fd, kAccessList).has_value()) {
    return AtPath(old.path,
                  FailedPrecondition("the access control list there cannot be kept outside"));
  }
  const bool group = (around.mode & S_IXGRP) != 0 && around.group == info.group;
  return group ? S_IRWXU | S_IRWXG : S_IRWXU;
}

// Of a directory made for a file.
mode_t ListedByReaders(mode_t mode) { return (mode & 0666) | ((mode & 0444) >> 2) | S_IRWXU; }

}  // namespace

absl::Status KeepAttributes(const Replaced& old, int made, Keep keep) {
  constexpr std::string_view kLookAtMade = "look at what replaces";
  CAIRN_ASSIGN_OR_RETURN(const PosixStat wanted, StatOf(old.fd, old.path, "look at"));
  CAIRN_ASSIGN_OR_RETURN(const PosixStat mine, StatOf(made, old.path, kLookAtMade));
  const bool directory = S_ISDIR(mine.mode);
  const bool for_file = directory && !S_ISDIR(wanted.mode);
  if (for_file && Get(old.fd, kAccessList).has_value()) {
    return AtPath(old.path, FailedPrecondition("a directory cannot keep its access control list"));
  }
  CAIRN_ASSIGN_OR_RETURN(const mode_t open, OpenAround(old, wanted));
  CAIRN_RETURN_IF_ERROR(KeepOwners(old, wanted, made, mine));
  CAIRN_RETURN_IF_ERROR(KeepExtended(old, made));
  if (directory) CAIRN_RETURN_IF_ERROR(KeepList(old, made, kDefaultList));
  CAIRN_RETURN_IF_ERROR(KeepList(old, made, kAccessList));

  // Of a directory also whose group new files have, and who removes.
  mode_t mode = wanted.mode & open & (directory ? 03777 : 0777);
  if (for_file) mode = ListedByReaders(mode);
  if (keep == Keep::kWhileItIsMade) mode |= directory ? S_IRWXU : S_IRUSR | S_IWUSR;
  const absl::StatusOr<PosixStat> now = StatOf(made, old.path, kLookAtMade);
  if (now.ok() && (now->mode & ALLPERMS) == mode) return absl::OkStatus();
  return ::fchmod(made, mode) == 0 ? absl::OkStatus() : CannotKeep(errno, old, "permissions");
}

}  // namespace cairn::storage
