// The locks of readers, which belong to open file descriptions: forked processes share them.
#ifndef CAIRN_TESTS_CRASH_MODEL_READER_LOCKS_H_
#define CAIRN_TESTS_CRASH_MODEL_READER_LOCKS_H_

#include <cstdint>
#include <memory>
#include <set>

#include "tests/crash/model/rules.h"

namespace cairn::model {

// The file as one process has it open. Its readers register generations of checkpoints; those of
// the index of a sparse frame, one number.
class ReaderLocks {
 public:
  explicit ReaderLocks(const ForkRules& rules) : rules_(rules) {}

  bool AnyIn(uint64_t first, uint64_t end) const;
  void Lock(uint64_t generation);
  // Ends the lock of one reader. Others of this process may have an equal one.
  void Unlock(uint64_t generation);
  // Returns the locks of a child that is forked now: with the same description, and copies of the
  // readers.
  std::shared_ptr<ReaderLocks> Fork();

 private:
  void Own();

  const ForkRules& rules_;
  bool is_child_ = false;   // and has the description of its parent
  bool may_share_ = false;  // a child was forked since the file has this description
  std::shared_ptr<std::set<uint64_t>> description_ = std::make_shared<std::set<uint64_t>>();
  std::multiset<uint64_t> held_;  // by the readers of this process
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_READER_LOCKS_H_
