// Knows what was promised, and judges what is left of it.
#ifndef CAIRN_TESTS_CRASH_MODEL_EXAMINER_H_
#define CAIRN_TESTS_CRASH_MODEL_EXAMINER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/crash/model/disk.h"
#include "tests/crash/model/format.h"
#include "tests/crash/model/replay.h"
#include "tests/crash/model/rules.h"
#include "tests/crash/model/writer.h"

namespace cairn::model {

struct Tally {
  struct Kind {
    uint64_t count = 0;
    uint64_t first_run = 0;
  };
  uint64_t states = 0;  // that crashes may leave
  uint64_t flips = 0;   // damaged ones
  uint64_t told = 0;    // of those: reported as damage
  std::map<std::string, Kind> violations;
  void Violate(const std::string& kind, uint64_t run) {
    if (violations[kind].count++ == 0) violations[kind].first_run = run;
  }
};

// The commits of the current line by generation, and what was promised of them.
struct History {
  std::vector<State> commits;
  size_t survives_kill = 0;       // generation of the newest that does
  size_t survives_power_cut = 0;  // the same
  size_t vouched = 0;             // acknowledged or confirmed since the machine was started
  std::vector<Proof> proofs;

  std::optional<size_t> Find(const State& state) const;
  // The commits after `generation` are gone.
  void KeepUntil(size_t generation);
  // Proofs that are in the file.
  size_t CountIntact(const Bytes& file) const;
  // Returns true if other bytes lie by now where the journal of that checkpoint was marked as
  // ended.
  bool HasLostMark(const Bytes& file, const Base& base) const;
  // Returns true if a commit after that checkpoint shows that its header was durable, or is of this
  // boot.
  bool HasProofAfter(const Bytes& file, const Base& base, uint64_t boot) const;
  // Returns the newest commit of that journal that a receipt of this boot, or one for durable
  // commits, covers.
  uint64_t CoveredByReceipts(const Bytes& file, const Base& base, uint64_t boot) const;
  // Returns the newest commit that an intact receipt of the file proves durable. `own` asks for its
  // own receipt.
  size_t ProvenDurable(const Bytes& file, const Base& base, bool own) const;
};

// How a crash came about.
struct Crash {
  uint64_t boot = 0;      // of the machine that looks at what is left
  size_t required = 0;    // generation of the newest commit that must be there
  bool may_tell = false;  // damage may be reported: a sync failed, or the device went away
};

class Examiner {
 public:
  Examiner(const Conditions& conditions, const Rules& rules, const Disk& disk,
           const History& history)
      : conditions_(conditions), rules_(rules), disk_(disk), history_(history) {}

  // Each gives what is wrong, or nothing.
  std::string ExamineCrash(const Bytes& file, const Crash& crash) const;
  // `file` lost bits or a sector. `required`: what must be there or told, besides what the file
  // itself proves durable.
  std::string ExamineDamage(const Bytes& file, uint64_t boot, size_t required, Tally& tally) const;

 private:
  Replayed Read(const Bytes& file, uint64_t boot, Begin begin = Begin::kSummary) const {
    return Replay(file, boot, conditions_.header_size, rules_, begin);
  }
  std::string ExamineView(const Bytes& file, const Replayed& view, const Crash& crash) const;

  std::string ExamineUnsealed(const Bytes& file, const Replayed& view, size_t required) const;

  const Conditions& conditions_;
  const Rules& rules_;
  const Disk& disk_;
  const History& history_;
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_EXAMINER_H_
