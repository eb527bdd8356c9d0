// Holds what SQLite needs to take back one statement or savepoint.
#ifndef CAIRN_TOOLS_SQLITE_VFS_STATEMENT_JOURNAL_H_
#define CAIRN_TOOLS_SQLITE_VFS_STATEMENT_JOURNAL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tools/sqlite/vfs/vfs_file.h"

namespace cairn::sqlite {

// A temporary file of `disk`. If none can be made, or if its disk is full, it continues in memory,
// so that a full temporary folder stops no transaction.
class StatementJournal final : public VfsFile {
 public:
  // `flags` are those of xOpen.
  StatementJournal(sqlite3_vfs* disk, int flags);
  ~StatementJournal() override;

  int Read(int64_t offset, MutableBytes dst) override;
  int Write(int64_t offset, Bytes src) override;
  int Truncate(int64_t size) override;
  int Size(int64_t& size) override;

 private:
  int MoveToMemory();
  void CloseFile();

  std::unique_ptr<std::byte[]> file_memory_;
  sqlite3_file* file_ = nullptr;  // null: in memory
  std::vector<std::byte> bytes_;
};

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_STATEMENT_JOURNAL_H_
