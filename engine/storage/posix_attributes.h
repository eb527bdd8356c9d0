// What a file that replaces another keeps of it: owner, group, permissions, access control list and
// extended attributes.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_ATTRIBUTES_H_
#define CAIRN_ENGINE_STORAGE_POSIX_ATTRIBUTES_H_

#include <optional>
#include <string>

#include "absl/status/status.h"

namespace cairn::storage {

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
absl::Status KeepAttributes(const Replaced& old, int made, Keep keep);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_ATTRIBUTES_H_
