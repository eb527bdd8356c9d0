#include "tests/sqlite/differential/full_disk.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <dlfcn.h>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cairn::test {

namespace {

constexpr int64_t kBlock = 4096;

using FileNumber = std::pair<dev_t, ino_t>;

struct Disk {
  std::mutex mutex;
  std::string directory;
  int64_t free = 0;
  // Blocks that files have got by fallocate, which SEEK_DATA does not find before they are written.
  std::map<FileNumber, std::set<int64_t>> reserved;
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

FileNumber NumberOf(int fd) {
  struct stat about = {};
  fstat(fd, &about);
  return {about.st_dev, about.st_ino};
}

// Blocks of the range that the file does not have yet, bytes.
int64_t MissingBytes(int fd, int64_t offset, int64_t size, const std::set<int64_t>& reserved) {
  int64_t missing = 0;
  const int64_t end = offset + size;
  for (int64_t at = offset - offset % kBlock; at < end; at += kBlock) {
    if (reserved.contains(at / kBlock)) continue;
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
  const int64_t missing = MissingBytes(fd, offset, size, disk.reserved[NumberOf(fd)]);
  if (missing <= disk.free) {
    disk.free -= missing;
    return false;
  }
  disk.has_failed = true;
  errno = ENOSPC;
  return true;
}

void NoteReserved(int fd, int64_t offset, int64_t size) {
  Disk& disk = TheDisk();
  const std::lock_guard lock(disk.mutex);
  std::set<int64_t>& reserved = disk.reserved[NumberOf(fd)];
  for (int64_t at = offset / kBlock; at * kBlock < offset + size; ++at) reserved.insert(at);
}

void NoteFreed(int fd, int64_t offset, int64_t end) {
  Disk& disk = TheDisk();
  const std::lock_guard lock(disk.mutex);
  std::set<int64_t>& reserved = disk.reserved[NumberOf(fd)];
  const auto first = reserved.lower_bound((offset + kBlock - 1) / kBlock);
  const auto last = reserved.lower_bound(end / kBlock);
  if (first != reserved.end() && (last == reserved.end() || *first < *last)) {
    reserved.erase(first, last);
  }
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
  if (takes && cairn::test::IsRefused(fd, offset, size)) return -1;
  const int result = next(fd, mode, offset, size);
  if (result != 0) return result;
  if (takes) {
    cairn::test::NoteReserved(fd, offset, size);
  } else {
    cairn::test::NoteFreed(fd, offset, offset + size);
  }
  return result;
}

__attribute__((visibility("default"))) int ftruncate64(int fd, off64_t size) {
  static auto* const next = cairn::test::Next<decltype(ftruncate64)>("ftruncate64");
  const int result = next(fd, size);
  if (result == 0) cairn::test::NoteFreed(fd, size, INT64_MAX);
  return result;
}

}  // extern "C"
