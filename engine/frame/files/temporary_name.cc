#include "engine/frame/files/temporary_name.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/frame/files/replacement.h"

namespace cairn::frame {

namespace {

// Of a directory so many names are looked at. That takes a few milliseconds, as a sync does; a
// directory of a million frames must not cost each writer all of its names.
constexpr int64_t kMostNames = 10'000;

// With the lock of its index, which is removed last: until then the rest can be found again.
void RemoveAbandonedDirectory(FileSystem& around, const std::string& name, FileSystem& directory) {
  const std::string index_name(format::kIndexFileName);
  const auto names = directory.List(".");
  if (!names.ok() || !std::ranges::all_of(*names, BelongsToFrame)) return;
  absl::StatusOr<std::unique_ptr<File>> index = directory.Open(index_name, FileMode::kReadWrite);
  // Its writer died before it made one, or will find ours and make another directory.
  if (absl::IsNotFound(index.status())) index = directory.Open(index_name, FileMode::kCreateNew);
  if (!index.ok() || !LockNamed(directory, index_name, **index).ok() ||
      !(*index)->LockByte(kReaderLockByte, LockMode::kExclusive).ok()) {
    return;
  }
  RemoveSparseFrame(&around, name);
}

void RemoveIfAbandoned(FileSystem& around, const std::string& name) {
  if (const auto directory = around.OpenDirectory(name); directory.ok()) {
    return RemoveAbandonedDirectory(around, name, **directory);
  }
  const auto file = around.Open(name, FileMode::kReadWrite);
  if (!file.ok() || !LockNamed(around, name, **file).ok()) return;
  around.Remove(name).IgnoreError();
}

}  // namespace

std::string TargetOf(FileSystem& files, const std::string& path) {
  std::string target = files.Resolve(path);
  while (target.size() > 1 && target.ends_with('/')) target.pop_back();
  return target;
}

std::string TemporaryName(const std::string& target) {
  return absl::StrFormat("%s.%016x.tmp", target, RandomNumber());
}

absl::Status LockNamed(FileSystem& files, const std::string& name, File& file) {
  const absl::Status locked = file.LockByte(kWriterLockByte, LockMode::kExclusive);
  if (absl::IsUnavailable(locked)) return absl::AbortedError(locked.message());
  CAIRN_RETURN_IF_ERROR(locked);
  CAIRN_ASSIGN_OR_RETURN(const bool there, RefersTo({.files = &files, .path = name}, file));
  if (there) return absl::OkStatus();
  return absl::AbortedError(absl::StrFormat("%s was removed while it was made", name));
}

void RemoveAbandoned(const FrameLocation& place) {
  const bool sparse = place.outer_files != nullptr;
  FileSystem* const files = sparse ? place.outer_files : place.files;
  if (files == nullptr) return;
  const std::string target = TargetOf(*files, sparse ? place.outer_path : place.path);
  const size_t slash = target.rfind('/');
  const std::string base = target.substr(slash + 1);  // all of it where there is no slash
  const std::string parent =
      slash == std::string::npos ? "." : target.substr(0, std::max<size_t>(slash, 1));
  // Opened, it follows no links.
  const auto around = files->OpenDirectory(parent);
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
