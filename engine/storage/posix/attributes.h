// Copies attributes to a file that replaces another one: owner, group, permissions, access control
// list and extended attributes. It also limits how open a copy may be, which is never more than its
// source.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_ATTRIBUTES_H_
#define CAIRN_ENGINE_STORAGE_POSIX_ATTRIBUTES_H_

#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

#include "absl/status/status.h"

namespace cairn::storage {

// The permissions that one file gives to users.
struct Limit {
  mode_t mode = 0;
  gid_t group = 0;        // the group of the file
  std::string list = {};  // the access control list, as the kernel has it; empty: none
};

// Limits that all hold. Empty if there are none.
struct Limits {
  std::vector<Limit> all = {};
  mode_t umask = 0;  // the umask of the process, which applies to new files

  bool empty() const { return all.empty(); }
};

// Returns what all these paths together let users do: a file, and a directory that it lies in. A
// path that this process cannot look at counts as open to its owner alone.
Limits LimitsOf(std::span<const std::string> paths, bool apply_umask);

// Gives a new file or directory, which is open to its owner alone, the permissions that the limits
// and the umask leave. Its owner can still read and write it. `path` is for messages.
absl::Status OpenWithin(const Limits& limits, int made, const std::string& path);

// Takes those permissions from the owner, too, that a limit does not give. Call this when the file
// is complete.
absl::Status CloseToOwner(const Limits& limits, int made, const std::string& path);

// A file or a directory whose attributes another one gets.
struct Replaced {
  int fd = -1;       // open for reading
  std::string path;  // for messages
  // The directory that it lies in, unless the other file lies in this directory or in one like it.
  std::optional<int> around = std::nullopt;
};

enum class Keep {
  kExactly,
  kWhileItIsMade,  // except that the owner can always read and write it
};

// Gives `made` the attributes of `old`, the permissions last. If `made` was open to its owner only,
// it is at no time open to anyone to whom `old` is not. Leaves out set-user-ID and set-group-ID of
// a file, and attributes that belong to its bytes or let those run with rights. A directory may get
// the attributes of a file: a user who may read the file may list the directory. Nothing goes
// beyond the limits, if there are any.
//
// Errors: kFailedPrecondition for an attribute that this process may not give.
absl::Status KeepAttributes(const Replaced& old, int made, Keep keep, const Limits& limits);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_ATTRIBUTES_H_
