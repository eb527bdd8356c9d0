// Random edits by several writers of one frame in an object store, against a plain model of what is
// committed.
#ifndef CAIRN_TESTS_OBJECT_EDIT_SEQUENCE_H_
#define CAIRN_TESTS_OBJECT_EDIT_SEQUENCE_H_

#include <cstdint>
#include <memory>

#include "cairn/object_store.h"
#include "tests/object/plain_edits.h"
#include "tests/support/fault_object_store.h"

namespace cairn::test {

struct EditSequence {
  EditedKind kind = EditedKind::kItems;
  uint64_t seed = 0;  // of the edits, and of the faults
  int steps = 40;
  FaultChances chances = {};  // what becomes of requests on their way to the store
};

// Makes the frame "f" and edits it. After each commit it is what was committed; in the end every
// generation that can be opened is so, and nothing is damaged. Returns how many states it had.
int64_t RunEditSequence(const EditSequence& sequence, std::shared_ptr<ObjectStore> store);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_OBJECT_EDIT_SEQUENCE_H_
