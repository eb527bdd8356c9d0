// File systems for copies, which are no more open than their source. A program needs this header if
// it copies a frame by reading it and building another. CopyTo, Salvage and logs use it themselves.
#ifndef CAIRN_COPY_FILES_H_
#define CAIRN_COPY_FILES_H_

#include <memory>
#include <string>

#include "cairn/file_system.h"
#include "cairn/types.h"

namespace cairn {

// Says which permissions of its source a copy gets.
enum class CopiedPermissions {
  kWithinUmask,  // those that the umask leaves, as with `cp`
  kAll,          // all of them, for a file that continues where the source ends
};

// Returns the operating system's files, to be used as CreateOptions::file_system and the like. From
// its first moment on, a file that is made there is open only to those to whom the file or sparse
// frame at `source` is open. This holds for permissions, access control list and group. A file that
// replaces another keeps the attributes of the old one only within these bounds. If the attributes
// of `source` cannot be read, new files are open only to their owner.
CAIRN_EXPORT std::shared_ptr<FileSystem> FilesForCopyOf(
    const std::string& source, CopiedPermissions permissions = CopiedPermissions::kWithinUmask);

}  // namespace cairn

#endif  // CAIRN_COPY_FILES_H_
