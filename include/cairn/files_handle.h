// File systems for programs in C: what makes one in C++ gives it to them as a cairn_files.
#ifndef CAIRN_FILES_HANDLE_H_
#define CAIRN_FILES_HANDLE_H_

#include <memory>

#include "absl/status/statusor.h"

#include "cairn/cairn.h"
#include "cairn/file_system.h"
#include "cairn/types.h"

namespace cairn {

// Sets *out to a handle that cairn_files_free frees, or to NULL, and fills `status`, which may be
// NULL. What is opened with the handle keeps the file system. CAIRN_INVALID_ARGUMENT if `out` is
// NULL.
CAIRN_EXPORT cairn_code ReturnFiles(absl::StatusOr<std::shared_ptr<FileSystem>> files,
                                    cairn_files** out, cairn_status* status);

}  // namespace cairn

#endif  // CAIRN_FILES_HANDLE_H_
