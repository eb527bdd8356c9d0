// Files that live in memory, for one process.
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

// A buffer that grows at amortised O(1) a byte. A mapping keeps its bytes alive and in place; it
// sees later writes until the file outgrows its allocation and moves on without it.
class MemoryFile final : public File {
 public:
  // `name` stands for the path in messages.
  explicit MemoryFile(std::string name = "memory");
  // The caller's bytes, which stay alive and the same. Read-only, and so is every other File over
  // them.
  MemoryFile(std::string name, Bytes bytes);
  ~MemoryFile() override;

  // Another File over the same bytes, as opening one path twice gives; its locks are its own.
  std::unique_ptr<MemoryFile> Reopen(std::string name = "memory", bool writable = true) const;
  bool writable() const { return writable_; }

  absl::StatusOr<int64_t> Size() const override;
  // Of the allocation, which is larger than what it holds.
  absl::StatusOr<int64_t> AllocatedSize() const override;
  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override;
  absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const override;
  // Bytes that are there already may be read through a mapping meanwhile.
  absl::Status WriteAt(int64_t offset, Bytes src) override;
  absl::Status Truncate(int64_t size) override;
  // kUnimplemented.
  absl::Status Reserve(int64_t size) override;
  // kUnimplemented.
  absl::Status PunchHole(int64_t offset, int64_t size) override;
  absl::Status Sync(SyncMode mode) override;
  // Without headroom: a file that grows may leave its allocation.
  absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t offset, int64_t size,
                                                     int64_t headroom) const override;
  // Distinct among the memory files that are alive.
  absl::StatusOr<FileIdentity> Identity() const override;
  // The File that holds a lock may take it again, in the other mode too.
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

// Files by name, without directories, links or durability. A file that was removed lives as long as
// it is open or mapped. Thread-safe.
class MemoryFileSystem final : public FileSystem {
 public:
  MemoryFileSystem() = default;
  // With one file: the caller's bytes, which stay alive and the same. Read-only.
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
