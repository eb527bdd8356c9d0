// Renaming that takes no name away from another file.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_RENAME_H_
#define CAIRN_ENGINE_STORAGE_POSIX_RENAME_H_

#include <string>

#include "absl/status/status.h"

namespace cairn::storage {

// kAlreadyExists when `to` exists.
absl::Status RenameWithoutReplacing(const std::string& from, const std::string& to);

// The same for file systems that cannot do it in one step. A crash between the two steps leaves the
// file under both names.
absl::Status LinkThenUnlink(const std::string& from, const std::string& to);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_RENAME_H_
