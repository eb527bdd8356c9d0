// Several writers of one frame in an object store, over a bad network.
#include <cstdint>
#include <memory>

#include <gtest/gtest.h>

#include "cairn/object_store.h"
#include "tests/object/edit_sequence.h"
#include "tests/support/search.h"

namespace cairn::test {
namespace {

class ObjectEditsTest : public testing::TestWithParam<EditedKind> {};

TEST_P(ObjectEditsTest, AFrameIsWhatWasCommittedWhateverTheNetworkDoes) {
  constexpr FaultChances kChances = {.unavailable = 3,
                                     .lost = 2,
                                     .answer_lost = 3,
                                     .delayed = 3,
                                     .repeated = 4,
                                     .refused = 2,
                                     .reads_unavailable = 2};
  for (int64_t i = 0; i < SearchRuns(200) && !HasFailure(); ++i) {
    SCOPED_TRACE(testing::Message() << "sequence " << i);
    RunEditSequence({.kind = GetParam(), .seed = static_cast<uint64_t>(i), .chances = kChances},
                    MakeMemoryObjectStore());
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ObjectEditsTest, testing::ValuesIn(kEditedKinds),
                         [](const auto& kind) { return NameOf(kind.param); });

}  // namespace
}  // namespace cairn::test
