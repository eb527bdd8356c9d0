// A file from its creation on, through several processes and their deaths.
#ifndef CAIRN_TESTS_CRASH_MODEL_LIFE_H_
#define CAIRN_TESTS_CRASH_MODEL_LIFE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/crash/model/disk.h"
#include "tests/crash/model/examiner.h"
#include "tests/crash/model/random.h"
#include "tests/crash/model/readers.h"
#include "tests/crash/model/rules.h"
#include "tests/crash/model/writer.h"

namespace cairn::model {

struct Effort {
  size_t images = 6;       // of each power cut
  size_t flips = 2;        // of each state
  bool every_bit = false;  // of every record and receipt instead
};

class Life {
 public:
  Life(const Conditions& conditions, const Rules& rules, const Effort& effort, uint64_t seed,
       Tally& tally)
      : conditions_(conditions),
        rules_(rules),
        effort_(effort),
        tally_(tally),
        random_(seed),
        disk_(conditions, random_),
        readers_(disk_, conditions_, rules_, random_),
        examiner_(conditions_, rules_, disk_, history_) {
    disk_.OnStep([this] {
      if (!evicted_) readers_.Step(history_.survives_kill);
    });
  }

  // The first violation; empty: there is none.
  std::string Run();

 private:
  // Each ends with the first violation. `over_`: nothing can follow.
  std::string RunProcess();
  std::string Act(Writer& writer);
  void StepCheckpoint(Writer& writer);
  std::string OpenWriter(Writer& writer);
  void ForgetWhatIsNotTold();
  std::string HandOver(Writer& writer);
  std::string Adopt(const Writer& writer, bool opens);
  std::string CommitOnce(Writer& writer);
  std::string ReadDuringCommit(const Bytes& before);
  void SyncCommitted(Writer& writer);
  void MakeCheckpoint(Writer& writer);
  Edit ChooseEdit(const Writer& writer);
  Bytes PartOfFork(const Writer& writer);
  std::string EndProcess();
  std::string CutPower();
  size_t ProvenBefore(const Bytes& image) const;
  std::string DamageSomewhere(const Bytes& file, uint64_t boot, size_t required);
  std::string LoseFirstSector(const Bytes& file, uint64_t boot, size_t required);
  std::string DamageEveryBit(const Bytes& file, uint64_t boot, size_t required);
  std::string Damage(const Bytes& file, uint64_t boot, size_t required);
  Bytes DamagedCopy(const Bytes& file, bool sectors);

  Conditions conditions_;
  Rules rules_;
  Effort effort_;
  Tally& tally_;
  Random random_;
  Disk disk_;
  Readers readers_;
  History history_;
  Examiner examiner_;
  uint64_t chunk_id_ = 0;
  uint64_t metadata_ = 1;
  bool evicted_ = false;  // after a sync that failed: damage may be reported
  bool short_life_ = false;
  bool closed_ = false;
  bool unmarked_ = false;     // a process died before it said where a journal ended
  bool handed_over_ = false;  // a writer waits while another one writes
  bool over_ = false;
  uint64_t pace_ = 0;  // of checkpoints in steps
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_LIFE_H_
