// The file of a member while its writer writes: a commit is held back until the ledger has decided.
#ifndef CAIRN_ENGINE_COLLECTION_HELD_HELD_FILE_H_
#define CAIRN_ENGINE_COLLECTION_HELD_HELD_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "cairn/file_system.h"
#include "engine/base/mutex.h"
#include "engine/collection/ledger/collection_locks.h"
#include "engine/collection/ledger/file_patch.h"

namespace cairn::collection {

// Copies of at most this many staged bytes of a member go into the ledger. A member with more is
// synced instead. Up to here a sync of one more file takes longer than writing the bytes twice.
inline constexpr size_t kMaxCopied = 64 << 10;

// All File objects of one member share this. A writer stages chunks, which go into the file at once
// and to which nothing leads yet. What it writes between Hold and Release waits in memory: the
// commit record, or a header that leads to a new checkpoint. Thread-safe.
class HeldFile {
 public:
  // `file` is open for writing, and the writer locks it. Without `retention`, only
  // the readers of the frame itself count.
  HeldFile(std::unique_ptr<File> file, std::shared_ptr<const Retention> retention)
      : file_(std::move(file)), retention_(std::move(retention)) {}

  File& file() const { return *file_; }
  // Forgets what was staged before, because it is committed or dropped.
  void ForgetStaged();
  // From now on, holds back what changes the file.
  absl::Status Hold();
  // Returns true if staged bytes are in the file alone, and must be synced before the ledger
  // refers to them.
  bool needs_sync() const;
  // Returns what the file lacks if a crash takes all that is not synced.
  std::vector<FilePatch> Patches() const;
  // Writes what was held back.
  absl::Status Release();
  // Drops what is held back, and all that the writer of the file does from now on.
  void Abandon();
  absl::Status Sync();
  // Syncs the file if something was written since the last sync.
  absl::Status SyncIfWritten();

  // Calls of the File objects, which `base` answers unless something is held back.
  absl::StatusOr<int64_t> Size(const File& base) const;
  absl::StatusOr<size_t> ReadSome(const File& base, int64_t offset, MutableBytes dst) const;
  absl::Status WriteAt(File& base, int64_t offset, Bytes src);
  absl::Status Truncate(File& base, int64_t size);
  absl::Status PunchHole(File& base, int64_t offset, int64_t size);
  absl::Status SyncFile(File& base, SyncMode mode);
  absl::StatusOr<bool> IsLocked(const File& base, int64_t offset, int64_t count) const;

 private:
  enum class Phase { kStages, kHolds, kIsAbandoned };
  struct Operation {
    enum class Kind { kWrite, kTruncate, kPunchHole, kSync };
    Kind kind = Kind::kWrite;
    FilePatch patch = {};  // of a write
    int64_t offset = 0;    // of a hole
    int64_t size = 0;      // of a hole or a file
  };

  absl::Status Do(const Operation& operation);
  absl::Status SyncNow(File& base, SyncMode mode);
  std::vector<FilePatch> HeldWrites() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::unique_ptr<File> file_;
  const std::shared_ptr<const Retention> retention_;
  mutable Mutex mutex_;
  Phase phase_ ABSL_GUARDED_BY(mutex_) = Phase::kStages;
  std::vector<Operation> held_ ABSL_GUARDED_BY(mutex_);
  int64_t held_size_ ABSL_GUARDED_BY(mutex_) = 0;          // of the file, with what is held back
  std::vector<FilePatch> copies_ ABSL_GUARDED_BY(mutex_);  // of what is staged
  size_t copied_ ABSL_GUARDED_BY(mutex_) = 0;
  bool needs_sync_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_written_ ABSL_GUARDED_BY(mutex_) = true;  // since the last sync
};

// Returns a file system in which the file at `path` is held.
std::shared_ptr<FileSystem> HoldFile(std::shared_ptr<FileSystem> files, std::string path,
                                     std::shared_ptr<HeldFile> held);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_HELD_HELD_FILE_H_
