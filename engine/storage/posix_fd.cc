#include "engine/storage/posix_fd.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "engine/storage/errors.h"

namespace cairn::storage {

absl::StatusOr<PosixStat> StatOf(int fd, std::string_view path, std::string_view action) {
  const std::optional<PosixStat> info = StatAt(fd, "", AT_EMPTY_PATH);
  if (!info.has_value()) return ErrnoStatus(errno, path, action);
  return *info;
}

std::optional<PosixStat> StatAt(int directory, const char* path, int flags) {
  constexpr unsigned int kWanted =
      STATX_TYPE | STATX_MODE | STATX_UID | STATX_GID | STATX_INO | STATX_SIZE | STATX_BLOCKS;
  constexpr int64_t kBlock = 512;  // that of stx_blocks, whatever the file system's block size
  struct statx info;
  if (::statx(directory, path, flags, kWanted, &info) != 0) return std::nullopt;
  return PosixStat{.identity = {.device = makedev(info.stx_dev_major, info.stx_dev_minor),
                                .inode = info.stx_ino},
                   .mode = info.stx_mode,
                   .owner = info.stx_uid,
                   .group = info.stx_gid,
                   .size = static_cast<int64_t>(info.stx_size),
                   .allocated = static_cast<int64_t>(info.stx_blocks) * kBlock};
}

}  // namespace cairn::storage
