// A database in which only whole transactions give the right sums.
#ifndef CAIRN_TESTS_SQLITE_BANK_H_
#define CAIRN_TESTS_SQLITE_BANK_H_

#include <cstdint>
#include <random>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "tests/sqlite/database.h"

namespace cairn::test {

// Accounts of half a page each, so that a transaction changes more than ten pages. Transaction N
// moves money between accounts, writes N on twelve of them, and adds itself to a ledger.
class Bank {
 public:
  explicit Bank(Database& database) : database_(database) {}

  absl::Status Create(int page_size);
  // Some roll back to a savepoint first, or are done after a rollback of all.
  absl::Status Transact(int64_t number, std::mt19937_64& random);
  // Does the transaction without the COMMIT.
  absl::Status Write(int64_t number, std::mt19937_64& random);
  // Makes all changes of a transaction that has begun.
  absl::Status Move(int64_t number, std::mt19937_64& random);
  // The number of the newest transaction, of one snapshot. kDataLoss where transactions are
  // missing or half there.
  absl::StatusOr<int64_t> Check();

 private:
  Database& database_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SQLITE_BANK_H_
