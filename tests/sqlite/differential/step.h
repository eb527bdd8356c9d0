// A step of a random script, which is done on two sides: in stock SQLite and in frames.
#ifndef CAIRN_TESTS_SQLITE_DIFFERENTIAL_STEP_H_
#define CAIRN_TESTS_SQLITE_DIFFERENTIAL_STEP_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::test {

// Connections and slots are numbers. A slot holds a statement, a blob or a backup of its connection
// from one step to another. In SQL `$2` stands for the URI of database 2 of the side.
struct Step {
  enum class Kind {
    kSql,           // runs `sql`; interrupted after `number` operations, if that is not 0
    kOpen,          // opens connection `connection` on database `number`
    kClose,         // closes it, with all of its slots
    kOpenCursor,    // prepares `sql`
    kStepCursor,    // reads `number` rows
    kOpenBlob,      // of row `number` in the column that `sql` names, writable if `offset` is not 0
    kReadBlob,      // reads `number` bytes at `offset`
    kWriteBlob,     // writes `number` bytes at `offset`
    kMoveBlob,      // to row `number`
    kBeginBackup,   // copies schema `sql` of the connection to main of connection `number`
    kStepBackup,    // copies `number` pages
    kCloseSlot,     // ends what the slot holds
    kCopyToMemory,  // copies schema `sql` to a database in memory, whose content is compared
    kVacuumInto,    // the same by VACUUM INTO a file
    kFillDisk,      // leaves `number` bytes for the files of frames
    kFreeDisk,      // takes that limit away
    kInspect,       // compares what is committed
  };

  Kind kind = Kind::kSql;
  int connection = 0;
  std::string sql = {};
  int slot = 0;
  int64_t number = 0;
  int64_t offset = 0;
};

using Script = std::vector<Step>;

// Returns a line for people, which names everything that the step needs.
std::string ToString(const Step& step);

}  // namespace cairn::test

#endif  // CAIRN_TESTS_SQLITE_DIFFERENTIAL_STEP_H_
