#include "engine/storage/posix/allocation.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <new>
#include <span>
#include <sys/ioctl.h>

namespace cairn::storage {

namespace {

constexpr size_t kMostExtents = 32;

int Reserve(int fd, int64_t begin, int64_t end) {
  int result = 0;
  do {
    result = ::fallocate(fd, FALLOC_FL_KEEP_SIZE, begin, end - begin);
  } while (result != 0 && errno == EINTR);
  return result;
}

// Reserves what lies between the extents that the file has.
int ReserveGaps(int fd, int64_t begin, int64_t end) {
  while (begin < end) {
    // The extents follow the request.
    alignas(fiemap) std::array<std::byte, sizeof(fiemap) + kMostExtents * sizeof(fiemap_extent)>
        room = {};
    fiemap* const map = new (room.data()) fiemap;
    map->fm_start = static_cast<uint64_t>(begin);
    map->fm_length = static_cast<uint64_t>(end - begin);
    map->fm_extent_count = kMostExtents;
    if (::ioctl(fd, FS_IOC_FIEMAP, map) != 0) {
      errno = ENOSPC;
      return -1;
    }
    const size_t count = std::min<size_t>(map->fm_mapped_extents, kMostExtents);
    for (const fiemap_extent& extent : std::span(map->fm_extents, count)) {
      const auto first = static_cast<int64_t>(extent.fe_logical);
      if (first > begin && Reserve(fd, begin, std::min(first, end)) != 0) return -1;
      begin = std::max(begin, first + static_cast<int64_t>(extent.fe_length));
    }
    if (count < kMostExtents) return begin < end ? Reserve(fd, begin, end) : 0;
  }
  return 0;
}

}  // namespace

int Allocate(int fd, int64_t offset, int64_t size) {
  if (Reserve(fd, offset, offset + size) == 0) return 0;
  return errno == ENOSPC ? ReserveGaps(fd, offset, offset + size) : -1;
}

}  // namespace cairn::storage
