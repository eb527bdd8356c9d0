// A frame in an object store, from its creation on, with those who write, read and collect.
#ifndef CAIRN_TESTS_CRASH_MODEL_OBJECT_LIFE_H_
#define CAIRN_TESTS_CRASH_MODEL_OBJECT_LIFE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/crash/model/object_others.h"
#include "tests/crash/model/object_rules.h"
#include "tests/crash/model/object_wire.h"
#include "tests/crash/model/object_writer.h"

namespace cairn::model {

class ObjectLife {
 public:
  // `visit` is called before each step; false ends the life.
  using Visit = std::function<bool(const ObjectLife& life)>;

  ObjectLife(const ObjectConditions& conditions, const ObjectRules& rules, Choose choose);

  // The first violation; empty: there is none.
  std::string Run(const Visit& visit);
  int64_t steps() const { return steps_; }
  // Returns what tells the states of lives apart.
  std::vector<int64_t> Key() const;

 private:
  void Step();
  void PassTime();
  std::string Examine();
  std::string ExamineCommits(const VisibleFrame& frame) const;

  ObjectConditions conditions_;
  ObjectRules rules_;
  ObjectWorld world_;
  CommitLedger ledger_;
  std::vector<std::unique_ptr<ObjectWriter>> writers_;
  std::vector<std::unique_ptr<ObjectReader>> readers_;
  std::vector<std::unique_ptr<ObjectCollector>> collectors_;
  std::unique_ptr<ObjectReplacer> replacer_;
  std::vector<int64_t> seen_;  // commits that were visible, of this frame
  int64_t seen_frame_ = 0;
  size_t stalled_ = 0;  // an actor that does nothing for a while
  int64_t steps_ = 0;
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_OBJECT_LIFE_H_
