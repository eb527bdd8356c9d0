// A side of a comparison: databases of one VFS, and the connections of a script to them.
#ifndef CAIRN_TESTS_SQLITE_DIFFERENTIAL_SIDE_H_
#define CAIRN_TESTS_SQLITE_DIFFERENTIAL_SIDE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <sqlite3.h>
#include <string>

#include "tests/sqlite/differential/step.h"

namespace cairn::test {

// The facts that a program can see of a step.
struct Outcome {
  int code = SQLITE_OK;  // extended
  std::string message;
  std::string rows;  // their beginning, and a hash of all
  int64_t changes = 0;
  int64_t rowid = 0;
  bool in_transaction = false;
  std::string states;       // sqlite3_txn_state of each schema
  bool reads_only = false;  // no statement of the step could have written
};

std::string ToString(const Outcome& outcome);

// How the databases of a side are made.
struct Layout {
  int databases = 3;
  int page_size = 4096;
  int auto_vacuum = 0;
  bool is_utf16 = false;
  bool has_frame_table = false;  // `fr.f` in every connection: a frame, or a table like it
  bool shares_cache = false;
};

class Side {
 public:
  // `journal_mode` of its databases, by default SQLite's own. Of `cairn` frames are made.
  Side(std::string vfs, std::string directory, const Layout& layout, std::string journal_mode);
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  ~Side();

  // Makes the databases. Returns a result code of SQLite.
  int Create();
  // Does the step, and never fails but in its outcome.
  Outcome Do(const Step& step);
  // Content and structure of all databases: as committed, by connections of its own, or as each
  // connection of the script sees its own.
  std::string InspectCommitted();
  std::string InspectOpen();
  // Bytes of all databases, as their VFS has them. No connection of the script may be open.
  std::string FileSizes();

  bool IsOpen(int connection) const { return connections_.contains(connection); }
  bool InTransaction(int connection) const;
  sqlite3* handle(int connection) const { return connections_.at(connection).get(); }
  // Ends all slots of the connection, and its transaction.
  void Settle(int connection);
  void CloseSlots(int connection);
  void CloseAll();
  const std::string& directory() const { return directory_; }

 private:
  struct Closer {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  using Connection = std::unique_ptr<sqlite3, Closer>;
  struct Slot {
    int connection = 0;
    int other = -1;  // the second connection of a backup
    sqlite3_stmt* cursor = nullptr;
    sqlite3_blob* blob = nullptr;
    sqlite3_backup* backup = nullptr;
  };

  // SQLite allows no other use of the target of a backup.
  bool IsBackedUpTo(int connection) const;
  std::string Uri(int64_t database) const;
  std::string Expand(const std::string& sql) const;
  int Connect(int64_t database, Connection& connection) const;
  int CreateFrameTable() const;
  int Run(const Step& step, Outcome& outcome);
  int RunSql(sqlite3* db, const std::string& sql, Outcome& outcome);
  int StepCursor(Slot& slot, int64_t rows, Outcome& outcome);
  int OpenBlob(const Step& step, Slot& slot);
  int ReadBlob(const Step& step, Slot& slot, Outcome& outcome);
  int BeginBackup(const Step& step, Slot& slot);
  int CopyToMemory(sqlite3* db, const std::string& schema, Outcome& outcome);
  int VacuumInto(sqlite3* db, const std::string& schema, Outcome& outcome);
  int EndSlot(int slot);

  const std::string vfs_;
  const std::string directory_;
  const Layout layout_;
  const std::string journal_mode_;
  std::map<int, Connection> connections_;
  std::map<int, Slot> slots_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SQLITE_DIFFERENTIAL_SIDE_H_
