// A file system that fails when told to, and remembers what was done to the disk.
//
//   FaultFileSystem files;
//   files.Inject({.after = 3, .disk_gone = true});  // three operations succeed, no other will
//   Frame::Create(path, {.file_system = Unowned(&files)});
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
#include "cairn/forwarding_file.h"
#include "cairn/types.h"
#include "tests/support/unowned.h"
#include "tests/support/unsynced_file_system.h"

namespace cairn::test {

// An operation that changes the disk, or what of it is durable. Nothing else is counted: opening an
// existing file, reading, listing, mapping, sizes, identities and locks always go through.
struct Operation {
  enum class Kind {
    kCreate,
    kWrite,
    kTruncate,
    kReserve,
    kAllocate,
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
  // The number of operations from now on that still succeed.
  int64_t after = 0;
  // The error of the failing operation, whose path is put before the message.
  absl::Status status = absl::ResourceExhaustedError("injected: no space left on device");
  // True if the failing operation writes its first half all the same. It must be a write.
  bool short_write = false;
  // True if every operation after the failing one fails, too.
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
  // Returns the number of operations so far, failed ones included.
  int64_t operations() const;

  // Logs the operations that reach the disk from here on. For a short write it logs what was
  // written.
  void StartLog();
  // Returns the log so far. Logging continues with an empty log.
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

// Gives the files of `base`. Every operation on them, or in directories opened here, goes through
// the disk. `directory` is the path of `base` if it is an opened directory, else empty.
class FaultyFiles : public ForwardingFileSystem {
 public:
  FaultyFiles(FaultyDisk* disk, std::shared_ptr<FileSystem> base, std::string directory)
      : ForwardingFileSystem(std::move(base)), disk_(disk), directory_(std::move(directory)) {}

  absl::StatusOr<std::unique_ptr<File>> Open(const std::string& path, FileMode mode) override;
  absl::StatusOr<std::unique_ptr<File>> CreateFor(const std::string& path,
                                                  const std::string& old) override;
  absl::Status Rename(const std::string& from, const std::string& to, bool replace) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status SyncDirectoryOf(const std::string& path) override;
  absl::Status MakeDirectory(const std::string& path) override;
  absl::Status MakeDirectoryFor(const std::string& path, const std::string& old) override;
  absl::Status RemoveDirectory(const std::string& path) override;
  absl::Status Exchange(const std::string& a, const std::string& b) override;

 private:
  using OpenFile = absl::FunctionRef<absl::StatusOr<std::unique_ptr<File>>()>;

  absl::StatusOr<std::unique_ptr<File>> Create(const std::string& path, OpenFile open);
  absl::StatusOr<std::unique_ptr<File>> WrapFile(std::unique_ptr<File> file,
                                                 const std::string& path, FileMode mode) override;
  std::shared_ptr<FileSystem> WrapDirectory(std::shared_ptr<FileSystem> directory,
                                            const std::string& path) override;
  std::string Logged(const std::string& path) const;

  FaultyDisk* const disk_;
  const std::string directory_;
};

// Must outlive its files and opened directories.
class FaultFileSystem final : public FaultyDisk, public FaultyFiles {
 public:
  // Uses the operating system's files. No test cuts the power, so syncs are counted but do not wait
  // for the disk.
  FaultFileSystem() : FaultyFiles(this, std::make_shared<UnsyncedFileSystem>(), "") {}
  explicit FaultFileSystem(std::shared_ptr<FileSystem> base)
      : FaultyFiles(this, std::move(base), "") {}
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_FAULT_FILE_SYSTEM_H_
