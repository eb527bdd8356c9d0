// Reserves disk space for a part of a file.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_ALLOCATION_H_
#define CAIRN_ENGINE_STORAGE_POSIX_ALLOCATION_H_

#include <cstdint>

namespace cairn::storage {

// Reserves disk space for `size` bytes from `offset` on, and keeps the size of the file. Returns 0,
// or -1 with errno. Some file systems, such as XFS, refuse on a full disk to reserve what the file
// has already; then only the parts are reserved that it lacks.
int Allocate(int fd, int64_t offset, int64_t size);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_ALLOCATION_H_
