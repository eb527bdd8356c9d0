// Directories and open files of a SimulatedDisk.
#ifndef CAIRN_TESTS_SUPPORT_SIMULATED_FILES_H_
#define CAIRN_TESTS_SUPPORT_SIMULATED_FILES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "tests/support/simulated_disk.h"

namespace cairn::test {

// An open file. Its disk outlives it.
class SimulatedFile final : public File {
 public:
  SimulatedFile(SimulatedDisk* disk, std::string name, uint64_t inode, bool writable)
      : disk_(disk),
        name_(std::move(name)),
        number_(inode),
        inode_(disk->file(inode)),
        writable_(writable) {}
  SimulatedFile(const SimulatedFile&) = delete;
  SimulatedFile& operator=(const SimulatedFile&) = delete;
  ~SimulatedFile() override;

  absl::StatusOr<int64_t> Size() const override { return inode_->size(); }
  absl::StatusOr<int64_t> AllocatedSize() const override { return inode_->allocated(); }
  absl::Status ReadAt(int64_t offset, MutableBytes dst) const override;
  absl::StatusOr<size_t> ReadSome(int64_t offset, MutableBytes dst) const override;
  absl::Status WriteAt(int64_t offset, Bytes src) override;
  absl::Status Truncate(int64_t size) override;
  absl::Status Reserve(int64_t size) override;
  absl::Status Allocate(int64_t offset, int64_t size) override;
  absl::Status PunchHole(int64_t offset, int64_t size) override;
  absl::Status Sync(SyncMode mode) override;
  absl::StatusOr<std::shared_ptr<const Mapping>> Map(int64_t offset, int64_t size,
                                                     int64_t room) const override;
  absl::StatusOr<FileIdentity> Identity() const override;
  absl::Status LockByte(int64_t offset, LockMode mode) override;
  absl::Status UnlockByte(int64_t offset) override;
  absl::StatusOr<bool> IsLocked(int64_t offset, int64_t count) const override;
  absl::Status LockWhole() override;

 private:
  absl::Status CheckWritable(int64_t offset, int64_t size) const;
  absl::Status Lock(int64_t key, LockMode mode);

  SimulatedDisk* const disk_;
  const std::string name_;
  const uint64_t number_;
  const std::shared_ptr<SimulatedInode> inode_;
  const bool writable_;
};

// The root, which takes paths, or an opened directory, which takes plain names. It has no links,
// and nothing moves from one directory to another.
class SimulatedDirectory final : public FileSystem {
 public:
  SimulatedDirectory(SimulatedDisk* disk, std::string path, std::shared_ptr<SimulatedNames> names)
      : disk_(disk), path_(std::move(path)), names_(std::move(names)) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override;
  absl::Status Rename(const std::string& from, const std::string& to, bool replace) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status SyncDirectoryOf(const std::string& path) override;
  absl::StatusOr<std::shared_ptr<FileSystem>> OpenDirectory(const std::string& path) override;
  absl::Status MakeDirectory(const std::string& path) override;
  absl::Status RemoveDirectory(const std::string& path) override;
  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override;
  absl::Status Exchange(const std::string& a, const std::string& b) override;
  absl::StatusOr<FileIdentity> Identity(const std::string& path) override;
  uint64_t BootId() const override { return disk_->boot(); }

 private:
  // A name and the directory in which it is looked for.
  struct Place {
    std::shared_ptr<SimulatedNames> names;
    std::string name;  // "." for the directory itself
    std::string shown;
    uint64_t inode = 0;  // 0: nothing is there
  };
  absl::StatusOr<Place> Find(const std::string& path) const;
  absl::StatusOr<Place> FindThere(const std::string& path) const;

  SimulatedDisk* const disk_;
  const std::string path_;  // empty for the root
  const std::shared_ptr<SimulatedNames> names_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_SIMULATED_FILES_H_
