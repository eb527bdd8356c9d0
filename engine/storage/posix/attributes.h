// What a file that replaces another keeps of it: owner, group, permissions, access control list and
// extended attributes; and how open a copy may be: no more than what it is a copy of.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_ATTRIBUTES_H_
#define CAIRN_ENGINE_STORAGE_POSIX_ATTRIBUTES_H_

#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

#include "absl/status/status.h"

namespace cairn::storage {

// What one file lets users do, in permissions of a file.
struct Limit {
  mode_t mode = 0;
  gid_t group = 0;        // whose the bits of the group are
  std::string list = {};  // the access control list, as the kernel has it; empty: none
};

// All of these hold. Empty: there are none.
struct Limits {
  std::vector<Limit> all = {};
  mode_t umask = 0;  // of the process, for what is new

  bool empty() const { return all.empty(); }
};

// What all of these together let users do: a file, and a directory that it lies in. What cannot be
// looked at is taken to be its owner's alone.
Limits LimitsOf(std::span<const std::string> paths, bool apply_umask);

// Gives a new file or directory, which is open to its owner alone, the permissions that the limits
// and the umask leave; its owner keeps those to read and write. `path` is for messages.
absl::Status OpenWithin(const Limits& limits, int made, const std::string& path);

// Takes the permissions from the owner, too, that a limit does not give: for what is complete.
absl::Status CloseToOwner(const Limits& limits, int made, const std::string& path);

// A file or a directory whose attributes another one gets.
struct Replaced {
  int fd = -1;       // open for reading
  std::string path;  // for messages
  // The directory that it lies in, if the other one does not, nor in one like it.
  std::optional<int> around = std::nullopt;
};

enum class Keep {
  kExactly,
  kWhileItIsMade,  // but the owner can read and write it, whatever the other one says
};

// Gives `made` the attributes of `old`, and the permissions last: at no time is it open to anyone
// to whom `old` is not, if it was open to its owner only. Without set-user-ID and set-group-ID of a
// file, and what belongs to its bytes or lets them run. A directory may get those of a file: who
// may read that may list it. kFailedPrecondition for what this process may not give.
// Where there are limits, nothing goes beyond these.
absl::Status KeepAttributes(const Replaced& old, int made, Keep keep, const Limits& limits);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_ATTRIBUTES_H_
