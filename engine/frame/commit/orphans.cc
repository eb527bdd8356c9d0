#include "engine/frame/commit/orphans.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/files/lock_bytes.h"
#include "engine/frame/stage/sparse_sink.h"

namespace cairn::frame {

namespace {

int64_t SizeOf(FileSystem& directory, const std::string& name) {
  const auto file = directory.Open(name, FileMode::kRead);
  return file.ok() ? (*file)->Size().value_or(0) : 0;
}

bool IsRead(FileSystem& directory, const std::string& name) {
  const auto file = directory.Open(name, FileMode::kReadWrite);
  // What cannot be asked may be read.
  if (!file.ok()) return !absl::IsNotFound(file.status());
  return !(*file)->LockByte(kReaderLockByte, LockMode::kExclusive).ok();
}

}  // namespace

bool RemoveIfUnread(FileSystem& directory, const std::string& name) {
  return !IsRead(directory, name) && directory.Remove(name).ok();
}

absl::StatusOr<OrphanReport> RemoveOrphans(FileSystem& directory, const ChunkIndex& named) {
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, directory.List("."));
  OrphanReport report;
  const auto remove = [&](const std::string& name) {
    const int64_t size = SizeOf(directory, name);
    // What cannot be removed waits for the next writer.
    if (directory.Remove(name).ok()) report.freed += size;
  };
  for (const std::string& name : names) {
    if (!format::IsOtherIndexName(name)) continue;
    if (IsRead(directory, name)) {
      report.old_read = true;
    } else {
      remove(name);
    }
  }
  // Some of the files may be missing, but hardly most of them: an index that names far more is made
  // to cost memory.
  const size_t most = 2 * names.size() + 4096;
  CAIRN_ASSIGN_OR_RETURN(const std::vector<int64_t> numbers, FileNumbersIn(named, most));
  if (report.old_read) return report;
  for (const std::string& name : names) {
    const std::optional<int64_t> number = format::ParseChunkFileName(name);
    if (number.has_value() && !std::ranges::binary_search(numbers, *number)) remove(name);
  }
  return report;
}

}  // namespace cairn::frame
