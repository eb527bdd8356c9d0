#include "engine/storage/lock_file.h"

#include <cstdint>
#include <span>

#include "cairn/types.h"
#include "engine/base/deadline.h"
#include "engine/base/status.h"

namespace cairn::storage {

namespace {

constexpr int64_t kCounterOffset = 8;

// Readers that can go take the lock within a fraction of this.
constexpr std::chrono::milliseconds kMostPoliteness(2);

// Returns null if there is no file and `make` is false.
absl::StatusOr<std::unique_ptr<File>> OpenLock(FileSystem& files, const std::string& path,
                                               bool make) {
  auto file = files.Open(path, FileMode::kReadWrite);
  if (!absl::IsNotFound(file.status())) return file;
  if (!make) return nullptr;
  file = files.Open(path, FileMode::kCreateNew);
  if (!absl::IsAlreadyExists(file.status())) return file;
  return files.Open(path, FileMode::kReadWrite);  // another program was faster
}

absl::Status CountUp(File& file) {
  uint64_t counter = 0;  // in the machine's byte order; a short file counts as 0
  const MutableBytes bytes = std::as_writable_bytes(std::span(&counter, 1));
  CAIRN_ASSIGN_OR_RETURN(const size_t n, file.ReadSome(kCounterOffset, bytes));
  if (n < bytes.size()) counter = 0;
  ++counter;
  return file.WriteAt(kCounterOffset, bytes);
}

// Waits until readers that a writer has kept waiting have the lock.
void LetReadersIn(const File& file) {
  const Deadline deadline(kMostPoliteness);
  ShortPause pause;
  while (file.IsLocked(kReadersWait, 1).value_or(false) && !deadline.has_passed()) pause();
}

absl::Status Lock(File& file, std::chrono::milliseconds wait) {
  LetReadersIn(file);
  const absl::Status status = file.LockWhole();
  if (!absl::IsUnavailable(status) || wait <= std::chrono::milliseconds(0)) return status;
  file.LockByte(kWriterWaits, LockMode::kExclusive).IgnoreError();  // it only makes the wait short
  absl::Status locked = RetryUnavailable(
      wait, [&] { return file.LockWhole(); }, ShortPause());
  file.UnlockByte(kWriterWaits).IgnoreError();
  return locked;
}

}  // namespace

absl::StatusOr<std::unique_ptr<File>> TakeLockFile(FileSystem& files, const std::string& path,
                                                   bool make, std::chrono::milliseconds wait) {
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<File> file, OpenLock(files, path, make));
  if (file == nullptr) return file;
  CAIRN_RETURN_IF_ERROR(Lock(*file, wait));
  CAIRN_RETURN_IF_ERROR(CountUp(*file));
  return file;
}

}  // namespace cairn::storage
