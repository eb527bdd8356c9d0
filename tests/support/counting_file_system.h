// Files that count the system calls that reading costs, and can show a wrong map.
#ifndef CAIRN_TESTS_SUPPORT_COUNTING_FILE_SYSTEM_H_
#define CAIRN_TESTS_SUPPORT_COUNTING_FILE_SYSTEM_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cairn/file_system.h"

namespace cairn::test {

struct ReadingCalls {
  std::atomic<int64_t> calls = 0;      // of any kind, by path or by descriptor
  std::atomic<int64_t> bytes = 0;      // read without a map
  std::atomic<bool> bad_maps = false;  // maps made from now on show inverted bytes
};

// A map with other bytes than the file's.
class InvertedMapping final : public Mapping {
 public:
  explicit InvertedMapping(Bytes bytes) : bytes_(bytes.begin(), bytes.end()) {
    for (std::byte& byte : bytes_) byte = ~byte;
  }
  Bytes bytes() const override { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class CountingFile final : public File {
 public:
  CountingFile(std::unique_ptr<File> base, ReadingCalls* calls)
      : base_(std::move(base)), calls_(*calls) {}

  absl::StatusOr<int64_t> Size() const override { return Count(), base_->Size(); }
  absl::StatusOr<int64_t> AllocatedSize() const override { return Count(), base_->AllocatedSize(); }
  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override {
    return Count(dst.size()), base_->ReadAt(offset, dst);
  }
  absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const override {
    return Count(dst.size()), base_->ReadSome(offset, dst);
  }
  absl::Status WriteAt(int64_t offset, Bytes src) override { return base_->WriteAt(offset, src); }
  absl::Status Truncate(int64_t size) override { return base_->Truncate(size); }
  absl::Status Reserve(int64_t size) override { return base_->Reserve(size); }
  absl::Status ReservePastEnd(int64_t size) override { return base_->ReservePastEnd(size); }
  absl::Status PunchHole(int64_t offset, int64_t size) override {
    return base_->PunchHole(offset, size);
  }
  absl::Status Sync(SyncMode mode) override { return base_->Sync(mode); }
  absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t offset, int64_t size,
                                                     int64_t room) const override {
    Count();
    if (!calls_.bad_maps) return base_->Map(offset, size, room);
    absl::StatusOr<std::shared_ptr<const Mapping>> good = base_->Map(offset, size, 0);
    if (!good.ok()) return good;
    return std::make_shared<InvertedMapping>((*good)->bytes());
  }
  absl::StatusOr<FileIdentity> Identity() const override { return Count(), base_->Identity(); }
  absl::Status LockByte(int64_t offset, LockMode mode) override {
    return Count(), base_->LockByte(offset, mode);
  }
  absl::Status WaitForByte(int64_t offset, std::chrono::milliseconds timeout) override {
    return Count(), base_->WaitForByte(offset, timeout);
  }
  absl::StatusOr<bool> HasWaiters(int64_t offset) const override {
    return Count(), base_->HasWaiters(offset);
  }
  absl::Status UnlockByte(int64_t offset) override { return Count(), base_->UnlockByte(offset); }
  absl::StatusOr<bool> IsLocked(int64_t offset, int64_t count) const override {
    return Count(), base_->IsLocked(offset, count);
  }
  absl::Status LockWhole() override { return Count(), base_->LockWhole(); }

 private:
  void Count(size_t bytes = 0) const {
    ++calls_.calls;
    calls_.bytes += static_cast<int64_t>(bytes);
  }

  const std::unique_ptr<File> base_;
  ReadingCalls& calls_;
};

// Gives the operating system's files. Operations on directories themselves are not counted.
class CountingFileSystem final : public FileSystem {
 public:
  CountingFileSystem() = default;
  CountingFileSystem(std::shared_ptr<FileSystem> directory, std::shared_ptr<ReadingCalls> reading)
      : directory_(std::move(directory)), base_(directory_.get()), reading_(std::move(reading)) {}

  ReadingCalls& reading() { return *reading_; }
  int64_t calls() const { return reading_->calls; }

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    ++reading_->calls;
    absl::StatusOr<std::unique_ptr<File>> file = base_->Open(path, mode);
    if (!file.ok()) return file;
    return std::make_unique<CountingFile>(*std::move(file), reading_.get());
  }
  absl::StatusOr<std::shared_ptr<FileSystem>> OpenDirectory(const std::string& path) override {
    absl::StatusOr<std::shared_ptr<FileSystem>> directory = base_->OpenDirectory(path);
    if (!directory.ok()) return directory;
    return std::make_shared<CountingFileSystem>(*std::move(directory), reading_);
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
    return base_->List(path);
  }
  absl::Status Rename(const std::string& from, const std::string& to, bool replace) override {
    return base_->Rename(from, to, replace);
  }
  absl::Status Remove(const std::string& path) override { return base_->Remove(path); }
  absl::Status SyncDirectoryOf(const std::string& path) override {
    return base_->SyncDirectoryOf(path);
  }
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override {
    ++reading_->calls;
    return base_->Identity(path);
  }
  uint64_t BootId() const override { return base_->BootId(); }

 private:
  const std::shared_ptr<FileSystem> directory_;
  FileSystem* const base_ = PosixFileSystem();
  const std::shared_ptr<ReadingCalls> reading_ = std::make_shared<ReadingCalls>();
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_COUNTING_FILE_SYSTEM_H_
