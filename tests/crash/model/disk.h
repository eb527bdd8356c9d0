// A file on a machine that can lose power: the page cache, the durable image, and the parts of the
// difference that may reach the disk.
#ifndef CAIRN_TESTS_CRASH_MODEL_DISK_H_
#define CAIRN_TESTS_CRASH_MODEL_DISK_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "tests/crash/model/random.h"
#include "tests/crash/model/rules.h"

namespace cairn::model {

using Bytes = std::vector<uint8_t>;

inline Bytes Slice(const Bytes& bytes, uint64_t begin, uint64_t end) {
  return {bytes.begin() + static_cast<ptrdiff_t>(begin),
          bytes.begin() + static_cast<ptrdiff_t>(end)};
}

constexpr size_t kSectorSize = 512;

// A write or a change of size that was not synced.
struct Operation {
  bool resizes = false;
  size_t offset = 0;  // of a write
  Bytes data = {};
  bool grows = false;  // a write that makes the file longer
  size_t size = 0;     // of a resize
};

class Disk {
 public:
  Disk(const Conditions& conditions, Random& random) : conditions_(conditions), random_(random) {}
  explicit Disk(const Disk& other, const Bytes& image)
      : conditions_(other.conditions_), random_(other.random_), boot_(other.boot_) {
    cache_ = durable_ = image;
  }

  // A process begins. It is killed after `operations`; `fails_sync`: one of its syncs may fail.
  void StartProcess(std::optional<uint64_t> operations, bool fails_sync);
  // The process that runs gives way to others, until ContinueProcess.
  struct Pause {
    std::optional<uint64_t> operations_left;
    bool may_fail_sync = false;
  };
  Pause PauseProcess() const { return {operations_left_, may_fail_sync_}; }
  void ContinueProcess(const Pause& pause) {
    StartProcess(pause.operations_left, pause.may_fail_sync);
  }
  void Kill() { running_ = false; }
  void KillAfter(uint64_t operations) { operations_left_ = operations; }
  // False once it was killed or a sync failed: nothing that it does then has an effect.
  bool running() const { return running_; }
  bool sync_failed() const { return sync_failed_; }

  // Called before each operation, while the process runs.
  void OnStep(std::function<void()> visit) { visit_ = std::move(visit); }

  void Write(size_t offset, const Bytes& data);
  void Resize(size_t size);
  void Sync(bool all);
  // A sync by another thread: only what was written before it began is durable once it ended.
  void BeginSync();
  void EndSync();

  const Bytes& cache() const { return cache_; }
  const Bytes& durable() const { return durable_; }
  // Older versions of the first sector, as they were on the disk.
  const std::vector<Bytes>& older_first_sectors() const { return older_first_sectors_; }
  // But the newest of them.
  void ForgetOlderSectors(size_t kept) {
    const size_t forgotten =
        older_first_sectors_.size() - std::min(kept, older_first_sectors_.size());
    older_first_sectors_.erase(older_first_sectors_.begin(),
                               older_first_sectors_.begin() + static_cast<ptrdiff_t>(forgotten));
  }
  // Changes whenever the power goes. 0: it is not known.
  uint64_t boot() const { return conditions_.knows_boot ? boot_ : 0; }
  uint64_t next_boot() const { return conditions_.knows_boot ? boot_ + 1 : 0; }

  // Returns what the disk may hold if the power fails now.
  Bytes PossibleImage();
  void CutPower(const Bytes& image);
  // Makes the cache forget what it believes to be clean after a sync that failed.
  void Evict();

 private:
  struct BegunSync {
    size_t operations = 0;  // of the pending ones
    Bytes cache;
  };
  bool Step();
  void Apply(Operation operation);
  bool FailsSync();
  void WriteBack(const BegunSync& sync, bool all);

  Conditions conditions_;
  Random& random_;
  uint64_t boot_ = 1;
  Bytes cache_;
  Bytes durable_;
  std::vector<Bytes> older_first_sectors_;
  std::vector<Operation> pending_;
  std::optional<Bytes> before_shrink_;  // may come back: the shrink was not recorded
  std::optional<BegunSync> begun_sync_;
  std::optional<uint64_t> operations_left_;
  bool running_ = true;
  bool may_fail_sync_ = false;
  bool sync_failed_ = false;
  std::function<void()> visit_;
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_DISK_H_
