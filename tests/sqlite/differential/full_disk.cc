#include "tests/sqlite/differential/full_disk.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <dlfcn.h>
#include <fcntl.h>
#include <mutex>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace cairn::test {

namespace {

constexpr int64_t kBlock = 4096;

struct Disk {
  std::mutex mutex;
  std::string directory;
  int64_t free = 0;
  std::atomic<bool> is_full = false;  // there is a limit
  std::atomic<bool> has_failed = false;
};

// Lives as long as the process: threads of databases may write until its end.
Disk& TheDisk() {
  static Disk* const disk = new Disk;
  return *disk;
}

bool LiesIn(int fd, std::string_view directory) {
  char path[4096];
  const ssize_t size = readlink(absl::StrCat("/proc/self/fd/", fd).c_str(), path, sizeof(path));
  return size > 0 && std::string_view(path, static_cast<size_t>(size)).starts_with(directory);
}

// Blocks of the range that the file does not have yet, bytes.
int64_t MissingBytes(int fd, int64_t offset, int64_t size) {
  int64_t missing = 0;
  const int64_t end = offset + size;
  for (int64_t at = offset - offset % kBlock; at < end; at += kBlock) {
    const off_t data = lseek(fd, at, SEEK_DATA);
    if (data < 0 || data >= at + kBlock) missing += kBlock;
  }
  return missing;
}

// Returns true, with the error, if there is no room for the range.
bool IsRefused(int fd, int64_t offset, int64_t size) {
  Disk& disk = TheDisk();
  if (!disk.is_full) return false;
  const std::lock_guard lock(disk.mutex);
  if (!LiesIn(fd, disk.directory)) return false;
  const int64_t missing = MissingBytes(fd, offset, size);
  if (missing <= disk.free) {
    disk.free -= missing;
    return false;
  }
  disk.has_failed = true;
  errno = ENOSPC;
  return true;
}

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

void FillDisk(const std::string& directory, int64_t bytes) {
  Disk& disk = TheDisk();
  const std::lock_guard lock(disk.mutex);
  disk.directory = directory;
  disk.free = bytes;
  disk.has_failed = false;
  disk.is_full = true;
}

void FreeDisk() { TheDisk().is_full = false; }

bool TakeDiskFailure() { return TheDisk().has_failed.exchange(false); }

}  // namespace cairn::test

// In place of those of the C library.
extern "C" {

__attribute__((visibility("default"))) ssize_t pwrite64(int fd, const void* data, size_t size,
                                                        off64_t offset) {
  static auto* const next = cairn::test::Next<decltype(pwrite64)>("pwrite64");
  return cairn::test::IsRefused(fd, offset, static_cast<int64_t>(size))
             ? -1
             : next(fd, data, size, offset);
}

__attribute__((visibility("default"))) int fallocate64(int fd, int mode, off64_t offset,
                                                       off64_t size) {
  static auto* const next = cairn::test::Next<decltype(fallocate64)>("fallocate64");
  const bool takes = (mode & FALLOC_FL_PUNCH_HOLE) == 0;
  return takes && cairn::test::IsRefused(fd, offset, size) ? -1 : next(fd, mode, offset, size);
}

}  // extern "C"
