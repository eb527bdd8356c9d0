#include "tools/bench/sqlite/workloads.h"

#include <algorithm>
#include <span>

#include "absl/strings/str_cat.h"

#include "tools/bench/results/contest.h"
#include "tools/bench/sqlite/rows.h"
#include "tools/status.h"

namespace cairn::bench::sqlite {

namespace {

using Commits = std::vector<double>;

constexpr char kUpdate[] = "UPDATE orders SET state = 'closed', amount = ?, note = ? WHERE id = ?";
constexpr char kRead[] = "SELECT length(note) FROM orders WHERE id = ?";

absl::Status Timed(Commits& commits, const std::function<absl::Status()>& commit) {
  const double start = Now(Clock::kWall);
  RETURN_IF_ERROR(commit());
  commits.push_back(Now(Clock::kWall) - start);
  return absl::OkStatus();
}

absl::Status InsertEach(Connection& connection, std::span<const Row> rows, Commits& commits) {
  ASSIGN_OR_RETURN(Statement insert, connection.Prepare(kInsert));
  for (const Row& row : rows) {
    RETURN_IF_ERROR(Timed(commits, [&] { return Insert(insert, row); }));
  }
  return absl::OkStatus();
}

// The change that kUpdate makes to a row.
struct Change {
  int64_t id;
  double amount;
  std::string note;
};

// Makes changes of rows up to `rows`, before time is taken.
std::vector<Change> MakeChanges(uint64_t seed, int64_t rows, int64_t count) {
  Rows random(seed);
  std::vector<Change> changes;
  changes.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    changes.push_back({.id = 1 + random.Below(rows),
                       .amount = static_cast<double>(random.Below(100000)) / 100,
                       .note = random.Note()});
  }
  return changes;
}

absl::Status Update(Statement& update, const Change& change) {
  update.Bind(1, change.amount);
  update.Bind(2, change.note);
  update.Bind(3, change.id);
  return update.Run().status();
}

absl::Status UpdateRows(Connection& connection, std::span<const Change> changes,
                        size_t in_transaction, Commits& commits) {
  ASSIGN_OR_RETURN(Statement update, connection.Prepare(kUpdate));
  while (!changes.empty()) {
    RETURN_IF_ERROR(connection.Execute("BEGIN"));
    for (const Change& change : changes.first(in_transaction)) {
      RETURN_IF_ERROR(Update(update, change));
    }
    RETURN_IF_ERROR(Timed(commits, [&] { return connection.Execute("COMMIT"); }));
    changes = changes.subspan(in_transaction);
  }
  return absl::OkStatus();
}

absl::Status ReadRows(Connection& connection, int64_t rows, int64_t count) {
  Rows random(3);
  ASSIGN_OR_RETURN(Statement read, connection.Prepare(kRead));
  for (int64_t i = 0; i < count; ++i) {
    read.Bind(1, 1 + random.Below(rows));
    ASSIGN_OR_RETURN(const int64_t length, read.Run());
    if (length < 90) return absl::DataLossError("a row is not what was written");
  }
  return absl::OkStatus();
}

absl::Status Scan(Connection& connection, const char* sql, int64_t least, int times) {
  ASSIGN_OR_RETURN(Statement scan, connection.Prepare(sql));
  for (int i = 0; i < times; ++i) {
    ASSIGN_OR_RETURN(const int64_t sum, scan.Run());
    if (sum < least) return absl::DataLossError("rows are missing");
  }
  return absl::OkStatus();
}

std::vector<Row> RowsAfter(int64_t last, int64_t count) {
  std::vector<Row> rows = MakeRows(5, count);
  for (Row& row : rows) row.id += last;
  return rows;
}

// Mixes ten operations: eight are reads, one inserts and one updates.
absl::Status Mix(Connection& connection, int64_t rows, std::span<const Row> inserted,
                 std::span<const Change> changes, Commits& commits) {
  Rows random(4);
  ASSIGN_OR_RETURN(Statement read, connection.Prepare(kRead));
  ASSIGN_OR_RETURN(Statement update, connection.Prepare(kUpdate));
  ASSIGN_OR_RETURN(Statement insert, connection.Prepare(kInsert));
  for (size_t i = 0; i < inserted.size(); ++i) {
    for (int j = 0; j < 8; ++j) {
      read.Bind(1, 1 + random.Below(rows));
      RETURN_IF_ERROR(read.Run().status());
    }
    RETURN_IF_ERROR(Timed(commits, [&] { return Insert(insert, inserted[i]); }));
    RETURN_IF_ERROR(Timed(commits, [&] { return Update(update, changes[i]); }));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Load(Connection& connection, std::span<const Row> rows) {
  RETURN_IF_ERROR(connection.Execute("BEGIN"));
  {
    ASSIGN_OR_RETURN(Statement insert, connection.Prepare(kInsert));
    for (const Row& row : rows) RETURN_IF_ERROR(Insert(insert, row));
  }
  return connection.Execute("COMMIT");
}

std::vector<Workload> AllWorkloads(const Sizes& sizes) {
  const int64_t rows = sizes.rows;
  const auto scaled = [&](int64_t ops) {
    return std::max<int64_t>(10, static_cast<int64_t>(static_cast<double>(ops) * sizes.scale)) /
           10 * 10;
  };
  std::vector<Workload> all;
  for (const bool durable : {true, false}) {
    const int64_t ops = scaled(20000);
    all.push_back({.name = durable ? "insert" : "insert-off",
                   .text = absl::StrCat(ops, " one-row transactions"),
                   .start = Start::kEmpty,
                   .durable = durable,
                   .ops = ops,
                   .goal = durable ? 0.9 : 1.3,
                   .run = [made = MakeRows(1, ops)](Connection& connection, Commits& commits) {
                     return InsertEach(connection, made, commits);
                   }});
  }
  for (const bool indexed : {false, true}) {
    all.push_back(
        {.name = indexed ? "load-index" : "load",
         .text = absl::StrCat(rows, " rows in one transaction", indexed ? ", with an index" : ""),
         .start = indexed ? Start::kEmptyIndexed : Start::kEmpty,
         .durable = true,
         .ops = rows,
         .goal = 0.7,
         .run = [made = MakeRows(1, rows)](Connection& connection, Commits&) {
           return Load(connection, made);
         }});
  }
  for (const bool cold : {true, false}) {
    const int64_t ops = scaled(cold ? 5000 : 100000);
    all.push_back(
        {.name = cold ? "read-cold" : "read-warm",
         .text = absl::StrCat(ops, " random rows, ", cold ? "page cache dropped" : "warm"),
         .start = Start::kShared,
         .durable = true,
         .ops = ops,
         .goal = cold ? 0.2 : 1.1,
         .cold = cold,
         .run = [=](Connection& connection, Commits&) { return ReadRows(connection, rows, ops); }});
  }
  all.push_back({.name = "scan",
                 .text = "3 scans of the table",
                 .start = Start::kShared,
                 .durable = true,
                 .ops = 3 * rows,
                 .run = [=](Connection& connection, Commits&) {
                   return Scan(connection, "SELECT sum(length(note)) FROM orders", rows * 90, 3);
                 }});
  all.push_back({.name = "scan-index",
                 .text = "rows by the index",
                 .start = Start::kShared,
                 .durable = true,
                 .ops = rows / 16,
                 .run = [=](Connection& connection, Commits&) {
                   return Scan(connection,
                               "SELECT sum(length(note)) FROM orders WHERE customer < '08'",
                               rows * 90 / 20, 1);
                 }});
  for (const bool durable : {true, false}) {
    const int64_t ops = scaled(50000);
    all.push_back(
        {.name = durable ? "update" : "update-off",
         .text = absl::StrCat(ops, " updates of random rows, transactions of 10"),
         .start = Start::kLoaded,
         .durable = durable,
         .ops = ops,
         .goal = durable ? std::optional(1.0) : std::nullopt,
         .run = [made = MakeChanges(2, rows, ops)](Connection& connection, Commits& commits) {
           return UpdateRows(connection, made, 10, commits);
         }});
  }
  const int64_t ops = scaled(50000);
  all.push_back(
      {.name = "mixed",
       .text = absl::StrCat(ops, " operations: 8 reads, 1 insert, 1 update of 10"),
       .start = Start::kLoaded,
       .durable = true,
       .ops = ops,
       .run = [rows, inserted = RowsAfter(rows, ops / 10),
               changes = MakeChanges(4, rows, ops / 10)](Connection& connection, Commits& commits) {
         return Mix(connection, rows, inserted, changes, commits);
       }});
  return all;
}

}  // namespace cairn::bench::sqlite
