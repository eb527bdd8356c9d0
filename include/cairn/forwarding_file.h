// ForwardingFile and ForwardingFileSystem: bases for wrappers of files, which count, delay or fail
// some calls. Each virtual function is forwarded, so a wrapper overrides only what it changes.
//
//   class SlowFile final : public cairn::ForwardingFile {
//    public:
//     using ForwardingFile::ForwardingFile;
//     absl::Status Sync(cairn::SyncMode mode) override {
//       std::this_thread::sleep_for(std::chrono::milliseconds(10));
//       return ForwardingFile::Sync(mode);
//     }
//   };
//
//   class SlowFiles final : public cairn::ForwardingFileSystem {
//    public:
//     using ForwardingFileSystem::ForwardingFileSystem;
//
//    protected:
//     absl::StatusOr<std::unique_ptr<cairn::File>> WrapFile(std::unique_ptr<cairn::File> file,
//                                                           const std::string&,
//                                                           cairn::FileMode) override {
//       return std::make_unique<SlowFile>(std::move(file));
//     }
//   };
#ifndef CAIRN_FORWARDING_FILE_H_
#define CAIRN_FORWARDING_FILE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/types.h"

namespace cairn {

// Forwards each call to another file, which it owns.
class CAIRN_EXPORT ForwardingFile : public File {
 public:
  explicit ForwardingFile(std::unique_ptr<File> base) : base_(std::move(base)) {}

  absl::StatusOr<int64_t> Size() const override { return base().Size(); }
  absl::StatusOr<int64_t> AllocatedSize() const override { return base().AllocatedSize(); }
  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override {
    return base().ReadAt(offset, dst);
  }
  absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const override {
    return base().ReadSome(offset, dst);
  }
  int64_t read_ahead() const override { return base().read_ahead(); }
  void WillRead(std::span<const FileRange> ranges) const override { base().WillRead(ranges); }
  bool is_immutable() const override { return base().is_immutable(); }
  absl::Status WriteAt(int64_t offset, Bytes src) override { return base().WriteAt(offset, src); }
  absl::Status Truncate(int64_t size) override { return base().Truncate(size); }
  absl::Status Reserve(int64_t size) override { return base().Reserve(size); }
  absl::Status Allocate(int64_t offset, int64_t size) override {
    return base().Allocate(offset, size);
  }
  absl::Status PunchHole(int64_t offset, int64_t size) override {
    return base().PunchHole(offset, size);
  }
  absl::Status Sync(SyncMode mode) override { return base().Sync(mode); }
  void SyncSoon(int64_t offset, int64_t size) override { base().SyncSoon(offset, size); }
  absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t offset, int64_t size,
                                                     int64_t room) const override {
    return base().Map(offset, size, room);
  }
  absl::StatusOr<FileIdentity> Identity() const override { return base().Identity(); }
  absl::StatusOr<int64_t> ModifiedAt() const override { return base().ModifiedAt(); }
  absl::Status LockByte(int64_t offset, LockMode mode) override {
    return base().LockByte(offset, mode);
  }
  absl::Status WaitForByte(int64_t offset, std::chrono::milliseconds timeout) override {
    return base().WaitForByte(offset, timeout);
  }
  absl::StatusOr<bool> HasWaiters(int64_t offset) const override {
    return base().HasWaiters(offset);
  }
  absl::Status UnlockByte(int64_t offset) override { return base().UnlockByte(offset); }
  absl::StatusOr<bool> IsLocked(int64_t offset, int64_t count) const override {
    return base().IsLocked(offset, count);
  }
  absl::StatusOr<std::vector<LockHolder>> LockHolders(int64_t offset,
                                                      int64_t count) const override {
    return base().LockHolders(offset, count);
  }
  absl::Status LockWhole() override { return base().LockWhole(); }
  absl::StatusOr<std::unique_ptr<FileWatch>> Watch() const override { return base().Watch(); }

 protected:
  // Returns the file that a call is forwarded to. Each call asks once, so an override can count all
  // calls.
  virtual File& base() const { return *base_; }

 private:
  const std::unique_ptr<File> base_;
};

// Forwards each call to another file system, with the same paths. Opened files and directories pass
// through WrapFile and WrapDirectory; a wrapper overrides these instead of the calls that open.
//
// In an object store a writer takes the ObjectStore of ObjectsIn, and its calls bypass the wrapper.
class CAIRN_EXPORT ForwardingFileSystem : public FileSystem {
 public:
  explicit ForwardingFileSystem(std::shared_ptr<FileSystem> base) : base_(std::move(base)) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override {
    return Wrapped(base().Open(path, mode), path, mode);
  }
  absl::StatusOr<std::unique_ptr<File>> CreateFor(const std::string& path,
                                                  const std::string& old) override {
    return Wrapped(base().CreateFor(path, old), path, FileMode::kCreateNew);
  }
  absl::Status Rename(const std::string& from, const std::string& to, bool replace) override {
    return base().Rename(from, to, replace);
  }
  absl::Status Remove(const std::string& path) override { return base().Remove(path); }
  absl::Status SyncDirectoryOf(const std::string& path) override {
    return base().SyncDirectoryOf(path);
  }
  absl::StatusOr<std::shared_ptr<FileSystem>> OpenDirectory(const std::string& path) override {
    absl::StatusOr<std::shared_ptr<FileSystem>> directory = base().OpenDirectory(path);
    if (!directory.ok()) return directory;
    return WrapDirectory(*std::move(directory), path);
  }
  absl::Status MakeDirectory(const std::string& path) override {
    return base().MakeDirectory(path);
  }
  absl::Status MakeDirectoryFor(const std::string& path, const std::string& old) override {
    return base().MakeDirectoryFor(path, old);
  }
  absl::Status RemoveDirectory(const std::string& path) override {
    return base().RemoveDirectory(path);
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
    return base().List(path);
  }
  absl::StatusOr<std::vector<std::string>> ListSome(const std::string& path,
                                                    std::string_view prefix,
                                                    int64_t most) override {
    return base().ListSome(path, prefix, most);
  }
  void WillOpen(std::span<const FileHint> files) override { base().WillOpen(files); }
  absl::Status Exchange(const std::string& a, const std::string& b) override {
    return base().Exchange(a, b);
  }
  absl::StatusOr<std::string> Absolute(const std::string& path) override {
    return base().Absolute(path);
  }
  std::string Resolve(const std::string& path) override { return base().Resolve(path); }
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override {
    return base().Identity(path);
  }
  absl::StatusOr<FileIdentity> IdentityOfLeft(const std::string& path,
                                              const std::string& other) override {
    return base().IdentityOfLeft(path, other);
  }
  ObjectDirectoryInfo ObjectsIn(const std::string& path) override {
    ObjectDirectoryInfo info = base().ObjectsIn(path);
    if (info.files != nullptr) info.files = WrapDirectory(std::move(info.files), path);
    return info;
  }
  uint64_t BootId() const override { return base().BootId(); }

 protected:
  // Returns the file system that a call is forwarded to. Each call asks once, so an override can
  // count all calls.
  virtual FileSystem& base() const { return *base_; }
  // Wraps a file that was opened in `mode`; kCreateNew also means CreateFor. By default returns the
  // file itself.
  virtual absl::StatusOr<std::unique_ptr<File>> WrapFile(std::unique_ptr<File> file,
                                                         const std::string& /*path*/,
                                                         FileMode /*mode*/) {
    return file;
  }
  // Wraps an opened directory. By default returns the directory itself, whose files then do not
  // pass through WrapFile.
  virtual std::shared_ptr<FileSystem> WrapDirectory(std::shared_ptr<FileSystem> directory,
                                                    const std::string& /*path*/) {
    return directory;
  }

 private:
  absl::StatusOr<std::unique_ptr<File>> Wrapped(absl::StatusOr<std::unique_ptr<File>> file,
                                                const std::string& path, FileMode mode) {
    if (!file.ok()) return file;
    return WrapFile(*std::move(file), path, mode);
  }

  const std::shared_ptr<FileSystem> base_;
};

}  // namespace cairn

#endif  // CAIRN_FORWARDING_FILE_H_
