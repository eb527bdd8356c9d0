// An open file of the operating system.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_FILE_H_
#define CAIRN_ENGINE_STORAGE_POSIX_FILE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/types.h"
#include "engine/storage/owner_process.h"
#include "engine/storage/unique_fd.h"

namespace cairn::storage {

// Locks are those of an open file description, which forked children share. The kernel drops them
// with the last descriptor of it, so a child that ends takes no lock of its parent away, and one
// that lives on would keep it. Hence the process that opened the file unlocks, and no other does.
class PosixFile final : public File {
 public:
  // `fd` is the regular file `identity`, opened at `path`; `writable` says how.
  PosixFile(UniqueFd fd, const FileIdentity& identity, std::string path, bool writable)
      : fd_(std::move(fd)), identity_(identity), path_(std::move(path)), writable_(writable) {}
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;
  ~PosixFile() override;

  absl::StatusOr<int64_t> Size() const override;
  absl::StatusOr<int64_t> AllocatedSize() const override;
  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override;
  // One system call for up to 1 GiB.
  absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const override;
  absl::Status WriteAt(int64_t offset, Bytes src) override;
  absl::Status Truncate(int64_t size) override;
  // Space for the bytes after the present end, so that holes stay holes. Where the file system
  // reserves none, the file grows all the same.
  absl::Status Reserve(int64_t size) override;
  absl::Status ReservePastEnd(int64_t size) override;
  absl::Status PunchHole(int64_t offset, int64_t size) override;
  absl::Status Sync(SyncMode mode) override;
  void SyncSoon(int64_t offset, int64_t size) override;
  // With all of the headroom, unless there is no address space for it.
  absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t offset, int64_t size,
                                                     int64_t headroom) const override;
  absl::StatusOr<FileIdentity> Identity() const override { return identity_; }
  // The File that holds a lock may take it again, in the other mode too.
  absl::Status LockByte(int64_t offset, LockMode mode) override;
  absl::Status UnlockByte(int64_t offset) override;
  absl::StatusOr<bool> IsLocked(int64_t offset, int64_t count) const override;
  absl::Status LockWhole() override;

 private:
  absl::Status CheckWritable(int64_t offset, int64_t size) const;
  absl::Status AllocateFromEnd(int64_t size, int mode);
  absl::Status PastEnd(int64_t offset, int64_t size) const;

  const UniqueFd fd_;
  const FileIdentity identity_;
  const std::string path_;
  const bool writable_;
  const OwnerProcess owner_;
  std::atomic<bool> locked_ = false;  // some byte, at some time
  std::atomic<bool> locked_whole_ = false;
};

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_FILE_H_
