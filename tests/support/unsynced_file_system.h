// Files that are never synced, for tests that make thousands of files and cut no power.
#ifndef CAIRN_TESTS_SUPPORT_UNSYNCED_FILE_SYSTEM_H_
#define CAIRN_TESTS_SUPPORT_UNSYNCED_FILE_SYSTEM_H_

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cairn/file_system.h"

namespace cairn::test {

class UnsyncedFile : public File {
 public:
  explicit UnsyncedFile(std::unique_ptr<File> base) : base_(std::move(base)) {}

  absl::StatusOr<int64_t> Size() const override { return base_->Size(); }
  absl::StatusOr<int64_t> AllocatedSize() const override { return base_->AllocatedSize(); }
  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override {
    return base_->ReadAt(offset, dst);
  }
  absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const override {
    return base_->ReadSome(offset, dst);
  }
  absl::Status WriteAt(int64_t offset, Bytes src) override { return base_->WriteAt(offset, src); }
  absl::Status Truncate(int64_t size) override { return base_->Truncate(size); }
  absl::Status Reserve(int64_t size) override { return base_->Reserve(size); }
  absl::Status ReservePastEnd(int64_t size) override { return base_->ReservePastEnd(size); }
  absl::Status PunchHole(int64_t offset, int64_t size) override {
    return base_->PunchHole(offset, size);
  }
  absl::Status Sync(SyncMode /*mode*/) override { return absl::OkStatus(); }
  absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t offset, int64_t size,
                                                     int64_t room) const override {
    return base_->Map(offset, size, room);
  }
  absl::StatusOr<FileIdentity> Identity() const override { return base_->Identity(); }
  absl::Status LockByte(int64_t offset, LockMode mode) override {
    return base_->LockByte(offset, mode);
  }
  absl::Status WaitForByte(int64_t offset, std::chrono::milliseconds timeout) override {
    return base_->WaitForByte(offset, timeout);
  }
  absl::StatusOr<bool> HasWaiters(int64_t offset) const override {
    return base_->HasWaiters(offset);
  }
  absl::Status UnlockByte(int64_t offset) override { return base_->UnlockByte(offset); }
  absl::StatusOr<bool> IsLocked(int64_t offset, int64_t count) const override {
    return base_->IsLocked(offset, count);
  }
  absl::Status LockWhole() override { return base_->LockWhole(); }

 private:
  const std::unique_ptr<File> base_;
};

class UnsyncedFileSystem : public FileSystem {
 public:
  UnsyncedFileSystem() = default;
  explicit UnsyncedFileSystem(std::shared_ptr<FileSystem> base)
      : owned_(std::move(base)), base_(owned_.get()) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    absl::StatusOr<std::unique_ptr<File>> file = base_->Open(path, mode);
    if (!file.ok()) return file;
    return std::make_unique<UnsyncedFile>(*std::move(file));
  }
  absl::Status Rename(const std::string& from, const std::string& to, bool replace) override {
    return base_->Rename(from, to, replace);
  }
  absl::Status Remove(const std::string& path) override { return base_->Remove(path); }
  absl::Status SyncDirectoryOf(const std::string& /*path*/) override { return absl::OkStatus(); }
  absl::StatusOr<std::shared_ptr<FileSystem>> OpenDirectory(const std::string& path) override {
    absl::StatusOr<std::shared_ptr<FileSystem>> directory = base_->OpenDirectory(path);
    if (!directory.ok()) return directory;
    return std::make_shared<UnsyncedFileSystem>(*std::move(directory));
  }
  absl::Status MakeDirectory(const std::string& path) override {
    return base_->MakeDirectory(path);
  }
  absl::Status RemoveDirectory(const std::string& path) override {
    return base_->RemoveDirectory(path);
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
    return base_->List(path);
  }
  absl::Status Exchange(const std::string& a, const std::string& b) override {
    return base_->Exchange(a, b);
  }
  std::string Resolve(const std::string& path) override { return base_->Resolve(path); }
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override {
    return base_->Identity(path);
  }
  uint64_t BootId() const override { return base_->BootId(); }

 private:
  const std::shared_ptr<FileSystem> owned_;  // empty for the operating system's
  FileSystem* const base_ = PosixFileSystem();
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_UNSYNCED_FILE_SYSTEM_H_
