#include "engine/blosc2_api/files/unsynced_files.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/forwarding_file.h"

namespace cairn::blosc2_api {

namespace {

class UnsyncedFile final : public ForwardingFile {
 public:
  using ForwardingFile::ForwardingFile;

  absl::Status Sync(SyncMode /*mode*/) override { return absl::OkStatus(); }
  void SyncSoon(int64_t /*offset*/, int64_t /*size*/) override {}
};

class UnsyncedFiles final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;

  absl::Status SyncDirectoryOf(const std::string& /*path*/) override { return absl::OkStatus(); }

 protected:
  absl::StatusOr<std::unique_ptr<File>> WrapFile(std::unique_ptr<File> file,
                                                 const std::string& /*path*/,
                                                 FileMode /*mode*/) override {
    return std::make_unique<UnsyncedFile>(std::move(file));
  }
  std::shared_ptr<FileSystem> WrapDirectory(std::shared_ptr<FileSystem> directory,
                                            const std::string& /*path*/) override {
    return std::make_shared<UnsyncedFiles>(std::move(directory));
  }
};

}  // namespace

std::shared_ptr<FileSystem> MakeUnsyncedFiles() {
  return std::make_shared<UnsyncedFiles>(PosixFileSystem());
}

}  // namespace cairn::blosc2_api
