// Looks at the disk that a crash leaves: what a reader finds, and whether a writer can continue.
#ifndef CAIRN_TESTS_CRASH_EXAMINER_H_
#define CAIRN_TESTS_CRASH_EXAMINER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "cairn/options.h"
#include "engine/frame/state/frame_context.h"
#include "tests/crash/history.h"
#include "tests/crash/opened_frame.h"
#include "tests/crash/tally.h"
#include "tests/support/dice.h"
#include "tests/support/simulated_disk.h"

namespace cairn::test {

class Examiner {
 public:
  // `where` says how to come to the moment that is examined; `judge` makes the judge of a disk on
  // which a writer continues, for bugs that are planted in the engine's ways.
  struct Context {
    std::function<std::string()> where;
    std::function<SimulatedDisk::JudgeFunction()> judge = [] {
      return SimulatedDisk::JudgeFunction();
    };
    // A writer continues on this many of 100 disks that differ.
    size_t written = 25;
    frame::ReplayChecks rules = {};
  };
  // All of these outlive the examiner.
  Examiner(Context context, Dice& dice, Tally& tally)
      : context_(std::move(context)), dice_(dice), tally_(tally) {}

  // Examines what a crash at this moment, before `operation`, may leave: after a kill, and after
  // power cuts that keep what was done in order, or in `draws` other ways.
  void CrashBefore(const DiskOperation& operation, const SimulatedDisk& disk,
                   const History& history, size_t draws);

  // The number of the state that a reader finds. Nothing, and a violation, when that is none, or an
  // older one than may be found.
  std::optional<size_t> Examine(SimulatedDisk& disk, const History& history, Durability survived);
  // Returns true if a reader of the disk is told of damage.
  bool TellsDamage(SimulatedDisk& disk) const;

 private:
  // The result of reading a disk, which depends on nothing else.
  struct Finding {
    std::string fault = {};
    uint64_t content = 0;
  };
  Finding Read(SimulatedDisk& disk) const;
  absl::StatusOr<OpenedFrame> Open(SimulatedDisk& disk) const {
    return OpenedFrame::Open(disk, {.replay = context_.rules});
  }
  // Notes what a durable-only reader sees at this moment, which survives every later power cut.
  void LookDurably(SimulatedDisk& disk);
  // Returns what was wrong, or nothing.
  std::string GoOn(SimulatedDisk& disk, const FrameModel& found);
  std::optional<size_t> Judge(const Finding& finding, const History& history, Durability survived);
  void Report(const std::string& kind, const std::string& details = {});

  const Context context_;
  Dice& dice_;
  Tally& tally_;
  std::unordered_map<uint64_t, Finding> findings_;  // by the hash of the disk
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_CRASH_EXAMINER_H_
