// ReturnFiles: gives a file system that C++ code has made to programs in C, as a cairn_files.
#ifndef CAIRN_FILES_HANDLE_H_
#define CAIRN_FILES_HANDLE_H_

#include <memory>

#include "absl/status/statusor.h"

#include "cairn/cairn.h"
#include "cairn/file_system.h"
#include "cairn/types.h"

namespace cairn {

// Sets *out to a handle of the file system, which cairn_files_free frees. Sets it to NULL if
// `files` is an error. Fills `status`, which may be NULL, and returns the code. Frames and files
// that are opened with the handle keep the file system alive.
//
// Errors: that of `files`; CAIRN_INVALID_ARGUMENT if `out` is NULL.
CAIRN_EXPORT cairn_code ReturnFiles(absl::StatusOr<std::shared_ptr<FileSystem>> files,
                                    cairn_files** out, cairn_status* status);

}  // namespace cairn

#endif  // CAIRN_FILES_HANDLE_H_
