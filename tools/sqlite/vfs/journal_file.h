// A rollback journal that lives in memory, as long as one connection has it open.
#ifndef CAIRN_TOOLS_SQLITE_VFS_JOURNAL_FILE_H_
#define CAIRN_TOOLS_SQLITE_VFS_JOURNAL_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tools/sqlite/vfs/vfs_file.h"

namespace cairn::sqlite {

// SQLite needs it for ROLLBACK and savepoints, and after a crash never: what is not committed is
// not in the frame. Up to kMostMemory bytes are in memory; a longer one moves to a temporary file
// of `disk`, which nobody syncs.
class JournalFile final : public VfsFile {
 public:
  static constexpr int64_t kMostMemory = int64_t{8} << 20;

  explicit JournalFile(sqlite3_vfs* disk) : disk_(disk) {}
  ~JournalFile() override;

  int Read(int64_t offset, MutableBytes dst) override;
  int Write(int64_t offset, Bytes src) override;
  int Truncate(int64_t size) override;
  int Size(int64_t& size) override;

 private:
  int MoveToDisk();

  sqlite3_vfs* disk_;
  std::vector<std::byte> bytes_;               // all of it, until it moves
  std::unique_ptr<std::byte[]> moved_memory_;  // of the temporary file
  sqlite3_file* moved_ = nullptr;              // null: in memory
};

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_JOURNAL_FILE_H_
