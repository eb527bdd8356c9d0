#include "engine/collection/held/writer_files.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/forwarding_file.h"

namespace cairn::collection {

namespace {

class WriterFiles final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;

  absl::StatusOr<std::vector<std::string>> ListSome(const std::string&, std::string_view,
                                                    int64_t) override {
    return std::vector<std::string>();
  }
  absl::Status SyncDirectoryOf(const std::string&) override { return absl::OkStatus(); }

 protected:
  std::shared_ptr<FileSystem> WrapDirectory(std::shared_ptr<FileSystem> directory,
                                            const std::string&) override {
    return std::make_shared<WriterFiles>(std::move(directory));
  }
};

}  // namespace

std::shared_ptr<FileSystem> FilesOfWriters(std::shared_ptr<FileSystem> files) {
  return std::make_shared<WriterFiles>(std::move(files));
}

}  // namespace cairn::collection
