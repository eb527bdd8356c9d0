#include "engine/storage/posix/attributes.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <string_view>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/storage/errors.h"
#include "engine/storage/posix/fd.h"

namespace cairn::storage {

namespace {

// A change of this list changes the permissions too.
constexpr char kAccessList[] = "system.posix_acl_access";
// The list that new files of a directory get.
constexpr char kDefaultList[] = "system.posix_acl_default";

// Attributes that belong to the bytes of the old file, or that let those run with rights.
constexpr std::string_view kNotKept[] = {"security.capability", "security.evm", "security.ima",
                                         kAccessList, kDefaultList};

absl::Status CannotKeep(int error, const Replaced& old, std::string_view what) {
  switch (error) {
    case EPERM:
    case EACCES:
    case EINVAL:  // the user namespace does not know the owner
    case EOPNOTSUPP:
      return AtPath(old.path, FailedPrecondition("its %s cannot be kept: %s", what,
                                                 std::generic_category().message(error)));
    default:
      return ErrnoStatus(error, old.path, absl::StrFormat("keep its %s", what));
  }
}

// Fills a buffer with a call that tells the size first. The size may have grown before the second
// call, so it tries again.
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

// Returns nothing if there is no such attribute, or if this process may not read it.
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
  // Each name ends with a zero byte.
  for (size_t at = 0; at < names.size();) {
    const std::string name = names.c_str() + at;
    at += name.size() + 1;
    if (std::ranges::count(kNotKept, name) > 0) continue;
    CAIRN_RETURN_IF_ERROR(KeepValue(old, made, name));
  }
  return absl::OkStatus();
}

// Removes the list from `made` if the old file has none: a directory may have given it one.
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
  // The group comes first, because this process may lose the right to change it with the owner.
  if (wanted.group != mine.group && ::fchown(made, kSame, wanted.group) != 0) {
    return CannotKeep(errno, old, absl::StrFormat("group %d", wanted.group));
  }
  if (wanted.owner != mine.owner && ::fchown(made, wanted.owner, kSame) != 0) {
    return CannotKeep(errno, old, absl::StrFormat("owner %d", wanted.owner));
  }
  return absl::OkStatus();
}

// Returns the permissions that a file may keep when it comes out of a directory: those for users
// who may enter the directory.
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

constexpr mode_t kOwner = S_IRWXU;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
constexpr mode_t kAll = 07;  // for one kind of user
constexpr mode_t kFile = 0666;

// The entries of an access control list, as the kernel writes them.
constexpr size_t kListHead = 4;
constexpr size_t kEntrySize = 8;
enum Tag : uint16_t { kMyself = 1, kUser = 2, kMyGroup = 4, kGroup = 8, kMask = 16, kOther = 32 };

// Calls `visit` for each entry of a list with the position of its permissions and its tag.
template <typename Visit>
void ForEachEntry(std::string_view list, Visit visit) {
  for (size_t at = kListHead; at + kEntrySize <= list.size(); at += kEntrySize) {
    visit(at + 2, LoadLe<uint16_t>(AsBytes(list.substr(at)).data()));
  }
}

// Returns the list with the permissions of `mode` for the owner, for all entries that the mask
// bounds, and for others.
std::string WithMode(std::string list, mode_t mode) {
  bool masked = false;
  ForEachEntry(list, [&](size_t, uint16_t tag) { masked |= tag == kMask; });
  ForEachEntry(list, [&](size_t at, uint16_t tag) {
    std::optional<mode_t> may;
    if (tag == kMyself) may = mode >> 6 & kAll;
    if (tag == (masked ? kMask : kMyGroup)) may = mode >> 3 & kAll;
    if (tag == kOther) may = mode & kAll;
    if (may.has_value()) list[at] = static_cast<char>(*may);
  });
  return list;
}

// Returns true if two lists differ at most in a mode.
bool HasSameEntries(std::string_view a, std::string_view b) {
  return WithMode(std::string(a), 0) == WithMode(std::string(b), 0);
}

// Returns the permissions that every user except the owner has: the least that an entry gives.
mode_t LeastOf(std::string_view list) {
  mode_t bounded = kAll;
  mode_t mask = kAll;
  mode_t other = kAll;
  ForEachEntry(list, [&](size_t at, uint16_t tag) {
    const mode_t may = LoadLe<uint16_t>(AsBytes(list.substr(at)).data()) & kAll;
    if (tag == kOther) other = may;
    if (tag == kMask) mask = may;
    if (tag == kUser || tag == kMyGroup || tag == kGroup) bounded &= may;
  });
  return bounded & mask & other;
}

// Returns the permissions that a limit gives to the group and to others of a file with this group
// and list.
mode_t OthersOf(const Limit& limit, gid_t group, std::string_view list) {
  // A user may have been in one group and not in the other.
  if (group == limit.group && HasSameEntries(list, limit.list)) return limit.mode & kOthers;
  const mode_t least =
      limit.list.empty() ? (limit.mode >> 3) & limit.mode & kAll : LeastOf(limit.list);
  return least << 3 | least;
}

// Returns the permissions of `mode` that the limits leave to a file of this group, whose access
// control list is `list`. If a limit has another group or other entries, only the permissions that
// all its users have are left.
mode_t Within(const Limits& limits, mode_t mode, gid_t group, std::string_view list) {
  for (const Limit& limit : limits.all) {
    mode &= (limit.mode & kOwner) | OthersOf(limit, group, list);
  }
  return mode;
}

// Reads the process's umask from /proc, because umask() would change it for other threads. Returns
// the narrowest one if the kernel does not tell.
mode_t ReadUmask() {
  constexpr mode_t kNarrowest = 077;
  constexpr std::string_view kName = "Umask:";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(kName)) continue;
    return static_cast<mode_t>(std::strtoul(line.c_str() + kName.size(), nullptr, 8));
  }
  return kNarrowest;
}

// Adds the right to list a directory for everyone who may read the file that the directory is made
// for.
mode_t ListedByReaders(mode_t mode) { return (mode & kFile) | ((mode & 0444) >> 2) | kOwner; }

bool SetAccessList(int fd, const std::string& list) {
  if (!list.empty()) return ::fsetxattr(fd, kAccessList, list.data(), list.size(), 0) == 0;
  return ::fremovexattr(fd, kAccessList) == 0 || errno == ENODATA || errno == EOPNOTSUPP;
}

// Opens nothing, because closing a file would drop the locks that other code of the process has on
// it.
Limit LimitAt(const std::string& path) {
  const std::optional<PosixStat> info = StatAt(AT_FDCWD, path.c_str(), 0);
  if (!info.has_value()) return {.mode = S_IRUSR | S_IWUSR};
  const std::optional<std::string> list = ReadAll(
      [&](char* to, size_t size) { return ::getxattr(path.c_str(), kAccessList, to, size); });
  Limit limit{.mode = info->mode & kFile, .group = info->group, .list = list.value_or("")};
  if (!S_ISDIR(info->mode)) return limit;
  // A user who may not enter a directory can read nothing in it. For a user who may, the
  // permissions of the files decide.
  const auto entered = [](mode_t mode) { return (mode & 0111) * 06; };
  limit.mode = entered(info->mode);
  if (const std::string list = std::exchange(limit.list, {}); !list.empty()) {
    limit.mode = (limit.mode & kOwner) | entered(LeastOf(list) << 3 | LeastOf(list));
  }
  return limit;
}

}  // namespace

Limits LimitsOf(std::span<const std::string> paths, bool apply_umask) {
  Limits limits{.all = {}, .umask = apply_umask ? ReadUmask() : 0};
  for (const std::string& path : paths) limits.all.push_back(LimitAt(path));
  return limits;
}

absl::Status OpenWithin(const Limits& limits, int made, const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(const PosixStat info, StatOf(made, path, "look at"));
  const bool directory = S_ISDIR(info.mode);
  const Limit& first = limits.all.front();
  std::string list = directory ? std::string() : first.list;
  mode_t mode = Within(limits, kFile, first.group, list);
  // A process whose user is not in the group cannot give the file to it.
  if (info.group != first.group &&
      (!list.empty() || mode != Within(limits, kFile, info.group, "")) &&
      ::fchown(made, static_cast<uid_t>(-1), first.group) != 0) {
    list.clear();
  }
  CAIRN_ASSIGN_OR_RETURN(const PosixStat now, StatOf(made, path, "look at"));
  mode = Within(limits, kFile, now.group, list) & ~limits.umask;
  mode = directory ? ListedByReaders(mode) : mode | S_IRUSR | S_IWUSR;
  // A file system without lists has none to drop either.
  if (!SetAccessList(made, list.empty() ? list : WithMode(list, mode))) {
    mode = Within(limits, mode, now.group, "");
  }
  if (::fchmod(made, mode) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, path, "set the permissions");
}

absl::Status CloseToOwner(const Limits& limits, int made, const std::string& path) {
  CAIRN_ASSIGN_OR_RETURN(const PosixStat info, StatOf(made, path, "look at"));
  if (S_ISDIR(info.mode)) return absl::OkStatus();
  const mode_t owner = Within(limits, kFile & kOwner, info.group, "");
  const mode_t mode = info.mode & ALLPERMS & (owner | ~kOwner);
  if (mode == (info.mode & ALLPERMS) || ::fchmod(made, mode) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, path, "set the permissions");
}

absl::Status KeepAttributes(const Replaced& old, int made, Keep keep, const Limits& limits) {
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

  // A directory also keeps the bits that decide the group of new files and who may remove them.
  mode_t mode = wanted.mode & open & (directory ? 03777 : 0777);
  if (for_file) mode = ListedByReaders(mode);
  if (limits.empty()) {
    CAIRN_RETURN_IF_ERROR(KeepList(old, made, kAccessList));
  } else {
    const std::string list = Get(old.fd, kAccessList).value_or("");
    const mode_t within = Within(limits, ALLPERMS, wanted.group, list);
    mode &= directory ? ListedByReaders(within) | 03000 : within;
    if (!SetAccessList(made, list.empty() ? list : WithMode(list, mode))) {
      return CannotKeep(errno, old, "access control list");
    }
  }
  if (keep == Keep::kWhileItIsMade) mode |= directory ? S_IRWXU : S_IRUSR | S_IWUSR;
  const absl::StatusOr<PosixStat> now = StatOf(made, old.path, kLookAtMade);
  if (now.ok() && (now->mode & ALLPERMS) == mode) return absl::OkStatus();
  return ::fchmod(made, mode) == 0 ? absl::OkStatus() : CannotKeep(errno, old, "permissions");
}

}  // namespace cairn::storage
