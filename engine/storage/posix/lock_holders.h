// Finds who holds locks on a file, as far as /proc shows it.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_LOCK_HOLDERS_H_
#define CAIRN_ENGINE_STORAGE_POSIX_LOCK_HOLDERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cairn/file_system.h"
#include "engine/base/extent.h"

namespace cairn::storage {

// Returns the bytes of the open file's lock that a line of /proc/PID/fdinfo/FD names, if it names
// one.
std::optional<Extent> ParseLockLine(const std::string& line);

// Returns the holders of locks on bytes [offset, offset + count), once for each process, in no
// order. Processes that this one may not look at are missing.
std::vector<LockHolder> FindLockHolders(const FileIdentity& file, int64_t offset, int64_t count);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_LOCK_HOLDERS_H_
