#include "engine/storage/posix/fd.h"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <pwd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/storage/descriptor_room.h"
#include "engine/storage/errors.h"

namespace cairn::storage {

namespace {

std::string_view KindOf(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "a file";
    case S_IFDIR:
      return "a directory";
    case S_IFLNK:
      return "a symbolic link";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
  }
}

// Returns "mallory (uid 1001)", or the number alone if the user has no name.
std::string UserOf(uid_t uid) {
  std::array<char, 4096> memory;  // for what the user database says of one user
  struct passwd entry = {};
  struct passwd* found = nullptr;
  ::getpwuid_r(uid, &entry, memory.data(), memory.size(), &found);
  if (found == nullptr) return absl::StrFormat("%d", uid);
  return absl::StrFormat("%s (uid %d)", found->pw_name, uid);
}

// Takes the numbers of closed standard streams with descriptors that cannot be read or written, as
// the streams could not.
void HoldClosedStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    const int held = ::open("/", O_PATH | O_CLOEXEC);
    if (held > STDERR_FILENO) ::close(held);  // another thread was first
  }
}

}  // namespace

UniqueFd OpenAt(int directory, const std::string& path, int flags, mode_t permissions) {
  const bool may_write = (flags & O_ACCMODE) != O_RDONLY;
  if (may_write) HoldClosedStreams();
  UniqueFd fd(
      RetryInterrupted([&] { return ::openat(directory, path.c_str(), flags, permissions); }));
  if (!fd.ok() || fd.get() > STDERR_FILENO) return fd;
  // Nobody can write through the number of a closed stream, so the file may have it for a moment.
  UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const int error = errno;
  fd = UniqueFd();
  HoldClosedStreams();
  errno = error;
  return moved;
}

DescriptorRoom FindDescriptorRoom(int64_t most) {
  DescriptorRoom room = {.limit = INT64_MAX, .left = 0};
  struct rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < INT64_MAX) {
    room.limit = static_cast<int64_t>(limit.rlim_cur);
  }
  std::vector<UniqueFd> opened;
  while (std::ssize(opened) < most) {
    UniqueFd next =
        opened.empty()
            ? OpenAt(AT_FDCWD, "/", O_PATH | O_CLOEXEC)
            : UniqueFd(::fcntl(opened.front().get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!next.ok()) break;
    opened.push_back(std::move(next));
  }
  room.left = std::ssize(opened);
  return room;
}

absl::StatusOr<PosixStat> StatOf(int fd, std::string_view path, std::string_view action) {
  const std::optional<PosixStat> info = StatAt(fd, "", AT_EMPTY_PATH);
  if (!info.has_value()) return ErrnoStatus(errno, path, action);
  return *info;
}

std::optional<PosixStat> StatAt(int directory, const char* path, int flags) {
  constexpr unsigned int kWanted = STATX_TYPE | STATX_MODE | STATX_UID | STATX_GID | STATX_INO |
                                   STATX_SIZE | STATX_BLOCKS | STATX_NLINK | STATX_MTIME;
  // the unit of stx_blocks, whatever the file system's block size is
  constexpr int64_t kBlock = 512;
  constexpr int64_t kSecond = 1'000'000'000;
  struct statx info;
  if (::statx(directory, path, flags, kWanted, &info) != 0) return std::nullopt;
  return PosixStat{.identity = {.device = makedev(info.stx_dev_major, info.stx_dev_minor),
                                .inode = info.stx_ino},
                   .mode = info.stx_mode,
                   .owner = info.stx_uid,
                   .group = info.stx_gid,
                   .size = static_cast<int64_t>(info.stx_size),
                   .allocated = static_cast<int64_t>(info.stx_blocks) * kBlock,
                   .names = info.stx_nlink,
                   .modified = info.stx_mtime.tv_sec * kSecond + info.stx_mtime.tv_nsec};
}

std::string Described(const PosixStat& info) {
  return absl::StrFormat("%s of user %s, mode %04o", KindOf(info.mode), UserOf(info.owner),
                         info.mode & ALLPERMS);
}

absl::Status ExpectedFile(std::string_view path, const PosixStat& info) {
  return AtPath(path, FailedPrecondition("expected a file, got %s", Described(info)));
}

int OpenFlags(FileMode mode) {
  // O_NONBLOCK is there because opening a pipe by mistake must not wait for its other end.
  constexpr int kAlways = O_NONBLOCK | O_NOCTTY;
  switch (mode) {
    case FileMode::kRead:
      return kAlways | O_RDONLY;
    case FileMode::kReadWrite:
      return kAlways | O_RDWR;
    case FileMode::kCreateNew:
      return kAlways | O_RDWR | O_CREAT | O_EXCL;
  }
  return kAlways | O_RDONLY;
}

uint64_t ReadBootId() {
  const UniqueFd fd = OpenAt(AT_FDCWD, "/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (!fd.ok()) return 0;
  std::array<std::byte, 64> text{};
  const ssize_t got = RetryInterrupted([&] { return ::read(fd.get(), text.data(), text.size()); });
  return got > 0 ? Xxh3(Bytes(text).first(static_cast<size_t>(got))) : 0;
}

absl::Status SyncDirectory(int fd, const std::string& path) {
  // EINVAL means that this file system has nothing to sync in a directory.
  if (RetryInterrupted([&] { return ::fsync(fd); }) == 0 || errno == EINVAL) {
    return absl::OkStatus();
  }
  return ErrnoStatus(errno, path, "sync the directory");
}

}  // namespace cairn::storage
