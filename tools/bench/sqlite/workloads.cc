#include "tools/bench/sqlite/workloads.h"

#include <algorithm>

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

absl::Status InsertEach(Connection& connection, int64_t count, Commits& commits) {
  Rows rows(1);
  ASSIGN_OR_RETURN(Statement insert, connection.Prepare(kInsert));
  for (int64_t i = 0; i < count; ++i) {
    const Row row = rows.Next();
    RETURN_IF_ERROR(Timed(commits, [&] { return Insert(insert, row); }));
  }
  return absl::OkStatus();
}

absl::Status UpdateRows(Connection& connection, int64_t rows, int64_t count, int in_transaction,
                        Commits& commits) {
  Rows random(2);
  ASSIGN_OR_RETURN(Statement update, connection.Prepare(kUpdate));
  for (int64_t i = 0; i < count; i += in_transaction) {
    RETURN_IF_ERROR(connection.Execute("BEGIN"));
    for (int j = 0; j < in_transaction; ++j) {
      const std::string note = random.Note();
      update.Bind(1, static_cast<double>(random.Below(100000)) / 100);
      update.Bind(2, note);
      update.Bind(3, 1 + random.Below(rows));
      RETURN_IF_ERROR(update.Run().status());
    }
    RETURN_IF_ERROR(Timed(commits, [&] { return connection.Execute("COMMIT"); }));
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

// Of ten operations eight are reads, one inserts and one updates.
absl::Status Mix(Connection& connection, int64_t rows, int64_t count, Commits& commits) {
  Rows random(4);
  ASSIGN_OR_RETURN(Statement read, connection.Prepare(kRead));
  ASSIGN_OR_RETURN(Statement update, connection.Prepare(kUpdate));
  ASSIGN_OR_RETURN(Statement insert, connection.Prepare(kInsert));
  for (int64_t i = 0; i < count; ++i) {
    if (i % 10 < 8) {
      read.Bind(1, 1 + random.Below(rows));
      RETURN_IF_ERROR(read.Run().status());
    } else if (i % 10 == 8) {
      Row row = random.Next();
      row.id += rows;
      RETURN_IF_ERROR(Timed(commits, [&] { return Insert(insert, row); }));
    } else {
      const std::string note = random.Note();
      update.Bind(1, 9.99);
      update.Bind(2, note);
      update.Bind(3, 1 + random.Below(rows));
      RETURN_IF_ERROR(Timed(commits, [&] { return update.Run().status(); }));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Load(Connection& connection, int64_t count) {
  Rows rows(1);
  RETURN_IF_ERROR(connection.Execute("BEGIN"));
  {
    ASSIGN_OR_RETURN(Statement insert, connection.Prepare(kInsert));
    for (int64_t i = 0; i < count; ++i) RETURN_IF_ERROR(Insert(insert, rows.Next()));
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
                   .run = [=](Connection& connection, Commits& commits) {
                     return InsertEach(connection, ops, commits);
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
         .run = [=](Connection& connection, Commits&) { return Load(connection, rows); }});
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
    all.push_back({.name = durable ? "update" : "update-off",
                   .text = absl::StrCat(ops, " updates of random rows, transactions of 10"),
                   .start = Start::kLoaded,
                   .durable = durable,
                   .ops = ops,
                   .goal = durable ? std::optional(1.0) : std::nullopt,
                   .run = [=](Connection& connection, Commits& commits) {
                     return UpdateRows(connection, rows, ops, 10, commits);
                   }});
  }
  const int64_t ops = scaled(50000);
  all.push_back({.name = "mixed",
                 .text = absl::StrCat(ops, " operations: 8 reads, 1 insert, 1 update of 10"),
                 .start = Start::kLoaded,
                 .durable = true,
                 .ops = ops,
                 .run = [=](Connection& connection, Commits& commits) {
                   return Mix(connection, rows, ops, commits);
                 }});
  return all;
}

}  // namespace cairn::bench::sqlite
