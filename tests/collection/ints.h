// Members of 32-bit integers.
#ifndef CAIRN_TESTS_COLLECTION_INTS_H_
#define CAIRN_TESTS_COLLECTION_INTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/collection.h"
#include "tests/support/status.h"

namespace cairn::test {

using Ints = std::vector<int32_t>;

// Reads all items of a member. If it cannot be read, the test fails.
inline Ints IntsOf(const CollectionSnapshot& snapshot, const std::string& name) {
  const absl::StatusOr<Snapshot> member = snapshot.OpenMember(name);
  if (!IsOk(member)) {
    ADD_FAILURE() << name << ": " << member.status();
    return {};
  }
  Ints numbers(static_cast<size_t>(member->info().nitems));
  EXPECT_TRUE(IsOk(member->ReadItems(0, numbers)));
  return numbers;
}

}  // namespace cairn::test

#endif  // CAIRN_TESTS_COLLECTION_INTS_H_
