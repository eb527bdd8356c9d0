// An open file of the operating system.
#ifndef CAIRN_ENGINE_STORAGE_POSIX_FILE_H_
#define CAIRN_ENGINE_STORAGE_POSIX_FILE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/types.h"
#include "engine/storage/unique_fd.h"

namespace cairn::storage {

// Locks are those of an open file description, so the kernel drops them with the last descriptor
// of it: nothing here ever unlocks, and a forked child's copy cannot take its parent's lock away.
class PosixFile final : public File {
 public:
  // `fd` is a regular file, opened at `path`; `writable` says how.
  PosixFile(UniqueFd fd, std::string path, bool writable)
      : fd_(std::move(fd)), path_(std::move(path)), writable_(writable) {}

  absl::StatusOr<int64_t> Size() const override;
  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override;
  absl::Status WriteAt(int64_t offset, Bytes src) override;
  absl::Status Truncate(int64_t size) override;
  absl::Status Sync(SyncMode mode) override;
  absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t offset, int64_t size) const override;
  absl::StatusOr<FileIdentity> Identity() const override;
  // The File that holds a lock may take it again, in the other mode too.
  absl::Status LockByte(int64_t offset, LockMode mode) override;

 private:
  absl::Status CheckWritable(int64_t offset, int64_t size) const;
  absl::Status PastEnd(int64_t offset, int64_t size) const;

  const UniqueFd fd_;
  const std::string path_;
  const bool writable_;
};

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_POSIX_FILE_H_
