#include "tools/bench/data/counting_files.h"

#include <chrono>
#include <utility>

namespace cairn::bench {

namespace {

class CountingFile final : public File {
 public:
  CountingFile(std::unique_ptr<File> base, Counts* counts)
      : base_(std::move(base)), counts_(*counts) {}

  absl::StatusOr<int64_t> Size() const override { return Called().Size(); }
  absl::StatusOr<int64_t> AllocatedSize() const override { return Called().AllocatedSize(); }
  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override {
    return Called().ReadAt(offset, dst);
  }
  absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const override {
    return Called().ReadSome(offset, dst);
  }
  absl::Status WriteAt(int64_t offset, Bytes src) override {
    ++counts_.writes;
    counts_.bytes_written += static_cast<int64_t>(src.size());
    if (offset == 0) ++counts_.header_writes;
    return Called().WriteAt(offset, src);
  }
  absl::Status Truncate(int64_t size) override { return Called().Truncate(size); }
  absl::Status Reserve(int64_t size) override { return Called().Reserve(size); }
  absl::Status ReservePastEnd(int64_t size) override { return Called().ReservePastEnd(size); }
  absl::Status PunchHole(int64_t offset, int64_t size) override {
    return Called().PunchHole(offset, size);
  }
  absl::Status Sync(SyncMode mode) override {
    ++counts_.syncs;
    return Called().Sync(mode);
  }
  absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t offset, int64_t size,
                                                     int64_t room) const override {
    return Called().Map(offset, size, room);
  }
  absl::StatusOr<FileIdentity> Identity() const override { return Called().Identity(); }
  absl::Status LockByte(int64_t offset, LockMode mode) override {
    return Called().LockByte(offset, mode);
  }
  absl::Status WaitForByte(int64_t offset, std::chrono::milliseconds timeout) override {
    return Called().WaitForByte(offset, timeout);
  }
  absl::StatusOr<bool> HasWaiters(int64_t offset) const override {
    return Called().HasWaiters(offset);
  }
  absl::Status UnlockByte(int64_t offset) override { return Called().UnlockByte(offset); }
  absl::StatusOr<bool> IsLocked(int64_t offset, int64_t count) const override {
    return Called().IsLocked(offset, count);
  }
  absl::Status LockWhole() override { return Called().LockWhole(); }

 private:
  File& Called() const {
    ++counts_.calls;
    return *base_;
  }

  const std::unique_ptr<File> base_;
  Counts& counts_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<File>> CountingFileSystem::Open(const std::string& path,
                                                               FileMode mode) {
  ++counts_.calls;
  absl::StatusOr<std::unique_ptr<File>> file = base_->Open(path, mode);
  if (!file.ok()) return file;
  return std::make_unique<CountingFile>(*std::move(file), &counts_);
}

absl::Status CountingFileSystem::Rename(const std::string& from, const std::string& to,
                                        bool replace) {
  ++counts_.calls;
  return base_->Rename(from, to, replace);
}

absl::Status CountingFileSystem::Remove(const std::string& path) {
  ++counts_.calls;
  return base_->Remove(path);
}

absl::Status CountingFileSystem::SyncDirectoryOf(const std::string& path) {
  ++counts_.calls;
  ++counts_.syncs;
  return base_->SyncDirectoryOf(path);
}

absl::StatusOr<FileIdentity> CountingFileSystem::Identity(const std::string& path) {
  ++counts_.calls;
  return base_->Identity(path);
}

}  // namespace cairn::bench
