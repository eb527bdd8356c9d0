// The files of a VFS, which lives as long as the process: those of one disk after the other.
#ifndef CAIRN_TESTS_SQLITE_SWAPPED_FILES_H_
#define CAIRN_TESTS_SQLITE_SWAPPED_FILES_H_

#include <memory>
#include <utility>

#include "cairn/file_system.h"
#include "cairn/forwarding_file.h"

namespace cairn::test {

class SwappedFiles final : public ForwardingFileSystem {
 public:
  SwappedFiles() : ForwardingFileSystem(std::shared_ptr<FileSystem>()) {}
  // From now on these. No connection of the VFS is open.
  void Set(std::shared_ptr<FileSystem> files) { files_ = std::move(files); }

 private:
  FileSystem& base() const override { return *files_; }

  std::shared_ptr<FileSystem> files_ = nullptr;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SQLITE_SWAPPED_FILES_H_
