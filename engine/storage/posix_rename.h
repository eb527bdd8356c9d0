// Three ways to rename: to a free name, in place of another file, and by exchanging two names.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_RENAME_H_
#define CAIRN_ENGINE_STORAGE_POSIX_RENAME_H_

#include <string>

#include "absl/status/status.h"

#include "engine/storage/posix_directory.h"

namespace cairn::storage {

// kAlreadyExists when `to` exists.
absl::Status RenameWithoutReplacing(const PosixDirectory& directory, const std::string& from,
                                    const std::string& to);

// The same for file systems that cannot do it in one step, and for files only. A crash between the
// two steps leaves the file under both names.
absl::Status LinkThenUnlink(const PosixDirectory& directory, const std::string& from,
                            const std::string& to);

// A file that replaces another gets its attributes.
absl::Status RenameReplacing(const PosixDirectory& directory, const std::string& from,
                             const std::string& to);

// What takes the name `b` gets the attributes of what had it, if both are files or both
// directories. kUnimplemented where the file system cannot do it in one step.
absl::Status ExchangeNames(const PosixDirectory& directory, const std::string& a,
                           const std::string& b);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_RENAME_H_
