// A disk in memory that can lose power, and the processes on it that can be killed, at any moment.
//
//   SimulatedDisk disk(seed);
//   Frame::Create("f", {.file_system = disk.root()});
//   disk.Judge([&](const DiskOperation& op) { return op.number == 7 ? Fate{kDie} : Fate{}; });
//   ...
//   const auto after = disk.PowerLoss(dice);  // another disk, as it may be found afterwards
//
// Two layers: the page cache, which all processes see, and what the disk holds. A file's sync moves
// its bytes down, not its name; a directory's sync moves its names. For one thread.
#ifndef CAIRN_TESTS_SUPPORT_SIMULATED_DISK_H_
#define CAIRN_TESTS_SUPPORT_SIMULATED_DISK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "cairn/file_system.h"
#include "cairn/types.h"
#include "tests/support/dice.h"
#include "tests/support/simulated_inode.h"

namespace cairn::test {

// An operation that changes the disk, or what of it is durable.
struct DiskOperation {
  enum class Kind {
    kCreate,
    kWrite,
    kTruncate,
    kReserve,
    kAllocate,
    kPunch,
    kSync,
    kRename,
    kRemove,
    kSyncDirectory,
    kMakeDirectory,
    kRemoveDirectory,
    kExchange,
  };

  Kind kind = Kind::kWrite;
  std::string name = {};  // as the file was opened, or the name that changes
  int64_t number = 0;     // counts all operations of the disk, from 0
  uint64_t inode = 0;     // kWrite: the file, which may have lost its name
  int64_t offset = 0;     // kWrite, kAllocate, kPunch; the size for kTruncate, kReserve…
  Bytes bytes = {};       // kWrite
  Bytes cached = {};      // kWrite, kSync: all of the file before
  SyncMode sync_mode = SyncMode::kAll;  // kSync
};

// Returns a text such as "7: write f 0+87" for messages.
std::string ToString(const DiskOperation& operation);

// Returns how many bytes of a write are done if it is cut off. It is cut off at the end of a
// sector.
size_t SomeSectors(const DiskOperation& write, Dice& dice);

// The fate of an operation.
struct Fate {
  enum class Kind {
    kRun,
    kSkip,   // nothing is done, and success is claimed
    kDefer,  // success is claimed, but it is done right after the next one that runs
    kFail,   // nothing is done, or a part: see `written`, and SimulatedInode::FailSync
    kDie,    // the process dies in the middle of it: this and all that follow fail
  };
  Kind kind = Kind::kRun;
  size_t written = 0;  // kFail and kDie of a write: bytes of it that are done
};

// The names in one directory. Each change is one step that sets names; inode 0 removes a name.
struct SimulatedNames {
  struct Change {
    int64_t time = 0;
    std::vector<std::pair<std::string, uint64_t>> names;
  };

  void Do(Change change);
  void Sync();
  std::map<std::string, uint64_t> At(int64_t time) const;
  // Returns the inodes that the names lead to, or may lead to after a power cut.
  std::vector<uint64_t> Inodes() const;
  uint64_t Find(const std::string& name) const;

  std::map<std::string, uint64_t> now = {};
  std::map<std::string, uint64_t> durable = {};
  std::vector<Change> pending = {};
};

class SimulatedDisk {
 public:
  // The seed decides which part of a failed sync reaches the disk.
  explicit SimulatedDisk(uint64_t seed = 1);

  // Returns the root directory. It lives as long as the disk, which must outlive all files.
  const std::shared_ptr<FileSystem>& root() { return root_; }

  // Asks `judge` before each operation. `judge` may look at the disk, but must not change it.
  using JudgeFunction = std::function<Fate(const DiskOperation&)>;
  void Judge(JudgeFunction judge) { judge_ = std::move(judge); }
  // Lets the process die with this operation, of which some sectors may be done. `dice` lives as
  // long as the disk is used.
  void DieAt(int64_t number, Dice& dice);
  // Sets the bytes that files may take. A new disk has no limit. Directories take nothing.
  void SetCapacity(int64_t bytes) { capacity_ = bytes; }
  // Returns the capacity minus the bytes of all files that are open or have a name.
  int64_t Free() const;
  // Returns the number of operations so far, failed ones included.
  int64_t operations() const { return operations_; }
  bool dead() const { return dead_; }
  // Returns a number that changes with each power cut.
  uint64_t boot() const { return boot_; }
  // Starts another process. The files of the dead one must be closed by now.
  void Revive() { dead_ = false; }
  // Does the first `size` bytes of a write. It was judged on this disk, or on one that this disk is
  // a clone of.
  void DoPart(const DiskOperation& write, size_t size);
  // Makes every file forget unwritten bytes that its cache takes for written; see SimulatedInode.
  void Evict();

  // Returns the disk and cache as the next process finds them if this one is killed: without locks.
  std::unique_ptr<SimulatedDisk> Clone() const;
  // Returns the times for PowerLossAt that may leave different states, in order.
  std::vector<int64_t> PendingTimes() const;
  std::unique_ptr<SimulatedDisk> PowerLossAt(int64_t time) const;
  // Returns one of the states that a power cut now may leave.
  std::unique_ptr<SimulatedDisk> PowerLoss(Dice& dice) const;
  // Returns a hash of all names and their bytes, as the processes see them, and of the boot.
  uint64_t Hash() const;

  // Used by the files of this disk. Do does what the judge says, with `run`. `fail` does what is
  // left of an operation that fails.
  using Run = std::function<absl::Status(int64_t time)>;
  using Fail = std::function<void(int64_t time, const Fate& fate, Dice& dice)>;
  absl::Status Do(DiskOperation operation, const Run& run, const Fail& fail = {});
  std::shared_ptr<SimulatedInode> file(uint64_t inode) const;
  std::shared_ptr<SimulatedNames> directory(uint64_t inode) const;
  // Errors: kResourceExhausted if bytes [begin, end) cannot be allocated to a file.
  absl::Status CheckSpace(const SimulatedInode& inode, int64_t begin, int64_t end) const;
  uint64_t AddFile();
  uint64_t AddDirectory();

 private:
  // Returns an empty disk that continues where `from` is.
  static std::unique_ptr<SimulatedDisk> After(const SimulatedDisk& from);
  SimulatedDisk(uint64_t seed, std::shared_ptr<PagePool> pool)
      : dice_(seed), pool_(std::move(pool)) {}
  void MakeRoot();
  std::unique_ptr<SimulatedDisk> Made(
      const std::function<FileImage(const SimulatedInode&)>& image,
      const std::function<std::map<std::string, uint64_t>(const SimulatedNames&)>& names) const;
  void HashDirectory(const SimulatedNames& names, uint64_t& hash) const;

  static constexpr uint64_t kRoot = 1;

  Dice dice_;
  std::shared_ptr<PagePool> pool_;
  std::map<uint64_t, std::shared_ptr<SimulatedInode>> files_;
  std::map<uint64_t, std::shared_ptr<SimulatedNames>> directories_;
  uint64_t next_inode_ = kRoot;
  int64_t time_ = 0;
  int64_t operations_ = 0;
  JudgeFunction judge_;
  bool dead_ = false;
  uint64_t boot_ = 1;
  int64_t capacity_ = INT64_MAX;
  std::vector<Run> deferred_;
  std::shared_ptr<FileSystem> root_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SUPPORT_SIMULATED_DISK_H_
