// Processes that write random transactions to frames and are killed, and what stock SQLite makes of
// the same transactions.
#ifndef CAIRN_TESTS_SQLITE_DIFFERENTIAL_KILLED_WRITERS_H_
#define CAIRN_TESTS_SQLITE_DIFFERENTIAL_KILLED_WRITERS_H_

#include <cstdint>

#include "absl/status/status.h"

namespace cairn::test {

// Lets some processes write to the same two databases, together and alone, and kills them, `rounds`
// times. Each transaction is a function of a number, and adds that number to a ledger in each of
// its databases. After each round:
//   - the ledger has every transaction whose COMMIT returned, and at most one more of each process;
//   - the database is what stock SQLite makes of the transactions in the ledger, in its order.
// A kill between the commits of two databases may leave a transaction in the first one alone. A
// reader sees the same rows as long as its transaction lasts.
absl::Status SearchWithKills(uint64_t seed, int64_t rounds);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SQLITE_DIFFERENTIAL_KILLED_WRITERS_H_
