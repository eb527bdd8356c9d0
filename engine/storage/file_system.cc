// Implements the defaults of a file system without reserves, queues, permissions or directories.
#include "cairn/file_system.h"

#include "engine/base/deadline.h"
#include "engine/base/status.h"

namespace cairn {

namespace {

absl::Status HasNoDirectories(const std::string& path) {
  return AtPath(path, Unimplemented("this file system has no directories"));
}

}  // namespace

absl::Status File::Allocate(int64_t offset, int64_t size) {
  return Unimplemented("this file system cannot reserve %d bytes at %d", size, offset);
}

absl::StatusOr<int64_t> File::ModifiedAt() const {
  return Unimplemented("this file system does not tell when a file was written");
}

absl::Status File::WaitForByte(int64_t offset, std::chrono::milliseconds timeout) {
  return RetryUnavailable(timeout, [&] { return LockByte(offset, LockMode::kExclusive); });
}

absl::StatusOr<std::unique_ptr<FileWatch>> File::Watch() const {
  return Unimplemented("this file system does not tell when a file changes");
}

absl::StatusOr<std::unique_ptr<File>> FileSystem::CreateFor(const std::string& path,
                                                            const std::string& /*old*/) {
  return Open(path, FileMode::kCreateNew);
}

absl::StatusOr<std::shared_ptr<FileSystem>> FileSystem::OpenDirectory(const std::string& path) {
  return HasNoDirectories(path);
}

absl::Status FileSystem::MakeDirectory(const std::string& path) { return HasNoDirectories(path); }

absl::Status FileSystem::MakeDirectoryFor(const std::string& path, const std::string& /*old*/) {
  return MakeDirectory(path);
}

absl::Status FileSystem::RemoveDirectory(const std::string& path) { return HasNoDirectories(path); }

absl::StatusOr<std::vector<std::string>> FileSystem::List(const std::string& path) {
  return HasNoDirectories(path);
}

absl::StatusOr<std::vector<std::string>> FileSystem::ListSome(const std::string& path,
                                                              std::string_view prefix,
                                                              int64_t /*most*/) {
  CAIRN_ASSIGN_OR_RETURN(std::vector<std::string> names, List(path));
  std::erase_if(names, [&](const std::string& name) { return !name.starts_with(prefix); });
  return names;
}

absl::Status FileSystem::Exchange(const std::string& a, const std::string& b) {
  return AtPath(a, Unimplemented("this file system cannot exchange it with %s", b));
}

}  // namespace cairn
