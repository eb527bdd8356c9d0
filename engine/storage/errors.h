// The errors of storage: one code and one wording for every kind of file.
#ifndef CAIRN_ENGINE_STORAGE_ERRORS_H_
#define CAIRN_ENGINE_STORAGE_ERRORS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace cairn::storage {

// Returns "<path>: cannot <action>: <what errno means>", under the canonical code for `error`.
absl::Status ErrnoStatus(int error, std::string_view path, std::string_view action);

// Returns kOutOfRange: `size` bytes from `offset` on are not all inside a file of `file_size`
// bytes.
absl::Status PastEnd(std::string_view path, int64_t offset, int64_t size, int64_t file_size);

// Checks that a file may have bytes [offset, offset + size). Errors: kInvalidArgument if the offset
// is negative; kResourceExhausted if no file can be that large.
absl::Status CheckWritableRange(std::string_view path, int64_t offset, int64_t size);

// Checks that bytes [offset, offset + count) can have locks. The last byte that can is the one at
// INT64_MAX. Errors: kInvalidArgument if they cannot.
absl::Status CheckLockRange(std::string_view path, int64_t offset, int64_t count);

// Returns kUnavailable: the byte that a writer locks is taken.
absl::Status LockIsHeld(std::string_view path);

// Returns kUnavailable: all of the file is locked.
absl::Status FileIsLocked(std::string_view path);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_ERRORS_H_
