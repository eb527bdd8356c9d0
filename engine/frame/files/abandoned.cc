#include "engine/frame/files/abandoned.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/files/lock_bytes.h"
#include "engine/frame/files/replacement.h"
#include "engine/frame/files/temporary_name.h"

namespace cairn::frame {

namespace {

// Of a directory so many names are looked at. That takes a few milliseconds, as a sync does; a
// directory of a million frames must not cost each writer all of its names.
constexpr int64_t kMostNames = 10'000;

// Whether the lock of a directory's index is free, and is taken. The index is removed last: until
// then the rest can be found again.
absl::StatusOr<std::unique_ptr<File>> LockAbandoned(FileSystem& directory) {
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names, directory.List("."));
  if (!std::ranges::all_of(names, BelongsToFrame)) return FailedPrecondition("not a frame");
  const std::string index_name(format::kIndexFileName);
  absl::StatusOr<std::unique_ptr<File>> index = directory.Open(index_name, FileMode::kReadWrite);
  // Its writer died before it made one, or will find ours and make another directory.
  if (absl::IsNotFound(index.status())) index = directory.Open(index_name, FileMode::kCreateNew);
  CAIRN_RETURN_IF_ERROR(index.status());
  CAIRN_RETURN_IF_ERROR(LockNamed(directory, index_name, **index));
  CAIRN_RETURN_IF_ERROR((*index)->LockByte(kReaderLockByte, LockMode::kExclusive));
  return index;
}

void RemoveIfAbandoned(FileSystem& around, const std::string& name) {
  absl::StatusOr<std::unique_ptr<File>> locked;
  if (const auto directory = around.OpenDirectory(name); directory.ok()) {
    locked = LockAbandoned(**directory);
  } else if (locked = around.Open(name, FileMode::kReadWrite); locked.ok()) {
    if (!LockNamed(around, name, **locked).ok()) return;
  }
  if (locked.ok()) RemoveFrame(around, name);
}

}  // namespace

void RemoveAbandoned(const FrameLocation& location) {
  FileSystem& files = location.is_sparse() ? *location.outer_files : *location.files;
  const std::string target =
      TargetOf(files, location.is_sparse() ? location.outer_path : location.path);
  const size_t slash = target.rfind('/');
  const std::string base = target.substr(slash + 1);  // all of it where there is no slash
  const std::string parent =
      slash == std::string::npos ? "." : target.substr(0, std::max<size_t>(slash, 1));
  // Opened, it follows no links.
  const auto around = files.OpenDirectory(parent);
  if (!around.ok()) return;
  const auto names = (*around)->ListSome(".", base + ".", kMostNames);
  if (!names.ok()) return;
  bool synced = false;
  for (const std::string& name : *names) {
    if (!format::IsTemporaryNameOf(base, name)) continue;
    // It may be the old frame: that goes only when the new one has its name for good.
    if (!synced && !(*around)->SyncDirectoryOf(".").ok()) return;
    synced = true;
    RemoveIfAbandoned(**around, name);
  }
}

}  // namespace cairn::frame
