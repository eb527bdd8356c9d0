// A file of others, which takes the space of a simulated disk.
#ifndef CAIRN_TESTS_CRASH_FILLER_H_
#define CAIRN_TESTS_CRASH_FILLER_H_

#include <algorithm>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include <gtest/gtest.h>

#include "tests/support/simulated_disk.h"
#include "tests/support/status.h"

namespace cairn::test {

// Makes the file "filler" as large or as small as it must be to leave `free` bytes, or all that it
// can give if that is less.
inline void LeaveFree(SimulatedDisk& disk, int64_t free) {
  absl::StatusOr<std::unique_ptr<File>> filler = disk.root()->Open("filler", FileMode::kReadWrite);
  if (!filler.ok()) filler = disk.root()->Open("filler", FileMode::kCreateNew);
  ASSERT_TRUE(IsOk(filler));
  const int64_t before = *(*filler)->Size();
  const int64_t size = before + disk.Free() - std::min(before + disk.Free(), free);
  ASSERT_TRUE(IsOk((*filler)->Truncate(std::min(size, before))));
  ASSERT_TRUE(IsOk((*filler)->Reserve(size)));
}

}  // namespace cairn::test

#endif  // CAIRN_TESTS_CRASH_FILLER_H_
