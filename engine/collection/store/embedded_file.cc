#include "engine/collection/store/embedded_file.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "engine/base/checked.h"
#include "engine/base/status.h"

namespace cairn::collection {

namespace {

absl::Status IsReadOnly() { return FailedPrecondition("a value of a store can only be read"); }

// The snapshot never changes, so it is read without locks.
class EmbeddedFile final : public File {
 public:
  EmbeddedFile(Snapshot store, int64_t begin, int64_t size)
      : store_(std::move(store)), begin_(begin), size_(size) {}

  absl::StatusOr<int64_t> Size() const override { return size_; }
  absl::StatusOr<int64_t> AllocatedSize() const override { return size_; }
  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override {
    if (RangeFits(offset, static_cast<int64_t>(dst.size()), size_)) {
      return store_.ReadBytes(begin_ + offset, dst);
    }
    return OutOfRange("%d bytes at byte %d of a value of %d", dst.size(), offset, size_);
  }
  absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const override {
    const int64_t left = std::max<int64_t>(size_ - offset, 0);
    const size_t size = std::min(dst.size(), static_cast<size_t>(left));
    CAIRN_RETURN_IF_ERROR(ReadAt(std::min(offset, size_), dst.first(size)));
    return size;
  }
  bool is_immutable() const override { return true; }
  absl::Status WriteAt(int64_t, Bytes) override { return IsReadOnly(); }
  absl::Status Truncate(int64_t) override { return IsReadOnly(); }
  absl::Status Reserve(int64_t) override { return IsReadOnly(); }
  absl::Status PunchHole(int64_t, int64_t) override { return IsReadOnly(); }
  absl::Status Sync(SyncMode) override { return IsReadOnly(); }
  absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t, int64_t, int64_t) const override {
    return Unimplemented("a value of a store is not mapped");
  }
  absl::StatusOr<FileIdentity> Identity() const override {
    return Unimplemented("a value of a store has no identity");
  }
  absl::Status LockByte(int64_t, LockMode) override { return absl::OkStatus(); }
  absl::Status UnlockByte(int64_t) override { return absl::OkStatus(); }
  absl::StatusOr<bool> IsLocked(int64_t, int64_t) const override { return false; }
  absl::Status LockWhole() override { return IsReadOnly(); }

 private:
  const Snapshot store_;
  const int64_t begin_;
  const int64_t size_;
};

class EmbeddedFiles final : public FileSystem {
 public:
  EmbeddedFiles(Snapshot store, int64_t begin, int64_t size)
      : store_(std::move(store)), begin_(begin), size_(size) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string&, FileMode mode) override {
    if (mode != FileMode::kRead) return IsReadOnly();
    return std::make_unique<EmbeddedFile>(store_, begin_, size_);
  }
  absl::Status Rename(const std::string&, const std::string&, bool) override {
    return IsReadOnly();
  }
  absl::Status Remove(const std::string&) override { return IsReadOnly(); }
  absl::Status SyncDirectoryOf(const std::string&) override { return IsReadOnly(); }
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override {
    return NotFound("%s: has no identity", path);
  }

 private:
  const Snapshot store_;
  const int64_t begin_;
  const int64_t size_;
};

}  // namespace

std::shared_ptr<FileSystem> ShowEmbedded(Snapshot store, int64_t begin, int64_t size) {
  return std::make_shared<EmbeddedFiles>(std::move(store), begin, size);
}

}  // namespace cairn::collection
