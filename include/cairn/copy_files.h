// Files for copies: programs that copy a frame by reading and building need this header. CopyTo,
// Salvage and logs use it themselves.
#ifndef CAIRN_COPY_FILES_H_
#define CAIRN_COPY_FILES_H_

#include <memory>
#include <string>

#include "cairn/file_system.h"
#include "cairn/types.h"

namespace cairn {

// The permissions of its source that a copy gets.
enum class CopiedPermissions {
  kWithinUmask,  // those that the umask leaves, as `cp` does it
  kAll,          // for what goes on where the source ends
};

// The operating system's files, for CreateOptions::file_system and its like. What is made there is
// open to nobody to whom the file or sparse frame at `source` is not, from its first moment on: by
// permissions, access control list and group. What replaces another keeps attributes of that only
// within these bounds. If `source` cannot be looked at, new files are their owner's alone.
CAIRN_EXPORT std::shared_ptr<FileSystem> FilesForCopyOf(
    const std::string& source, CopiedPermissions permissions = CopiedPermissions::kWithinUmask);

}  // namespace cairn

#endif  // CAIRN_COPY_FILES_H_
