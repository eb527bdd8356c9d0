// Files that count the system calls that reading costs, and can show wrong bytes.
#ifndef CAIRN_TESTS_SUPPORT_COUNTING_FILE_SYSTEM_H_
#define CAIRN_TESTS_SUPPORT_COUNTING_FILE_SYSTEM_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cairn/file_system.h"
#include "cairn/forwarding_file.h"

namespace cairn::test {

struct ReadingCalls {
  std::atomic<int64_t> calls = 0;      // of any kind, by path or by descriptor
  std::atomic<int64_t> bytes = 0;      // read without a map
  std::atomic<bool> bad_maps = false;  // maps made from now on show inverted bytes
  std::atomic<int> bad_reads = 0;      // so many of the next long reads give inverted bytes
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

class CountingFile final : public ForwardingFile {
 public:
  CountingFile(std::unique_ptr<File> base, ReadingCalls* calls)
      : ForwardingFile(std::move(base)), calls_(*calls) {}

  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override {
    calls_.bytes += std::ssize(dst);
    const absl::Status status = ForwardingFile::ReadAt(offset, dst);
    SpoilIfAsked(dst);
    return status;
  }
  absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const override {
    calls_.bytes += std::ssize(dst);
    const absl::StatusOr<size_t> size = ForwardingFile::ReadSome(offset, dst);
    SpoilIfAsked(dst);
    return size;
  }
  // The next three make no system call.
  int64_t read_ahead() const override { return ForwardingFile::base().read_ahead(); }
  bool is_immutable() const override { return ForwardingFile::base().is_immutable(); }
  void WillRead(std::span<const FileRange> ranges) const override {
    ForwardingFile::base().WillRead(ranges);
  }
  absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t offset, int64_t size,
                                                     int64_t room) const override {
    if (!calls_.bad_maps) return ForwardingFile::Map(offset, size, room);
    absl::StatusOr<std::shared_ptr<const Mapping>> good = ForwardingFile::Map(offset, size, 0);
    if (!good.ok()) return good;
    return std::make_shared<InvertedMapping>((*good)->bytes());
  }

 private:
  File& base() const override {
    ++calls_.calls;
    return ForwardingFile::base();
  }

  void SpoilIfAsked(MutableBytes bytes) const {
    constexpr size_t kLong = 1024;
    if (bytes.size() < kLong || calls_.bad_reads == 0) return;
    --calls_.bad_reads;
    for (std::byte& byte : bytes) byte = ~byte;
  }

  ReadingCalls& calls_;
};

// Gives the operating system's files. Operations on directories themselves are not counted.
class CountingFileSystem final : public ForwardingFileSystem {
 public:
  CountingFileSystem() : ForwardingFileSystem(PosixFileSystem()) {}
  CountingFileSystem(std::shared_ptr<FileSystem> directory, std::shared_ptr<ReadingCalls> reading)
      : ForwardingFileSystem(std::move(directory)), reading_(std::move(reading)) {}

  ReadingCalls& reading() { return *reading_; }
  int64_t calls() const { return reading_->calls; }

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    ++reading_->calls;
    return ForwardingFileSystem::Open(path, mode);
  }
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override {
    ++reading_->calls;
    return ForwardingFileSystem::Identity(path);
  }

 private:
  absl::StatusOr<std::unique_ptr<File>> WrapFile(std::unique_ptr<File> file, const std::string&,
                                                 FileMode) override {
    return std::make_unique<CountingFile>(std::move(file), reading_.get());
  }
  std::shared_ptr<FileSystem> WrapDirectory(std::shared_ptr<FileSystem> directory,
                                            const std::string&) override {
    return std::make_shared<CountingFileSystem>(std::move(directory), reading_);
  }

  const std::shared_ptr<ReadingCalls> reading_ = std::make_shared<ReadingCalls>();
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_COUNTING_FILE_SYSTEM_H_
