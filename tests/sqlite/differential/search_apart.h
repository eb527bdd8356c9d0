// Looks for a script that makes the sides differ, and for the shortest part of it that does.
#ifndef CAIRN_TESTS_SQLITE_DIFFERENTIAL_SEARCH_APART_H_
#define CAIRN_TESTS_SQLITE_DIFFERENTIAL_SEARCH_APART_H_

#include <cstdint>

#include "absl/status/status.h"

#include "tests/sqlite/differential/script_maker.h"

namespace cairn::test {

// Runs `count` scripts of `steps` steps, from seed `first` on, each beside stock SQLite. Scripts
// run in processes of their own, which may end in any way. kDataLoss has the seed, what differs,
// and the steps that are needed for it.
absl::Status SearchApart(Manner manner, uint64_t first, int64_t count, int steps);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SQLITE_DIFFERENTIAL_SEARCH_APART_H_
