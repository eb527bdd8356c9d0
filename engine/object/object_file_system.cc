#include "engine/base/status.h"
#include "engine/format/sparse_names.h"
#include "engine/object/object_directory.h"
#include "engine/object/scoped_object_store.h"
namespace cairn {
namespace {
class Root final : public FileSystem {
 public:
  Root(std::shared_ptr<ObjectStore> store, ObjectFileOptions options)
      : store_(store), options_(options) {}
  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode) override {
    return NotFound("%s", path);
  }
  absl::Status Rename(const std::string&, const std::string&, bool) override {
    return absl::UnimplementedError("x");
  }
  absl::Status Remove(const std::string&) override { return absl::UnimplementedError("x"); }
  absl::Status SyncDirectoryOf(const std::string&) override { return absl::OkStatus(); }
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override {
    return NotFound("%s", path);
  }
  absl::StatusOr<std::shared_ptr<FileSystem>> OpenDirectory(const std::string& path) override {
    return std::make_shared<object::ObjectDirectory>(
        std::make_shared<object::ScopedObjectStore>(store_, path + "/"), options_.grace);
  }
  ObjectDirectoryInfo ObjectsIn(const std::string& path) override {
    return {std::make_shared<object::ScopedObjectStore>(store_, path + "/"), options_.grace};
  }
  std::shared_ptr<ObjectStore> store_;
  ObjectFileOptions options_;
};
}  // namespace
std::shared_ptr<FileSystem> MakeObjectFileSystem(std::shared_ptr<ObjectStore> store,
                                                 ObjectFileOptions options) {
  return std::make_shared<Root>(store, options);
}
}  // namespace cairn
