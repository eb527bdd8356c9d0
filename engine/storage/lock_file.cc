#include "engine/storage/lock_file.h"

#include <cstdint>
#include <span>

#include "cairn/types.h"
#include "engine/base/status.h"

namespace cairn::storage {

namespace {

constexpr int64_t kCounterOffset = 8;

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

}  // namespace

absl::StatusOr<std::unique_ptr<File>> TakeLockFile(FileSystem& files, const std::string& path,
                                                   bool make) {
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<File> file, OpenLock(files, path, make));
  if (file == nullptr) return file;
  CAIRN_RETURN_IF_ERROR(file->LockWhole());
  CAIRN_RETURN_IF_ERROR(CountUp(*file));
  return file;
}

}  // namespace cairn::storage
