// What the kernel knows of a file, but for its times.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_STAT_H_
#define CAIRN_ENGINE_STORAGE_POSIX_STAT_H_

#include <cstdint>
#include <optional>
#include <sys/types.h>

#include "cairn/file_system.h"

namespace cairn::storage {

// The times are left out on purpose: after a process asked for them, the kernel gives the next
// write a time that differs, which goes into the inode and makes a commit's sync half as dear
// again.
struct PosixStat {
  FileIdentity identity;
  mode_t mode = 0;
  uid_t owner = 0;
  gid_t group = 0;
  int64_t size = 0;
  int64_t allocated = 0;  // bytes of disk space
};

// Nothing where that fails; errno says why.
std::optional<PosixStat> StatOf(int fd);
// `directory` and `flags` are those of fstatat.
std::optional<PosixStat> StatAt(int directory, const char* path, int flags);

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_STAT_H_
