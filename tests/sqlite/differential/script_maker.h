// Makes random scripts of steps for two sides.
#ifndef CAIRN_TESTS_SQLITE_DIFFERENTIAL_SCRIPT_MAKER_H_
#define CAIRN_TESTS_SQLITE_DIFFERENTIAL_SCRIPT_MAKER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/sqlite/differential/random_sql.h"
#include "tests/sqlite/differential/side.h"
#include "tests/sqlite/differential/step.h"

namespace cairn::test {

// Which connections a script has, and so which mode of stock SQLite behaves as a frame does.
enum class Manner {
  kBesideReaders,  // several for each database, in stock SQLite's write-ahead mode
  kAlone,          // one for each database, in its rollback modes
  kFullDisk,       // the same, and frames often have no room
};

class ScriptMaker {
 public:
  ScriptMaker(Manner manner, uint64_t seed);

  // Equal for each call.
  const Layout& layout() const { return layout_; }
  Script Make(int steps);

 private:
  struct Connection {
    bool is_open = false;
    int main = 0;
    std::vector<std::string> attached = {};
    int depth = 0;  // of transactions and savepoints, as far as they are known
  };

  void AddSql(int connection, std::string sql);
  void AddSlot(Step::Kind kind, int connection, int slot, std::string sql, int64_t number,
               int64_t offset = 0);
  void Open(int connection);
  void Attach(int connection);
  void AddAny(int connection);
  void AddTransaction(int connection);
  void AddSlots(int connection);
  void AddBackup(int connection, int slot);
  void AddPragma(int connection);
  void AddWhole(int connection);
  void AddFrameTable(int connection);
  void AddDisk();
  std::string Schema(int connection);

  const Manner manner_;
  Choices choices_;
  Layout layout_;
  RandomSql sql_;
  std::vector<Connection> connections_;
  Script script_;
};

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SQLITE_DIFFERENTIAL_SCRIPT_MAKER_H_
