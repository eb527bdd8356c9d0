// Makes rows like those of a small application, equal for every contender.
#ifndef CAIRN_TOOLS_BENCH_SQLITE_ROWS_H_
#define CAIRN_TOOLS_BENCH_SQLITE_ROWS_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "tools/bench/sqlite/connection.h"

namespace cairn::bench::sqlite {

inline constexpr char kCreateTable[] =
    "CREATE TABLE orders(id INTEGER PRIMARY KEY, at INTEGER, customer TEXT, state TEXT, "
    "amount REAL, note TEXT)";
inline constexpr char kCreateIndex[] = "CREATE INDEX orders_by_customer ON orders(customer, at)";
inline constexpr char kInsert[] = "INSERT INTO orders VALUES(?, ?, ?, ?, ?, ?)";

struct Row {
  int64_t id;
  int64_t at;
  std::string customer;  // 16 random hexadecimal digits
  std::string state;
  double amount;
  std::string note;  // words: about 90 bytes
};

class Rows {
 public:
  explicit Rows(uint64_t seed) : random_(seed) {}

  Row Next();
  int64_t Below(int64_t end) { return static_cast<int64_t>(random_() % end); }
  std::string Note();

 private:
  std::mt19937_64 random_;
  int64_t id_ = 0;
  int64_t at_ = 1700000000;
};

// Makes the rows before time is taken.
std::vector<Row> MakeRows(uint64_t seed, int64_t count);

// Binds and runs kInsert.
absl::Status Insert(Statement& insert, const Row& row);

}  // namespace cairn::bench::sqlite

#endif  // CAIRN_TOOLS_BENCH_SQLITE_ROWS_H_
