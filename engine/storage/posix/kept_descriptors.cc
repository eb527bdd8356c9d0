#include "engine/storage/posix/kept_descriptors.h"

#include <algorithm>
#include <charconv>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <utility>

#include "engine/base/owner_process.h"

namespace cairn::storage {

namespace {

// See engine/frame/files/frame_locks.h.
constexpr int64_t kLocksOfFrames = int64_t{1} << 61;

// Returns a process that has a lock on the bytes that other programs lock, or -1 for a process that
// is not known.
std::optional<pid_t> FindLockHolder(int fd) {
  struct flock lock = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = kLocksOfFrames, .l_pid = 0};
  if (RetryInterrupted([&] { return ::fcntl(fd, F_OFD_GETLK, &lock); }) != 0) return std::nullopt;
  if (lock.l_type == F_UNLCK) return std::nullopt;
  return lock.l_pid;
}

struct CloseFolder {
  void operator()(DIR* reader) const { ::closedir(reader); }
};

// Lists the files that other code of this process has open. Returns nothing if the system does not
// tell. Cairn's own descriptors, whichever copy of the library has opened them, are those of
// regular files with O_NONBLOCK, which has no effect on such a file and which other code does not
// set. They have locks of their own (F_OFD_SETLK) that no other descriptor takes away.
std::optional<std::vector<FileIdentity>> ListFilesOfOthers() {
  const std::unique_ptr<DIR, CloseFolder> reader(::opendir("/proc/self/fd"));
  if (reader == nullptr) return std::nullopt;
  std::vector<FileIdentity> files;
  while (const dirent* const entry = ::readdir(reader.get())) {
    const std::string_view name = entry->d_name;
    int fd = -1;
    if (std::from_chars(name.data(), name.data() + name.size(), fd).ec != std::errc()) continue;
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & (O_NONBLOCK | O_PATH)) != 0) continue;
    const std::optional<PosixStat> info = StatAt(fd, "", AT_EMPTY_PATH);
    if (info.has_value() && S_ISREG(info->mode)) files.push_back(info->identity);
  }
  return files;
}

// Returns true if locks of this process may be on the file now, or may come before it is closed.
bool MayBeLocked(int fd, const FileIdentity& file,
                 const std::optional<std::vector<FileIdentity>>& files_of_others) {
  const std::optional<pid_t> holder = FindLockHolder(fd);
  if (!files_of_others.has_value()) return holder.has_value();
  return holder == ThisProcess() || std::ranges::count(*files_of_others, file) > 0;
}

}  // namespace

bool IsLockedByOthers(int fd) { return FindLockHolder(fd).has_value(); }

void KeptDescriptors::Close(UniqueFd fd, const FileIdentity& file, bool writable,
                            const ForkObserver& forks) {
  if (MayBeLocked(fd.get(), file, ListFilesOfOthers())) {
    const MutexLock lock(mutex_);
    kept_.push_back({.fd = std::move(fd), .file = file, .writable = writable, .forks = forks});
    count_.store(kept_.size(), std::memory_order_relaxed);
  }
}

UniqueFd KeptDescriptors::Take(const FileIdentity& file, bool writable) {
  const MutexLock lock(mutex_);
  const auto found = std::ranges::find_if(kept_, [&](const Kept& kept) {
    return kept.file == file && kept.writable == writable && !kept.forks.saw_fork();
  });
  if (found == kept_.end()) return {};
  UniqueFd fd = std::move(found->fd);
  kept_.erase(found);
  count_.store(kept_.size(), std::memory_order_relaxed);
  return fd;
}

void KeptDescriptors::CloseUnneeded() {
  if (empty()) return;
  std::vector<Kept> looked_at;
  {
    const MutexLock lock(mutex_);
    looked_at.swap(kept_);
  }
  const std::optional<std::vector<FileIdentity>> files_of_others = ListFilesOfOthers();
  std::erase_if(looked_at, [&](const Kept& kept) {
    return !MayBeLocked(kept.fd.get(), kept.file, files_of_others);
  });
  const MutexLock lock(mutex_);
  std::ranges::move(looked_at, std::back_inserter(kept_));
  count_.store(kept_.size(), std::memory_order_relaxed);
}

}  // namespace cairn::storage
