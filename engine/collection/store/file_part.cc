#include "engine/collection/store/file_part.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "cairn/forwarding_file.h"
#include "engine/base/mutex.h"
#include "engine/base/status.h"

namespace cairn::collection {

namespace {

// The end of the file is that of the part.
class FilePart final : public ForwardingFile {
 public:
  FilePart(std::shared_ptr<File> whole, int64_t begin)
      : ForwardingFile(nullptr), whole_(std::move(whole)), begin_(begin) {}

  absl::StatusOr<int64_t> Size() const override {
    CAIRN_ASSIGN_OR_RETURN(const int64_t size, whole_->Size());
    return std::max<int64_t>(size - begin_, 0);
  }
  absl::StatusOr<int64_t> AllocatedSize() const override { return Size(); }
  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override {
    return whole_->ReadAt(begin_ + offset, dst);
  }
  absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const override {
    return whole_->ReadSome(begin_ + offset, dst);
  }
  absl::Status WriteAt(int64_t offset, Bytes src) override {
    return whole_->WriteAt(begin_ + offset, src);
  }
  absl::Status Truncate(int64_t size) override { return whole_->Truncate(begin_ + size); }
  absl::Status Reserve(int64_t) override { return Refused("reserved"); }
  absl::Status Allocate(int64_t, int64_t) override { return Refused("reserved"); }
  absl::Status PunchHole(int64_t, int64_t) override { return Refused("punched"); }
  absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t, int64_t, int64_t) const override {
    return Refused("mapped");
  }
  absl::Status Sync(SyncMode) override { return absl::OkStatus(); }
  void SyncSoon(int64_t, int64_t) override {}
  absl::Status LockByte(int64_t, LockMode) override { return absl::OkStatus(); }
  absl::Status WaitForByte(int64_t, std::chrono::milliseconds) override { return absl::OkStatus(); }
  absl::Status UnlockByte(int64_t) override { return absl::OkStatus(); }
  absl::StatusOr<bool> IsLocked(int64_t, int64_t) const override { return false; }
  absl::Status LockWhole() override { return absl::OkStatus(); }

 protected:
  File& base() const override { return *whole_; }

 private:
  static absl::Status Refused(std::string_view what) {
    return Unimplemented("a part of a file is not %s", what);
  }

  const std::shared_ptr<File> whole_;
  const int64_t begin_;
};

class PartFiles final : public FileSystem {
 public:
  PartFiles(std::shared_ptr<File> whole, int64_t begin) : whole_(std::move(whole)), begin_(begin) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    const MutexLock lock(mutex_);
    if (mode == FileMode::kCreateNew) name_ = path;
    if (path != name_) return IsMissing(path);
    return std::make_unique<FilePart>(whole_, begin_);
  }
  absl::Status Rename(const std::string& from, const std::string& to, bool) override {
    const MutexLock lock(mutex_);
    if (from != name_) return IsMissing(from);
    name_ = to;
    return absl::OkStatus();
  }
  absl::Status Remove(const std::string& path) override {
    const MutexLock lock(mutex_);
    if (path != name_) return IsMissing(path);
    name_.clear();
    return whole_->Truncate(begin_);
  }
  absl::Status SyncDirectoryOf(const std::string&) override { return absl::OkStatus(); }
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override {
    const MutexLock lock(mutex_);
    if (path != name_) return IsMissing(path);
    return whole_->Identity();
  }

 private:
  static absl::Status IsMissing(const std::string& path) {
    return NotFound("%s: is missing", path);
  }

  const std::shared_ptr<File> whole_;
  const int64_t begin_;
  Mutex mutex_;
  std::string name_ ABSL_GUARDED_BY(mutex_);  // of the file, once it is made
};

}  // namespace

std::shared_ptr<FileSystem> MakePart(std::shared_ptr<File> whole, int64_t begin) {
  return std::make_shared<PartFiles>(std::move(whole), begin);
}

}  // namespace cairn::collection
