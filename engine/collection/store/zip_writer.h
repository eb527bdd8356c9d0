// Writes a zip file of files that are stored as they are, so that readers find each where it lies.
#ifndef CAIRN_ENGINE_COLLECTION_STORE_ZIP_WRITER_H_
#define CAIRN_ENGINE_COLLECTION_STORE_ZIP_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/collection/store/zip_directory.h"

namespace cairn::collection {

// Not thread-safe.
class ZipWriter {
 public:
  // `file` is empty and open for writing.
  explicit ZipWriter(std::shared_ptr<File> file) : file_(std::move(file)) {}

  // Adds a file, which `write` makes in the file system that it gets, under any path. That file
  // system can hold one file.
  absl::Status Add(const std::string& name,
                   absl::FunctionRef<absl::Status(std::shared_ptr<FileSystem>)> write);
  // Writes the directory and syncs the file. Nothing may follow.
  absl::Status Finish();

 private:
  const std::shared_ptr<File> file_;
  int64_t end_ = 0;
  std::vector<ZipEntry> entries_;
};

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_STORE_ZIP_WRITER_H_
