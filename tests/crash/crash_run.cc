#include "tests/crash/crash_run.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"

#include "tests/crash/examiner.h"
#include "tests/crash/history.h"
#include "tests/support/search.h"

namespace cairn::test {

namespace {

// The place of a run, for messages.
class Place {
 public:
  explicit Place(const CrashRun& run) : run_(run) {}
  std::string ToString() const {
    return absl::StrFormat("%s, seed %d, process %d, %s, before %s", run_.frame.name, run_.seed,
                           process, call.name, operation);
  }

  void Set(const Call& now, const DiskOperation& next) {
    call = now;
    operation = ::cairn::test::ToString(next);
    if (trace) std::cerr << ToString() << '\n';
  }

  const bool trace = NumberIn("CAIRN_CRASH_RUN", 0) != 0;
  int process = 1;
  Call call;
  std::string operation;

 private:
  const CrashRun& run_;
};

// The judge of a disk on which nothing but the planted bug goes wrong.
SimulatedDisk::JudgeFunction WithBug(const MakeBug& make, std::shared_ptr<Call> call) {
  if (!make) return [](const DiskOperation&) { return Fate(); };
  return [bug = make(), call = std::move(call)](const DiskOperation& operation) {
    const Fate fate = bug(operation, *call);
    if (operation.kind == DiskOperation::Kind::kSync ||
        operation.kind == DiskOperation::Kind::kSyncDirectory) {
      ++call->syncs;
    }
    return fate;
  };
}

void CountComplaint(const Life& life, const absl::Status& status, const Place& place,
                    Tally& tally) {
  if (!life.complaint().empty()) {
    tally.CountViolation(life.complaint().substr(0, life.complaint().find(':')),
                         place.ToString() + "; " + life.complaint());
  } else if (!status.ok()) {
    tally.CountViolation("an error on a healthy disk", place.ToString() + "; " + status.ToString());
  }
}

}  // namespace

void ExamineEveryOperation(const CrashRun& run, int steps, size_t draws, Tally& tally) {
  Dice dice(run.seed);
  Dice other(run.seed + 1);
  Place place(run);
  SimulatedDisk disk(run.seed);
  History history;
  Examiner examiner({.where = [&] { return place.ToString(); },
                     .judge = [&] { return WithBug(run.bug, std::make_shared<Call>()); },
                     .rules = run.frame.rules},
                    other, tally);
  const auto call = std::make_shared<Call>();
  const auto bug = WithBug(run.bug, call);
  disk.Judge([&](const DiskOperation& operation) {
    place.Set(*call, operation);
    examiner.CrashBefore(operation, disk, history, draws);
    return bug(operation);
  });
  Life life(run.frame, disk, history, dice, *call);
  absl::Status status = life.Start();
  for (int i = 0; i < steps && status.ok() && life.complaint().empty(); ++i) status = life.Step();
  CountComplaint(life, status, place, tally);
}

namespace {

// A chain of processes on one disk.
class Chain {
 public:
  Chain(const CrashRun& run, const Deaths& deaths, Tally& tally)
      : run_(run),
        deaths_(deaths),
        tally_(tally),
        dice_(run.seed),
        place_(run),
        disk_(std::make_unique<SimulatedDisk>(run.seed)),
        examiner_({.where = [this] { return place_.ToString(); },
                   .judge = [this] { return WithBug(run_.bug, std::make_shared<Call>()); },
                   .written = 10,
                   .rules = run_.frame.rules},
                  dice_, tally) {}

  void Run() {
    const int lives = 2 + static_cast<int>(dice_.Below(static_cast<size_t>(deaths_.most - 1)));
    for (place_.process = 1; place_.process <= lives; ++place_.process) {
      if (!Live() || !Crash()) return;
    }
  }

 private:
  // The plan for the operations of one process.
  struct Plan {
    int64_t death = 0;             // the operation in which it dies
    std::optional<int64_t> error;  // the operation that fails
    bool failed = false;
  };

  bool Live();
  bool Crash();
  std::unique_ptr<SimulatedDisk> PowerCut();
  Fate Decide(const DiskOperation& operation, Plan& plan);

  const CrashRun& run_;
  const Deaths& deaths_;
  Tally& tally_;
  Dice dice_;
  Place place_;
  std::unique_ptr<SimulatedDisk> disk_;
  History history_;
  Examiner examiner_;
  bool failed_ = false;  // an operation of the last process did
};

Fate Chain::Decide(const DiskOperation& operation, Plan& plan) {
  if (operation.number >= plan.death) {
    return {.kind = Fate::Kind::kDie, .written = SomeSectors(operation, dice_)};
  }
  const bool is_sync = operation.kind == DiskOperation::Kind::kSync;
  if (plan.error.has_value() && operation.number >= *plan.error && !plan.failed &&
      (is_sync || dice_.Percent(15))) {
    plan.failed = true;
    return {.kind = Fate::Kind::kFail, .written = SomeSectors(operation, dice_)};
  }
  return {};
}

// False when there is no use in going on.
bool Chain::Live() {
  Plan plan;
  const size_t operations = dice_.Percent(25) ? 8 : deaths_.operations;
  plan.death = disk_->operations() + static_cast<int64_t>(dice_.Below(operations));
  if (deaths_.disk_errors) {
    plan.error = disk_->operations() + static_cast<int64_t>(dice_.Below(16));
  }
  const auto call = std::make_shared<Call>();
  const auto bug = WithBug(run_.bug, call);
  disk_->Judge([&](const DiskOperation& operation) {
    place_.Set(*call, operation);
    const Fate fate = Decide(operation, plan);
    return fate.kind == Fate::Kind::kRun ? bug(operation) : fate;
  });
  Life life(run_.frame, *disk_, history_, dice_, *call);
  absl::Status status = life.Start();
  // Some processes end by themselves, and leave the frame as it is.
  const int steps = dice_.Percent(15) ? static_cast<int>(dice_.Below(12)) : 1000;
  for (int i = 0; i < steps && status.ok() && life.complaint().empty(); ++i) status = life.Step();
  const bool failed = disk_->dead() || plan.failed;
  if (plan.failed && !disk_->dead() && !status.ok() && !life.RefusesEverything()) {
    tally_.CountViolation("a writer goes on after a failure", place_.ToString());
  }
  const int64_t before = tally_.violations();
  CountComplaint(life, failed ? absl::OkStatus() : status, place_, tally_);
  failed_ = plan.failed;
  return tally_.violations() == before;
}

std::unique_ptr<SimulatedDisk> Chain::PowerCut() {
  const std::vector<int64_t> times = disk_->PendingTimes();
  return dice_.Percent(30) ? disk_->PowerLossAt(times[dice_.Below(times.size())])
                           : disk_->PowerLoss(dice_);
}

// The last process is dead. False when what it left is wrong.
bool Chain::Crash() {
  disk_->Judge({});
  disk_->Revive();
  Durability survived = Durability::kProcess;
  std::optional<size_t> state;
  // After a failed sync, what the cache shows matters more than what the disk holds.
  const bool killed = dice_.Percent(failed_ ? 70 : deaths_.kills);
  if (killed) {
    if (failed_ && dice_.Percent(20)) {
      disk_->Evict();
      survived = Durability::kMachine;
      // The machine runs on and has lost what it held: a process has to look.
      if (examiner_.TellsDamage(*disk_)) return false;
    }
    state = examiner_.Examine(*disk_, history_, survived);
  } else {
    survived = Durability::kMachine;
    std::unique_ptr<SimulatedDisk> next;
    for (size_t i = 0; i < deaths_.looks; ++i) {
      next = PowerCut();
      state = examiner_.Examine(*next, history_, survived);
      if (!state.has_value()) return false;
    }
    disk_ = std::move(next);
  }
  if (!state.has_value()) return false;
  history_.ContinueFrom(*state, killed ? Durability::kProcess : Durability::kMachine);
  return true;
}

}  // namespace

void ExamineChain(const CrashRun& run, const Deaths& deaths, Tally& tally) {
  Chain(run, deaths, tally).Run();
}

}  // namespace cairn::test
