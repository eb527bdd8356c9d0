#include "tests/sqlite/bank.h"

#include "absl/strings/str_cat.h"

#include "engine/base/status.h"

namespace cairn::test {

namespace {

constexpr int kAccounts = 40;
constexpr int kStamped = 12;  // accounts that every transaction writes its number on

}  // namespace

absl::Status Bank::Create(int page_size) {
  CAIRN_RETURN_IF_ERROR(database_.Execute(absl::StrCat("PRAGMA page_size=", page_size)));
  return database_.Execute(absl::StrCat(
      "BEGIN; CREATE TABLE ledger(number INTEGER PRIMARY KEY, note TEXT);"
      "CREATE TABLE accounts(id INTEGER PRIMARY KEY, amount INTEGER, number INTEGER, space BLOB);"
      "CREATE INDEX by_amount ON accounts(amount);"
      "WITH RECURSIVE ids(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < ",
      kAccounts, ") INSERT INTO accounts SELECT id, 1000, 0, zeroblob(", page_size / 2,
      ") FROM ids; COMMIT"));
}

absl::Status Bank::Move(int64_t number, std::mt19937_64& random) {
  CAIRN_RETURN_IF_ERROR(database_.Execute(absl::StrCat("UPDATE accounts SET number=", number,
                                                       ", space=randomblob(length(space)) "
                                                       "WHERE id <= ",
                                                       kStamped)));
  for (int i = 0; i < 5; ++i) {
    const auto amount = random() % 100, from = 1 + random() % kAccounts,
               to = 1 + random() % kAccounts;
    CAIRN_RETURN_IF_ERROR(database_.Execute(
        absl::StrCat("UPDATE accounts SET amount = amount - ", amount, " WHERE id=", from,
                     "; UPDATE accounts SET amount = amount + ", amount, " WHERE id=", to)));
  }
  return database_.Execute(
      absl::StrCat("INSERT INTO ledger VALUES(", number, ", hex(randomblob(40)))"));
}

absl::Status Bank::Transact(int64_t number, std::mt19937_64& random) {
  CAIRN_RETURN_IF_ERROR(Write(number, random));
  return database_.Execute("COMMIT");
}

absl::Status Bank::Write(int64_t number, std::mt19937_64& random) {
  if (random() % 8 == 0) {
    CAIRN_RETURN_IF_ERROR(database_.Execute("BEGIN IMMEDIATE"));
    CAIRN_RETURN_IF_ERROR(Move(number, random));
    CAIRN_RETURN_IF_ERROR(database_.Execute("ROLLBACK"));
  }
  CAIRN_RETURN_IF_ERROR(database_.Execute("BEGIN IMMEDIATE"));
  if (random() % 4 == 0) {
    CAIRN_RETURN_IF_ERROR(database_.Execute("SAVEPOINT before"));
    CAIRN_RETURN_IF_ERROR(Move(number, random));
    CAIRN_RETURN_IF_ERROR(database_.Execute(
        "UPDATE accounts SET amount = -1; DELETE FROM ledger; ROLLBACK TO before"));
  }
  CAIRN_RETURN_IF_ERROR(database_.Execute("SAVEPOINT whole"));
  CAIRN_RETURN_IF_ERROR(Move(number, random));
  return database_.Execute("RELEASE whole");
}

absl::StatusOr<int64_t> Bank::Check() {
  CAIRN_RETURN_IF_ERROR(database_.Execute("BEGIN"));
  CAIRN_ASSIGN_OR_RETURN(const int64_t newest, database_.Number("SELECT max(number) FROM ledger"));
  CAIRN_ASSIGN_OR_RETURN(const int64_t count, database_.Number("SELECT count(*) FROM ledger"));
  CAIRN_ASSIGN_OR_RETURN(const int64_t sum, database_.Number("SELECT sum(amount) FROM accounts"));
  CAIRN_ASSIGN_OR_RETURN(const int64_t by_index,
                         database_.Number("SELECT sum(amount) FROM accounts INDEXED BY by_amount"));
  CAIRN_ASSIGN_OR_RETURN(const int64_t stamped,
                         database_.Number(absl::StrCat("SELECT count(*) FROM accounts WHERE id <= ",
                                                       kStamped, " AND number=", newest)));
  CAIRN_RETURN_IF_ERROR(database_.Execute("COMMIT"));
  if (sum != 1000 * kAccounts || by_index != sum || stamped != kStamped || count != newest) {
    return absl::DataLossError(
        absl::StrCat("after transaction ", newest, ": ", count, " are in the ledger, the sum is ",
                     sum, ", by the index ", by_index, ", ", stamped, " accounts have its number"));
  }
  return newest;
}

}  // namespace cairn::test
