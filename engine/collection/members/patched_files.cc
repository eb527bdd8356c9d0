#include "engine/collection/members/patched_files.h"

#include <algorithm>
#include <utility>

#include "cairn/forwarding_file.h"
#include "engine/base/status.h"

namespace cairn::collection {

namespace {

using Patches = std::shared_ptr<const std::vector<FilePatch>>;

class PatchedFile final : public ForwardingFile {
 public:
  PatchedFile(std::unique_ptr<File> file, Patches patches)
      : ForwardingFile(std::move(file)), patches_(std::move(patches)) {}

  // A writer may put the patches into the file meanwhile, which changes nothing.
  absl::StatusOr<int64_t> Size() const override {
    CAIRN_ASSIGN_OR_RETURN(int64_t size, base().Size());
    for (const FilePatch& patch : *patches_) size = std::max(size, patch.end());
    return size;
  }
  absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const override {
    CAIRN_ASSIGN_OR_RETURN(const int64_t size, Size());
    return ReadPatched(base(), size, *patches_, offset, dst);
  }
  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override {
    CAIRN_ASSIGN_OR_RETURN(const size_t read, ReadSome(offset, dst));
    if (read == dst.size()) return absl::OkStatus();
    return OutOfRange("the file ends %d bytes after byte %d; expected %d", read, offset,
                      dst.size());
  }
  absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t, int64_t, int64_t) const override {
    return Unimplemented("a file with patches is not mapped");
  }

 private:
  const Patches patches_;
};

class PatchedFiles final : public ForwardingFileSystem {
 public:
  PatchedFiles(std::shared_ptr<FileSystem> files, std::string path, std::vector<FilePatch> patches)
      : ForwardingFileSystem(std::move(files)),
        path_(std::move(path)),
        patches_(std::make_shared<const std::vector<FilePatch>>(std::move(patches))) {}

 protected:
  absl::StatusOr<std::unique_ptr<File>> WrapFile(std::unique_ptr<File> file,
                                                 const std::string& path, FileMode) override {
    if (path != path_) return file;
    return std::make_unique<PatchedFile>(std::move(file), patches_);
  }

 private:
  const std::string path_;
  const Patches patches_;
};

}  // namespace

std::shared_ptr<FileSystem> ShowPatched(std::shared_ptr<FileSystem> files, std::string path,
                                        std::vector<FilePatch> patches) {
  return std::make_shared<PatchedFiles>(std::move(files), std::move(path), std::move(patches));
}

}  // namespace cairn::collection
