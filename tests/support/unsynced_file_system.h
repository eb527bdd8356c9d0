// Files that are never synced, for tests that make thousands of files and cut no power.
#ifndef CAIRN_TESTS_SUPPORT_UNSYNCED_FILE_SYSTEM_H_
#define CAIRN_TESTS_SUPPORT_UNSYNCED_FILE_SYSTEM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "cairn/file_system.h"
#include "cairn/forwarding_file.h"

namespace cairn::test {

class UnsyncedFile : public ForwardingFile {
 public:
  using ForwardingFile::ForwardingFile;
  absl::Status Sync(SyncMode /*mode*/) override { return absl::OkStatus(); }
  void SyncSoon(int64_t /*offset*/, int64_t /*size*/) override {}
};

class UnsyncedFileSystem : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;
  UnsyncedFileSystem() : ForwardingFileSystem(PosixFileSystem()) {}
  absl::Status SyncDirectoryOf(const std::string& /*path*/) override { return absl::OkStatus(); }

 protected:
  absl::StatusOr<std::unique_ptr<File>> WrapFile(std::unique_ptr<File> file, const std::string&,
                                                 FileMode) override {
    return std::make_unique<UnsyncedFile>(std::move(file));
  }
  std::shared_ptr<FileSystem> WrapDirectory(std::shared_ptr<FileSystem> directory,
                                            const std::string&) override {
    return std::make_shared<UnsyncedFileSystem>(std::move(directory));
  }
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_UNSYNCED_FILE_SYSTEM_H_
