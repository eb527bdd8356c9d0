// Power cuts and kills under the VFS, at any operation of the disk: what is found then is a state
// that one transaction left, with all that was acknowledged as durable.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <sqlite3.h>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gtest/gtest.h>

#include "engine/base/status.h"
#include "tests/sqlite/bank.h"
#include "tests/sqlite/database.h"
#include "tests/sqlite/swapped_files.h"
#include "tests/support/dice.h"
#include "tests/support/search.h"
#include "tests/support/simulated_disk.h"
#include "tests/support/unowned.h"
#include "tools/sqlite/vfs/vfs.h"

namespace cairn::test {
namespace {

constexpr const char* kPath = "/bank.db";
// The number of a database before there is a bank. A bank without transactions has the number 0.
constexpr int64_t kNothing = -1;

// A VFS on one disk after the other.
class DiskVfs {
 public:
  DiskVfs(const char* name, std::chrono::milliseconds keep) : name_(name) {
    if (sqlite::RegisterVfs(name, {.files = Unowned(&files_), .keep = keep}) != SQLITE_OK)
      std::abort();
  }
  absl::StatusOr<Database> Open(SimulatedDisk& disk) {
    files_.Set(disk.root());
    return Database::OpenBy(name_, kPath);
  }

 private:
  const char* const name_;
  SwappedFiles files_;
};

// All live as long as the process. A disk is for one thread: a writer is never suspended by another
// one. It is kept until the connections are closed, or suspended after each transaction.
DiskVfs& Keeping() {
  static DiskVfs& vfs = *new DiskVfs("keeping", std::chrono::hours(1000));
  return vfs;
}
DiskVfs& Suspending(bool second = false) {
  static DiskVfs& a = *new DiskVfs("suspending", std::chrono::milliseconds(0));
  static DiskVfs& b = *new DiskVfs("suspending too", std::chrono::milliseconds(0));
  return second ? b : a;
}
DiskVfs& Examining() {
  static DiskVfs& vfs = *new DiskVfs("examining", std::chrono::hours(1000));
  return vfs;
}

// A hash of all rows.
absl::StatusOr<uint64_t> ContentOf(Database& database) {
  CAIRN_ASSIGN_OR_RETURN(
      const std::string rows,
      database.Text(
          "SELECT (SELECT group_concat(number || note) FROM (SELECT * FROM ledger ORDER BY number))"
          " || '/' || (SELECT group_concat(id || ',' || amount || ',' || number || hex(space))"
          " FROM (SELECT * FROM accounts ORDER BY id)) || '/' || ifnull((SELECT "
          "group_concat(id || hex(data)) FROM (SELECT * FROM goods ORDER BY id)), '')"));
  return std::hash<std::string>()(rows);
}

struct Finding {
  int64_t newest = kNothing;
  uint64_t content = 0;
};

absl::StatusOr<Finding> Read(Database& database) {
  CAIRN_ASSIGN_OR_RETURN(const std::string verdict, database.Text("PRAGMA integrity_check"));
  if (verdict != "ok") return absl::DataLossError(verdict);
  CAIRN_ASSIGN_OR_RETURN(const int64_t tables,
                         database.Number("SELECT count(*) FROM sqlite_schema WHERE name='ledger'"));
  if (tables == 0) return Finding{};
  CAIRN_ASSIGN_OR_RETURN(const int64_t newest, Bank(database).Check());
  CAIRN_ASSIGN_OR_RETURN(const uint64_t content, ContentOf(database));
  return Finding{newest, content};
}

// A connection of a process.
struct Connection {
  Database database;
  bool full = true;  // PRAGMA synchronous
};

// The events on a disk.
struct Plan {
  int64_t examined = 12;       // of 100 operations, before how many a crash is looked at
  int64_t looks = 2;           // at disks that a power cut may leave
  bool disk_errors = false;    // an operation of each process fails
  bool two_processes = false;  // they take turns
};

// Processes that write a bank, one after the other, and each is killed or cut off.
class BankLife {
 public:
  BankLife(uint64_t seed, const Plan& plan)
      : plan_(plan),
        dice_(seed),
        random_(seed),
        disk_(std::make_unique<SimulatedDisk>(seed)),
        trace_(NumberIn("CAIRN_CRASH_RUN", 0) != 0) {
    constexpr int kPageSizes[] = {512, 1024, 4096, 16384};
    page_size_ = kPageSizes[dice_.Below(4)];
    sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, static_cast<int>(seed), nullptr);
  }

  void Run() {
    for (process_ = 1; process_ <= 4 && !testing::Test::HasFailure(); ++process_) {
      Live();
      if (!testing::Test::HasFailure()) Crash();
    }
  }

  int64_t states() const { return std::ssize(findings_); }
  int64_t committed() const { return committed_; }

 private:
  void Live();
  void Crash();
  Fate Judge(const DiskOperation& operation);
  absl::Status Work();
  absl::Status Session();
  absl::Status LookAfterError(Database& database);
  absl::StatusOr<Connection> Open(bool second);
  absl::Status Create(Database& database);
  absl::Status CreateAndCommit(Database& database);
  absl::Status Transact(Connection& connection);
  absl::Status EditGoods(Database& database);
  void CrashBefore(const DiskOperation& operation);
  std::optional<Finding> Examine(SimulatedDisk& disk, Durability survived);
  absl::StatusOr<Finding> ReadDisk(SimulatedDisk& disk);
  absl::Status GoOn(SimulatedDisk& disk, int64_t newest);
  std::string Where() const {
    return absl::StrCat("process ", process_, ", pages of ", page_size_, ", transaction ",
                        attempted_, ", before ", operation_);
  }

  const Plan plan_;
  Dice dice_;
  std::mt19937_64 random_;
  std::unique_ptr<SimulatedDisk> disk_;
  const bool trace_;
  int page_size_ = 0;
  int process_ = 0;
  std::string operation_;      // the next one
  int64_t death_ = 0;          // the operation in which the process dies
  int64_t error_ = INT64_MAX;  // one that fails
  bool failed_ = false;
  int left_ = 0;  // transactions of this process
  int64_t attempted_ = kNothing;
  int64_t committed_ = kNothing;
  int64_t durable_ = kNothing;
  std::map<int64_t, uint64_t> contents_ = {{kNothing, 0}};          // by transaction
  std::unordered_map<uint64_t, absl::StatusOr<Finding>> findings_;  // by the hash of the disk
};

absl::StatusOr<Connection> BankLife::Open(bool second) {
  DiskVfs& vfs = plan_.two_processes ? Suspending(second) : Keeping();
  CAIRN_ASSIGN_OR_RETURN(Database database, vfs.Open(*disk_));
  constexpr const char* kJournals[] = {"DELETE", "TRUNCATE", "PERSIST", "MEMORY"};
  CAIRN_RETURN_IF_ERROR(database.Execute(
      absl::StrCat("PRAGMA temp_store=MEMORY; PRAGMA journal_mode=", kJournals[dice_.Below(4)],
                   "; PRAGMA cache_size=", dice_.Percent(30) ? 3 : 1000)));
  if (!plan_.two_processes && dice_.Percent(20)) {
    CAIRN_RETURN_IF_ERROR(database.Execute("PRAGMA locking_mode=EXCLUSIVE"));
  }
  return Connection{.database = std::move(database)};
}

// The bank itself comes in one transaction, the last.
absl::Status BankLife::Create(Database& database) {
  CAIRN_RETURN_IF_ERROR(database.Execute(
      absl::StrCat("PRAGMA auto_vacuum=", dice_.Below(3), "; PRAGMA page_size=", page_size_,
                   "; CREATE TABLE IF NOT EXISTS goods(id INTEGER PRIMARY KEY, data BLOB)")));
  return Bank(database).Create(page_size_);
}

absl::Status BankLife::CreateAndCommit(Database& database) {
  CAIRN_ASSIGN_OR_RETURN(Database same, Database::OpenBy("unix", ":memory:"));
  CAIRN_RETURN_IF_ERROR(Create(same));
  CAIRN_ASSIGN_OR_RETURN(contents_[0], ContentOf(same));
  attempted_ = 0;
  CAIRN_RETURN_IF_ERROR(Create(database));
  committed_ = durable_ = 0;
  return absl::OkStatus();
}

// Rows of up to three pages come, change and go, many at once too: the database becomes shorter.
absl::Status BankLife::EditGoods(Database& database) {
  if (dice_.Percent(40)) {
    CAIRN_RETURN_IF_ERROR(database.Execute(absl::StrCat(
        "WITH RECURSIVE some(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM some WHERE n < ",
        1 + dice_.Below(dice_.Percent(10) ? 40 : 6), ") INSERT INTO goods(data) SELECT randomblob(",
        1 + dice_.Below(static_cast<size_t>(3 * page_size_)), ") FROM some")));
  }
  if (dice_.Percent(20)) {
    CAIRN_RETURN_IF_ERROR(database.Execute(absl::StrCat(
        "UPDATE goods SET data = randomblob(length(data) / 2) WHERE id % 5 = ", dice_.Below(5))));
  }
  if (dice_.Percent(25)) {
    CAIRN_RETURN_IF_ERROR(database.Execute(
        dice_.Percent(30) ? std::string("DELETE FROM goods")
                          : absl::StrCat("DELETE FROM goods WHERE id % 3 = ", dice_.Below(3))));
  }
  return absl::OkStatus();
}

absl::Status BankLife::Transact(Connection& connection) {
  Database& database = connection.database;
  if (dice_.Percent(30)) {
    connection.full = dice_.Percent(50);
    CAIRN_RETURN_IF_ERROR(database.Execute(absl::StrCat(
        "PRAGMA synchronous=", connection.full ? (dice_.Percent(50) ? "FULL" : "NORMAL") : "OFF")));
  }
  const int64_t number = committed_ + 1;
  CAIRN_RETURN_IF_ERROR(Bank(database).Write(number, random_));
  CAIRN_RETURN_IF_ERROR(EditGoods(database));
  CAIRN_ASSIGN_OR_RETURN(contents_[number], ContentOf(database));
  attempted_ = number;
  CAIRN_RETURN_IF_ERROR(database.Execute("COMMIT"));
  committed_ = number;
  if (connection.full) durable_ = number;
  if (dice_.Percent(5)) CAIRN_RETURN_IF_ERROR(database.Execute("VACUUM"));
  if (dice_.Percent(5)) CAIRN_RETURN_IF_ERROR(database.Execute("PRAGMA incremental_vacuum(3)"));
  return absl::OkStatus();
}

// The failed transaction is there wholly or not at all, and the connection is as good as a new one.
absl::Status BankLife::LookAfterError(Database& database) {
  database.Execute("ROLLBACK").IgnoreError();  // SQLite has done so after some errors
  CAIRN_ASSIGN_OR_RETURN(const Finding found, Read(database));
  if (found.newest < committed_ || found.newest > attempted_ ||
      found.content != contents_[found.newest]) {
    return absl::DataLossError(absl::StrCat("transaction ", found.newest, " is the newest"));
  }
  committed_ = found.newest;
  return absl::OkStatus();
}

// From the first connection to the last.
absl::Status BankLife::Session() {
  std::vector<Connection> connections;
  for (int i = 0; i < (plan_.two_processes ? 2 : 1); ++i) {
    CAIRN_ASSIGN_OR_RETURN(Connection connection, Open(i == 1));
    connections.push_back(std::move(connection));
  }
  if (failed_) CAIRN_RETURN_IF_ERROR(LookAfterError(connections[0].database));
  if (committed_ == kNothing) CAIRN_RETURN_IF_ERROR(CreateAndCommit(connections[0].database));
  const int until = left_ - 1 - static_cast<int>(dice_.Below(30));
  for (; left_ > std::max(until, 0); --left_) {
    Connection& connection = connections[dice_.Below(connections.size())];
    const bool failed_before = failed_;
    const absl::Status status = Transact(connection);
    if (status.ok()) continue;
    if (failed_before || !failed_ || disk_->dead() || dice_.Percent(50)) return status;
    CAIRN_RETURN_IF_ERROR(LookAfterError(connection.database));
  }
  return absl::OkStatus();
}

// Until it dies, or has done enough.
absl::Status BankLife::Work() {
  failed_ = false;
  for (left_ = 40; left_ > 0;) {
    const bool failed_before = failed_;
    const absl::Status status = Session();
    const bool is_injected = failed_ && !failed_before;
    if (disk_->dead() || (!status.ok() && !is_injected)) return status;
  }
  return absl::OkStatus();
}

Fate BankLife::Judge(const DiskOperation& operation) {
  operation_ = ToString(operation);
  if (trace_) std::cerr << Where() << '\n';
  if (dice_.Percent(static_cast<size_t>(plan_.examined))) CrashBefore(operation);
  if (operation.number >= error_ && !failed_ && operation.number < death_) {
    failed_ = true;
    return {.kind = Fate::Kind::kFail, .written = SomeSectors(operation, dice_)};
  }
  if (operation.number < death_) return {};
  return {.kind = Fate::Kind::kDie, .written = SomeSectors(operation, dice_)};
}

void BankLife::Live() {
  death_ =
      disk_->operations() + 1 + static_cast<int64_t>(dice_.Below(dice_.Percent(20) ? 20 : 200));
  if (plan_.disk_errors) {
    error_ = disk_->operations() + static_cast<int64_t>(dice_.Below(60));
  }
  disk_->Judge([this](const DiskOperation& operation) { return Judge(operation); });
  const absl::Status status = Work();
  EXPECT_TRUE(status.ok() || disk_->dead()) << status << ", " << Where();
  disk_->Judge({});
}

void BankLife::CrashBefore(const DiskOperation& operation) {
  if (testing::Test::HasFailure()) return;
  Examine(*disk_->Clone(), Durability::kProcess);
  if (operation.kind == DiskOperation::Kind::kWrite) {
    const auto torn = disk_->Clone();
    torn->DoPart(operation, SomeSectors(operation, dice_));
    Examine(*torn, Durability::kProcess);
  }
  const std::vector<int64_t> times = disk_->PendingTimes();
  Examine(*disk_->PowerLossAt(times[dice_.Below(times.size())]), Durability::kMachine);
  for (int64_t i = 0; i < plan_.looks; ++i) {
    Examine(*disk_->PowerLoss(dice_), Durability::kMachine);
  }
}

absl::StatusOr<Finding> BankLife::ReadDisk(SimulatedDisk& disk) {
  if (!disk.root()->Identity(kPath).ok()) return Finding{};
  const int64_t operations = disk.operations();
  absl::StatusOr<Finding> found;
  {
    CAIRN_ASSIGN_OR_RETURN(Database database, Examining().Open(disk));
    found = Read(database);
  }
  if (found.ok() && disk.operations() != operations) return absl::DataLossError("a reader wrote");
  return found;
}

// Another process writes on what a crash has left.
absl::Status BankLife::GoOn(SimulatedDisk& disk, int64_t newest) {
  uint64_t content = 0;
  {
    CAIRN_ASSIGN_OR_RETURN(Database database, Examining().Open(disk));
    for (int i = 0; i < 2; ++i) {
      CAIRN_RETURN_IF_ERROR(Bank(database).Transact(++newest, random_));
    }
    CAIRN_RETURN_IF_ERROR(database.Execute("VACUUM"));
    CAIRN_ASSIGN_OR_RETURN(content, ContentOf(database));
  }
  const auto after = disk.PowerLoss(dice_);
  CAIRN_ASSIGN_OR_RETURN(const Finding found, ReadDisk(*after));
  if (found.newest == newest && found.content == content) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("transaction ", found.newest, " instead of ", newest));
}

std::optional<Finding> BankLife::Examine(SimulatedDisk& disk, Durability survived) {
  const auto [entry, is_new] = findings_.try_emplace(disk.Hash(), Finding{});
  if (is_new) entry->second = ReadDisk(disk);
  const char* const what = survived == Durability::kMachine ? "a power cut" : "a kill";
  if (!entry->second.ok()) {
    ADD_FAILURE() << "after " << what << ", " << Where() << ": " << entry->second.status();
    return std::nullopt;
  }
  const Finding found = *entry->second;
  const int64_t oldest = survived == Durability::kMachine ? durable_ : committed_;
  if (found.newest < oldest || found.newest > attempted_ ||
      found.content != contents_[found.newest]) {
    ADD_FAILURE() << "after " << what << ", " << Where() << ": transaction " << found.newest
                  << " is the newest, with content " << found.content << " for "
                  << contents_[found.newest] << "; " << committed_ << " was acknowledged, "
                  << durable_ << " as durable";
    return std::nullopt;
  }
  if (is_new && found.newest != kNothing && dice_.Percent(5)) {
    const absl::Status went_on = GoOn(*disk.Clone(), found.newest);
    EXPECT_TRUE(went_on.ok()) << "a process goes on after " << what << ", " << Where() << ": "
                              << went_on;
  }
  return found;
}

// The process is dead.
void BankLife::Crash() {
  const bool killed = dice_.Percent(25);
  std::unique_ptr<SimulatedDisk> next;
  std::optional<Finding> found;
  for (int i = 0; i < (killed ? 1 : 6); ++i) {
    next = killed ? disk_->Clone() : disk_->PowerLoss(dice_);
    next->Revive();
    found = Examine(*next, killed ? Durability::kProcess : Durability::kMachine);
    if (!found.has_value()) return;
  }
  disk_ = std::move(next);
  attempted_ = committed_ = found->newest;
  if (!killed) durable_ = committed_;
}

void RunLives(int64_t count, const Plan& plan) {
  int64_t states = 0;
  int64_t transactions = 0;
  ForEachSeed(count, [&](uint64_t seed) {
    if (testing::Test::HasFailure()) return;
    SCOPED_TRACE(testing::Message() << "CAIRN_CRASH_RUN=" << seed);
    BankLife life(seed, plan);
    life.Run();
    states += life.states();
    transactions += life.committed();
  });
  EXPECT_GT(states, 0);
  EXPECT_GT(transactions, 0);
  std::cout << states << " states, " << transactions << " transactions\n";
}

TEST(VfsPowerTest, CrashesOfOneProcessAfterTheOtherLeaveWholeTransactions) { RunLives(36, {}); }

TEST(VfsPowerTest, CrashesOfProcessesThatTakeTurnsLeaveWholeTransactions) {
  RunLives(30, {.two_processes = true});
}

TEST(VfsPowerTest, AfterAnErrorOfTheDiskTransactionsAreWhole) {
  RunLives(40, {.examined = 4, .disk_errors = true});
}

}  // namespace
}  // namespace cairn::test
