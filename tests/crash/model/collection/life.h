// Random lives of a collection under kills, power cuts and failing syncs.
#ifndef CAIRN_TESTS_CRASH_MODEL_COLLECTION_LIFE_H_
#define CAIRN_TESTS_CRASH_MODEL_COLLECTION_LIFE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/crash/model/collection/machine.h"
#include "tests/crash/model/collection/readers.h"
#include "tests/crash/model/collection/reading.h"
#include "tests/crash/model/collection/rules.h"
#include "tests/crash/model/collection/writer.h"
#include "tests/crash/model/random.h"

namespace cairn::model {

struct CollectionTally {
  uint64_t lives = 0;
  uint64_t states = 0;   // that a crash may leave
  uint64_t checks = 0;   // of what readers see
  uint64_t outside = 0;  // changes from outside
  uint64_t told = 0;
};

class CollectionLife {
 public:
  CollectionLife(const CollectionRules& rules, uint64_t seed, CollectionTally& tally);

  // Returns the first violation; empty: there is none.
  std::string Run();

 private:
  std::string RunProcess();
  std::string RunWriter();
  // Lets writers share the collection. Some die or fail while others go on.
  std::string RunSharers();
  std::string ActOf(CollectionWriter& writer, Machine::Process& process);
  std::string EndProcess();
  std::string CutPower();
  std::string Adopt(Txn newest, bool durable);
  std::string Examine(const Files& files, uint64_t boot);
  std::string ExamineCommit(const Files& files, uint64_t boot, const Ledger& newest, Txn txn);
  std::string ExamineAlone(const Files& files, uint64_t boot, Txn newest);
  std::string ExamineClosed() const;
  std::string ChangeOutside();
  bool MakeChange(int kind, Files& files);
  bool WasCommitted(MemberId id, const std::vector<Id>& chunks, Txn last) const;
  std::string ExamineOutside(const Files& files, bool older_ledger);

  CollectionRules rules_;
  CollectionTally& tally_;
  Random random_;
  Machine machine_;
  History history_;
  CollectionReaders readers_;
  Id ids_ = 0;
  bool closed_ = false;
  Files backup_;
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_COLLECTION_LIFE_H_
