// Files in the memory of one process.
#ifndef CAIRN_ENGINE_STORAGE_MEMORY_FILE_SYSTEM_H_
#define CAIRN_ENGINE_STORAGE_MEMORY_FILE_SYSTEM_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/types.h"
#include "engine/base/mutex.h"

namespace cairn::storage {

// A file in a buffer that grows at amortised O(1) per byte. A mapping keeps its bytes alive and in
// place. It shows later writes until the file outgrows its allocation and moves to another one.
class MemoryFile final : public File {
 public:
  // `name` stands for the path in messages.
  explicit MemoryFile(std::string name = "memory");
  // Makes a read-only file over the caller's bytes, which must stay alive and unchanged. Every
  // other File over them is read-only too.
  MemoryFile(std::string name, Bytes bytes);
  ~MemoryFile() override;

  // Returns another File over the same bytes, as opening one path twice gives. It has its own
  // locks.
  std::unique_ptr<MemoryFile> Reopen(std::string name = "memory", bool writable = true) const;
  bool writable() const { return writable_; }

  absl::StatusOr<int64_t> Size() const override;
  // Returns the size of the allocation, which may be larger than the file.
  absl::StatusOr<int64_t> AllocatedSize() const override;
  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override;
  absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const override;
  // Threads may read bytes before the end through a mapping meanwhile.
  absl::Status WriteAt(int64_t offset, Bytes src) override;
  absl::Status Truncate(int64_t size) override;
  // Returns kUnimplemented.
  absl::Status Reserve(int64_t size) override;
  // Returns kUnimplemented.
  absl::Status PunchHole(int64_t offset, int64_t size) override;
  absl::Status Sync(SyncMode mode) override;
  // Gives no headroom: a file that grows may leave its allocation.
  absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t offset, int64_t size,
                                                     int64_t headroom) const override;
  // Distinct among the memory files that are alive.
  absl::StatusOr<FileIdentity> Identity() const override;
  // The File that holds a lock may take it again, also in the other mode.
  absl::Status LockByte(int64_t offset, LockMode mode) override;
  absl::Status UnlockByte(int64_t offset) override;
  absl::StatusOr<bool> IsLocked(int64_t offset, int64_t count) const override;
  absl::Status LockWhole() override;

 private:
  struct Buffer;
  MemoryFile(std::string name, bool writable, std::shared_ptr<Buffer> buffer);
  absl::Status CheckWritable(int64_t offset, int64_t size) const;

  const std::string name_;
  const bool writable_;
  const std::shared_ptr<Buffer> buffer_;
};

// A file system of names in memory, without directories, links or durability. A file that was
// removed lives as long as it is open or mapped. Thread-safe.
class MemoryFileSystem final : public FileSystem {
 public:
  MemoryFileSystem() = default;
  // Holds one read-only file: the caller's bytes, which must stay alive and unchanged.
  MemoryFileSystem(const std::string& name, Bytes bytes);

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override;
  absl::Status Rename(const std::string& from, const std::string& to, bool replace) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status SyncDirectoryOf(const std::string& /*path*/) override { return absl::OkStatus(); }
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override;

 private:
  Mutex mutex_;
  // No caller opens these, so they have no locks.
  std::map<std::string, std::unique_ptr<MemoryFile>> files_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cairn::storage

#endif  // CAIRN_ENGINE_STORAGE_MEMORY_FILE_SYSTEM_H_
