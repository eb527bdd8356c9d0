// Files and their names on a machine that can lose power, in the model of collections.
#ifndef CAIRN_TESTS_CRASH_MODEL_COLLECTION_MACHINE_H_
#define CAIRN_TESTS_CRASH_MODEL_COLLECTION_MACHINE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/crash/model/collection/objects.h"
#include "tests/crash/model/random.h"

namespace cairn::model {

struct SlotFile {
  std::vector<Cell> cache = std::vector<Cell>(kSlots);
  std::vector<Cell> durable = std::vector<Cell>(kSlots);
  std::vector<std::pair<int, Cell>> pending;  // writes that were not synced
};
using FilePtr = std::shared_ptr<SlotFile>;
using Files = std::map<std::string, FilePtr>;

// Each write that was not synced reaches the disk whole, torn or not at all, in any order, within a
// file and between files. The write of a header is never torn. Names reach the disk in order.
class Machine {
 public:
  explicit Machine(Random& random) : random_(random) {}

  // Called before each operation.
  void OnStep(std::function<void()> visit) { visit_ = std::move(visit); }
  // A process begins. It is killed after `operations`; `fails_sync`: one of its syncs may fail.
  void StartProcess(std::optional<uint64_t> operations, bool fails_sync);
  // Several processes: goes on with another one, and returns this one.
  struct Process {
    std::optional<uint64_t> operations_left = {};
    bool running = true;
    bool may_fail_sync = false;
  };
  Process SwitchTo(const Process& process) { return std::exchange(process_, process); }
  // False once the process was killed: nothing that it does then has an effect.
  bool running() const { return process_.running; }
  void Kill() { process_.running = false; }
  // True from a sync that failed until a writer has restored what the cache may lack.
  bool sync_failed() const { return sync_failed_; }
  void ForgetFailure() { sync_failed_ = false; }

  void Write(SlotFile& file, int slot, const Cell& cell);
  // Returns false if the sync failed.
  bool Sync(SlotFile& file);
  FilePtr Create(const std::string& name);
  void Rename(const std::string& from, const std::string& to);
  void Remove(const std::string& name);
  void SyncNames();

  const Files& files() const { return files_; }
  uint64_t boot() const { return boot_; }

  // Returns what the disk may hold if the power goes now.
  Files PossibleImage();
  void CutPower(const Files& image);

 private:
  using NameChange = std::vector<std::pair<std::string, FilePtr>>;
  bool Step();
  void Change(const NameChange& change);
  FilePtr ImageOf(const SlotFile& file);
  void FailSync(SlotFile& file);

  Random& random_;
  Files files_;
  Files durable_files_;
  std::vector<NameChange> pending_names_;
  Process process_;
  bool sync_failed_ = false;
  std::function<void()> visit_;
  uint64_t boot_ = 1;
};

// Copies files with all their slots.
Files CopyOf(const Files& files);

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_COLLECTION_MACHINE_H_
