// A file system that fails when told to, and remembers what was done to the disk.
//
//   FaultFileSystem files;
//   files.Inject({.after = 3, .disk_gone = true});  // three operations succeed, no other will
//   Frame::Create(path, {.file_system = &files});
//
// To try every failure of a procedure, run it once, read operations(), and run it again on a fresh
// disk with .after = 0, 1, 2, ...
#ifndef CAIRN_TESTS_SUPPORT_FAULT_FILE_SYSTEM_H_
#define CAIRN_TESTS_SUPPORT_FAULT_FILE_SYSTEM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/types.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {

// Something that changes the disk, or what of it is durable. Nothing else is counted: opening what
// exists, reading, listing, mapping, sizes, identities and locks always go through.
struct Operation {
  enum class Kind {
    kCreate,
    kWrite,
    kTruncate,
    kReserve,
    kReservePastEnd,
    kPunchHole,
    kSync,
    kRename,
    kRemove,
    kSyncDirectory,
    kMakeDirectory,
    kRemoveDirectory,
    kExchange,
  };

  Kind kind = Kind::kWrite;
  std::string path = {};   // as the file was opened, after the directory's where one was opened
  std::string to = {};     // kRename: the new name, `path` being the old one; kExchange: the other
  FileIdentity file = {};  // what is done to an open file: to which one, whatever its name
  int64_t offset = 0;      // kWrite, kPunchHole: where; kTruncate and both kReserve…: the size
  int64_t size = 0;        // kPunchHole
  std::vector<std::byte> bytes = {};    // kWrite
  SyncMode sync_mode = SyncMode::kAll;  // kSync
  bool replace = false;                 // kRename
};

struct Fault {
  // Operations from now on that still succeed.
  int64_t after = 0;
  // The error of the failing operation, whose path is put before the message.
  absl::Status status = absl::ResourceExhaustedError("injected: no space left on device");
  // If that one is a write, its first half is written all the same.
  bool short_write = false;
  // True if every operation after it fails too, and not only that one.
  bool disk_gone = false;
};

// All operations go through this disk. Thread-safe. Operations happen one at a time, in the order
// of the log.
class FaultyDisk {
 public:
  // Replaces the fault that was set before.
  void Inject(Fault fault);
  // From now on nothing fails.
  void Heal();
  // Operations so far, failed ones included.
  int64_t operations() const;

  // Operations that reached the disk from here on are logged; of a short write, what was written.
  void StartLog();
  // The log so far. Logging continues with an empty one.
  std::vector<Operation> TakeLog();

  using Run = absl::FunctionRef<absl::Status(Operation&)>;

  // Counts the operation, then runs and logs it, or fails. `run` does what the operation says,
  // which may be half a write, and may fill in what is known only afterwards.
  absl::Status Do(Operation operation, Run run);

 private:
  absl::Status RunAndLog(Operation operation, Run run);

  mutable std::mutex mutex_;
  std::optional<Fault> fault_;
  int64_t operations_ = 0;
  bool logging_ = false;
  std::vector<Operation> log_;
};

// The files of `base`, with every operation on them, or in directories opened here, going through
// the disk. `directory` is where `base` is an opened directory, else empty.
class FaultyFiles : public FileSystem {
 public:
  FaultyFiles(FaultyDisk* disk, std::shared_ptr<FileSystem> base, std::string directory)
      : disk_(disk), base_(std::move(base)), directory_(std::move(directory)) {}

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
  uint64_t BootId() const override { return base_->BootId(); }

 private:
  std::string Logged(const std::string& path) const;

  FaultyDisk* const disk_;
  const std::shared_ptr<FileSystem> base_;
  const std::string directory_;
};

// Outlives its Files and opened directories.
class FaultFileSystem final : public FaultyDisk, public FaultyFiles {
 public:
  // The operating system's files. No test cuts the power, so syncs only count: they do not wait for
  // the disk.
  FaultFileSystem() : FaultyFiles(this, std::make_shared<UnsyncedFileSystem>(), "") {}
  // `base` is not owned.
  explicit FaultFileSystem(FileSystem* base)
      : FaultyFiles(this, std::shared_ptr<FileSystem>(std::shared_ptr<void>(), base), "") {}
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_FAULT_FILE_SYSTEM_H_
