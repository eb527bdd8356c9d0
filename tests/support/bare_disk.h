// A disk that holds so many bytes and not one more, with a file system that can neither reserve
// space nor make holes: a write that finds the disk full is cut short there, at any byte.
#ifndef CAIRN_TESTS_SUPPORT_BARE_DISK_H_
#define CAIRN_TESTS_SUPPORT_BARE_DISK_H_

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/forwarding_file.h"
#include "cairn/types.h"

namespace cairn::test {

// Counts what is left of the disk. A file takes its size; to remove it gives nothing back.
using FreeBytes = std::shared_ptr<int64_t>;

class BareFile final : public ForwardingFile {
 public:
  BareFile(std::unique_ptr<File> base, FreeBytes free)
      : ForwardingFile(std::move(base)), free_(std::move(free)) {}

  absl::Status WriteAt(int64_t offset, Bytes src) override {
    const absl::StatusOr<int64_t> size = Size();
    if (!size.ok()) return size.status();
    const int64_t more = std::max<int64_t>(offset + std::ssize(src) - *size, 0);
    const int64_t missing = std::max<int64_t>(more - *free_, 0);
    const int64_t written = std::max<int64_t>(std::ssize(src) - missing, 0);
    *free_ -= more - missing;
    if (written > 0) {
      const absl::Status status =
          ForwardingFile::WriteAt(offset, src.first(static_cast<size_t>(written)));
      if (!status.ok()) return status;
    }
    return missing > 0 ? absl::ResourceExhaustedError("the bare disk is full") : absl::OkStatus();
  }
  absl::Status Truncate(int64_t size) override {
    const absl::StatusOr<int64_t> before = Size();
    if (!before.ok()) return before.status();
    *free_ += std::max<int64_t>(*before - size, 0);
    return ForwardingFile::Truncate(size);
  }
  absl::Status Reserve(int64_t) override { return Unable(); }
  absl::Status Allocate(int64_t, int64_t) override { return Unable(); }
  absl::Status PunchHole(int64_t, int64_t) override { return Unable(); }

 private:
  static absl::Status Unable() { return absl::UnimplementedError("the file system is bare"); }

  const FreeBytes free_;
};

class BareFiles final : public ForwardingFileSystem {
 public:
  BareFiles(std::shared_ptr<FileSystem> base, FreeBytes free)
      : ForwardingFileSystem(std::move(base)), free_(std::move(free)) {}

 private:
  absl::StatusOr<std::unique_ptr<File>> WrapFile(std::unique_ptr<File> file, const std::string&,
                                                 FileMode) override {
    return std::make_unique<BareFile>(std::move(file), free_);
  }
  std::shared_ptr<FileSystem> WrapDirectory(std::shared_ptr<FileSystem> directory,
                                            const std::string&) override {
    return std::make_shared<BareFiles>(std::move(directory), free_);
  }

  const FreeBytes free_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_BARE_DISK_H_
