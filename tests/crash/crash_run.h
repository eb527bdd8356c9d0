// Complete runs: a frame, what processes do to it, and how they end.
#ifndef CAIRN_TESTS_CRASH_CRASH_RUN_H_
#define CAIRN_TESTS_CRASH_CRASH_RUN_H_

#include <cstdint>
#include <functional>
#include <string>

#include "tests/crash/life.h"
#include "tests/crash/tally.h"
#include "tests/support/simulated_disk.h"

namespace cairn::test {

// Decides the fate of an operation of the call; see Fate. A new one is made for each process.
using Bug = std::function<Fate(const DiskOperation&, const Call&)>;
using MakeBug = std::function<Bug()>;

struct CrashRun {
  CrashFrame frame = {};
  uint64_t seed = 1;
  MakeBug bug = {};
};

// Runs a process that does `steps` things and is never stopped. Before each operation the disk is
// examined as a crash would leave it, in `draws` ways in addition to those in order.
void ExamineEveryOperation(const CrashRun& run, int steps, size_t draws, Tally& tally);

// How the processes of a chain end.
struct Deaths {
  int most = 4;              // processes
  size_t operations = 40;    // most of one process
  size_t kills = 25;         // of 100 deaths the machine survives; the others are power cuts
  bool disk_errors = false;  // one operation of each process fails, most often a sync
  size_t looks = 6;          // at disks that a power cut may leave; the next process gets the last
};

// Processes one after the other, each killed or cut off at some operation, most often soon.
void ExamineChain(const CrashRun& run, const Deaths& deaths, Tally& tally);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_CRASH_CRASH_RUN_H_
