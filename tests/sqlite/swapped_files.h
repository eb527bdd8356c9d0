// The files of a VFS, which lives as long as the process: those of one disk after the other.
#ifndef CAIRN_TESTS_SQLITE_SWAPPED_FILES_H_
#define CAIRN_TESTS_SQLITE_SWAPPED_FILES_H_

#include <memory>
#include <string>

#include "cairn/file_system.h"

namespace cairn::test {

class SwappedFiles final : public FileSystem {
 public:
  // From now on these. No connection of the VFS is open.
  void Set(FileSystem* files) { files_ = files; }

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    return files_->Open(path, mode);
  }
  absl::Status Rename(const std::string& from, const std::string& to, bool replace) override {
    return files_->Rename(from, to, replace);
  }
  absl::Status Remove(const std::string& path) override { return files_->Remove(path); }
  absl::Status SyncDirectoryOf(const std::string& path) override {
    return files_->SyncDirectoryOf(path);
  }
  absl::Status Exchange(const std::string& a, const std::string& b) override {
    return files_->Exchange(a, b);
  }
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override {
    return files_->Identity(path);
  }
  uint64_t BootId() const override { return files_->BootId(); }

 private:
  FileSystem* files_ = nullptr;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SQLITE_SWAPPED_FILES_H_
