#include "tests/sqlite/differential/killed_writers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <random>
#include <set>
#include <sqlite3.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "engine/base/status.h"
#include "tests/sqlite/children.h"
#include "tests/sqlite/database.h"
#include "tests/sqlite/differential/content.h"
#include "tests/sqlite/differential/random_sql.h"
#include "tests/support/temp_dir.h"

namespace cairn::test {

namespace {

constexpr int kWriters = 2;
constexpr int64_t kOfOneWriter = 1000000;  // numbers of its transactions

constexpr int64_t kMostOfRound = 4096;  // transactions that one writer commits in a round

// Facts that the processes report, also when they are killed.
struct Board {
  struct Line {
    std::atomic<int64_t> begun;  // the number of its newest transaction
    std::atomic<int64_t> count;  // of those in this round whose COMMIT returned
    std::array<std::atomic<int64_t>, kMostOfRound> acknowledged;
  };
  std::array<Line, kWriters> writers;
  std::atomic<int64_t> steps;  // of all, so that a kill meets them at work
};

class SharedBoard {
 public:
  SharedBoard()
      : board_(static_cast<Board*>(mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    if (board_ == MAP_FAILED) std::abort();
  }
  SharedBoard(const SharedBoard&) = delete;
  SharedBoard& operator=(const SharedBoard&) = delete;
  ~SharedBoard() { munmap(board_, sizeof(Board)); }
  Board* operator->() const { return board_; }

 private:
  Board* board_;
};

// In which databases transaction `number` writes: bits.
int DatabasesOf(int64_t number) {
  Choices choices(static_cast<uint64_t>(number) * 3 + 1);
  return choices.OneIn(2) ? 3 : 1 + static_cast<int>(choices.Below(2));
}

std::vector<std::string> StatementsOf(int64_t number, int database, const std::string& schema) {
  Choices choices(static_cast<uint64_t>(number) * 7 + static_cast<uint64_t>(database));
  RandomSql sql(choices, choices.OneIn(6) ? 100 << 10 : 8 << 10);
  std::vector<std::string> statements;
  const int64_t count = 1 + choices.Below(6);
  int64_t depth = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (choices.OneIn(3)) {
      statements.push_back("SAVEPOINT s");
      ++depth;
    }
    std::string statement = choices.OneIn(5) ? sql.Definition(schema) : sql.Data(schema);
    // The shape of their trees depends on what a connection has done before, also in files of stock
    // SQLite.
    if (absl::StrContains(statement, ".words") || absl::StrContains(statement, ".boxes")) continue;
    statements.push_back(std::move(statement));
    if (depth > 0 && choices.OneIn(2)) statements.push_back("ROLLBACK TO s");
  }
  return statements;
}

// Makes the changes of a transaction in one database. Returns false if an error has ended it, which
// then happens on every side.
bool WriteBody(sqlite3* db, int64_t number, int database, const std::string& schema) {
  Answer(db, absl::StrCat("INSERT INTO ", schema, ".ledger(number) VALUES(", number, ")"));
  for (const std::string& statement : StatementsOf(number, database, schema)) {
    Answer(db, statement);
    if (sqlite3_get_autocommit(db) != 0) return false;
  }
  return true;
}

class Contest {
 public:
  explicit Contest(uint64_t seed) : seed_(seed), random_(seed) {}

  absl::Status Run(int64_t rounds) {
    for (const char* vfs : {"unix", "cairn"}) {
      CAIRN_RETURN_IF_ERROR(Apart("creator", [&] { return Create(vfs); }));
    }
    for (int64_t i = 0; i < rounds; ++i) {
      CAIRN_RETURN_IF_ERROR(Round());
      CAIRN_RETURN_IF_ERROR(Apart("examiner", [&] { return Examine(); }));
    }
    return absl::OkStatus();
  }

 private:
  std::string Path(int database) const { return directory_.Path(absl::StrCat("d", database)); }

  absl::Status Apart(const char* who, const std::function<absl::Status()>& body) const {
    return EndsWell(Begin(who, body))
               ? absl::OkStatus()
               : absl::DataLossError(absl::StrCat("seed ", seed_, ": ", who, " failed: see above"));
  }

  static std::string PathOn(const char* vfs, const std::string& path) {
    return std::string(vfs) == "cairn" ? path : path + ".stock";
  }

  absl::StatusOr<Database> Open(const char* vfs, int database) const {
    CAIRN_RETURN_IF_ERROR(LoadSqliteExtension());
    CAIRN_ASSIGN_OR_RETURN(Database opened, Database::OpenBy(vfs, PathOn(vfs, Path(database))));
    AddFunctions(opened.handle());
    CAIRN_RETURN_IF_ERROR(opened.Execute("PRAGMA busy_timeout=60000; PRAGMA cache_size=8"));
    return opened;
  }

  absl::Status Create(const char* vfs) const {
    for (int i = 0; i < 2; ++i) {
      CAIRN_ASSIGN_OR_RETURN(Database database, Open(vfs, i));
      CAIRN_RETURN_IF_ERROR(database.Execute(
          absl::StrCat("PRAGMA page_size=", 1024 << seed_ % 3, "; PRAGMA auto_vacuum=", seed_ % 2,
                       "; CREATE TABLE ledger(place INTEGER PRIMARY KEY, number INTEGER UNIQUE);"
                       "CREATE TABLE t0(id INTEGER PRIMARY KEY, a, b TEXT, c BLOB, d)")));
    }
    return absl::OkStatus();
  }

  // Until it is killed.
  absl::Status Write(int writer) {
    CAIRN_ASSIGN_OR_RETURN(Database database, Open("cairn", 0));
    CAIRN_RETURN_IF_ERROR(
        database.Execute(absl::StrCat("ATTACH 'file:", Path(1), "?vfs=cairn' AS x")));
    sqlite3* const db = database.handle();
    if (seed_ % 3 == 0) CAIRN_RETURN_IF_ERROR(database.Execute("PRAGMA synchronous=OFF"));
    Board::Line& line = board_->writers[static_cast<size_t>(writer)];
    while (line.count < kMostOfRound) {
      const int64_t unique = ++line.begun + kOfOneWriter * writer;
      // All begin with the same database, so that nobody waits for who waits for him.
      CAIRN_RETURN_IF_ERROR(database.Execute("BEGIN IMMEDIATE"));
      const int which = DatabasesOf(unique);
      bool goes_on = (which & 1) == 0 || WriteBody(db, unique, 0, "main");
      goes_on = goes_on && ((which & 2) == 0 || WriteBody(db, unique, 1, "x"));
      ++board_->steps;
      if (!goes_on) continue;
      const absl::Status committed = database.Execute("COMMIT");
      if (committed.ok()) {
        line.acknowledged[static_cast<size_t>(line.count.load())] = unique;
        ++line.count;
      } else {
        Answer(db, "ROLLBACK");  // a constraint that is deferred
      }
    }
    for (;;) pause();
  }

  absl::Status Read() {
    CAIRN_ASSIGN_OR_RETURN(Database database, Open("cairn", 0));
    for (;;) {
      CAIRN_RETURN_IF_ERROR(database.Execute("BEGIN"));
      const std::string before = Inspect(database.handle(), "main", /*structure=*/false);
      const int64_t steps = board_->steps;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if (Inspect(database.handle(), "main", /*structure=*/false) != before) {
        return absl::DataLossError(absl::StrCat("a reader's rows change, after step ", steps));
      }
      CAIRN_RETURN_IF_ERROR(database.Execute("COMMIT"));
    }
  }

  absl::Status Round() {
    std::vector<pid_t> children;
    for (int i = 0; i < kWriters; ++i) {
      children.push_back(Begin("writer", [&] { return Write(i); }));
    }
    children.push_back(Begin("reader", [&] { return Read(); }));
    const int64_t until = board_->steps + static_cast<int64_t>(random_() % 40);
    bool all_live = true;
    while (board_->steps < until && all_live) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      for (const pid_t child : children) all_live &= waitpid(child, nullptr, WNOHANG) == 0;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 5000));
    std::ranges::shuffle(children, random_);
    for (const pid_t child : children) {
      kill(child, SIGKILL);
      int state = 0;
      if (waitpid(child, &state, 0) == child && WIFEXITED(state)) all_live = false;
    }
    return all_live ? absl::OkStatus()
                    : absl::DataLossError(
                          absl::StrCat("seed ", seed_, ": a process ended by itself: see above"));
  }

  absl::Status Examine() {
    for (int i = 0; i < 2; ++i) CAIRN_RETURN_IF_ERROR(ExamineOne(i));
    for (Board::Line& line : board_->writers) line.count = 0;
    return absl::OkStatus();
  }

  // Numbers of transactions in the order of their commits.
  static std::vector<int64_t> Ledger(Database& database) {
    std::vector<int64_t> ledger;
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(database.handle(), "SELECT number FROM ledger ORDER BY place", -1,
                       &statement, nullptr);
    while (sqlite3_step(statement) == SQLITE_ROW) {
      ledger.push_back(sqlite3_column_int64(statement, 0));
    }
    sqlite3_finalize(statement);
    return ledger;
  }

  absl::Status ExamineOne(int which) {
    CAIRN_ASSIGN_OR_RETURN(Database frame, Open("cairn", which));
    CAIRN_ASSIGN_OR_RETURN(Database stock, Open("unix", which));
    const std::vector<int64_t> ledger = Ledger(frame), before = Ledger(stock);
    const std::string what = absl::StrCat("database ", which, ", ", ledger.size(), " transactions");
    if (ledger.size() < before.size() ||
        !std::equal(before.begin(), before.end(), ledger.begin())) {
      return absl::DataLossError(what + ": the ledger has lost some");
    }
    CAIRN_RETURN_IF_ERROR(stock.Execute("PRAGMA synchronous=OFF"));
    for (size_t i = before.size(); i < ledger.size(); ++i) {
      CAIRN_RETURN_IF_ERROR(stock.Execute("BEGIN"));
      if (!WriteBody(stock.handle(), ledger[i], which, "main")) {
        return absl::DataLossError(absl::StrCat(what, ": transaction ", ledger[i], " rolls back"));
      }
      CAIRN_RETURN_IF_ERROR(stock.Execute("COMMIT"));
    }
    const std::string of_frame = Inspect(frame.handle(), "main", /*structure=*/false);
    const std::string of_stock = Inspect(stock.handle(), "main", /*structure=*/false);
    if (of_frame != of_stock) {
      return absl::DataLossError(absl::StrCat(what, "\nstock: ", of_stock, "\nframe: ", of_frame));
    }
    return ExpectAcknowledged(ledger, before.size(), which, what);
  }

  // Checks the new part of the ledger.
  absl::Status ExpectAcknowledged(const std::vector<int64_t>& ledger, size_t from, int which,
                                  const std::string& what) const {
    std::set<int64_t> unexplained(ledger.begin() + static_cast<int64_t>(from), ledger.end());
    for (int writer = 0; writer < kWriters; ++writer) {
      const Board::Line& line = board_->writers[static_cast<size_t>(writer)];
      for (int64_t i = 0; i < line.count; ++i) {
        const int64_t number = line.acknowledged[static_cast<size_t>(i)];
        if ((DatabasesOf(number) >> which & 1) == 1 && unexplained.erase(number) == 0) {
          return absl::DataLossError(
              absl::StrCat(what, ": lost ", number, ", whose COMMIT returned"));
        }
      }
      unexplained.erase(line.begun + kOfOneWriter * writer);  // it may be there
    }
    if (unexplained.empty()) return absl::OkStatus();
    return absl::DataLossError(
        absl::StrCat(what, ": ", *unexplained.begin(), " was never committed"));
  }

  const uint64_t seed_;
  const TempDir directory_;
  const SharedBoard board_;
  std::mt19937_64 random_;
};

}  // namespace

absl::Status SearchWithKills(uint64_t seed, int64_t rounds) { return Contest(seed).Run(rounds); }

}  // namespace cairn::test
