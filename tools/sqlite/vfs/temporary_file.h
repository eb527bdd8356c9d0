// A temporary file of SQLite in a folder that a database names.
#ifndef CAIRN_TOOLS_SQLITE_VFS_TEMPORARY_FILE_H_
#define CAIRN_TOOLS_SQLITE_VFS_TEMPORARY_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "tools/sqlite/vfs/vfs_file.h"

namespace cairn::sqlite {

// A file of `disk` that has its name only for a moment, so it disappears when it is closed, also by
// the end of the process.
class TemporaryFile final : public VfsFile {
 public:
  TemporaryFile(sqlite3_vfs* disk, const std::string& folder);
  ~TemporaryFile() override;

  // Returns a result code of SQLite. `flags` are those of xOpen. Call this first.
  int Open(int flags);

  int Read(int64_t offset, MutableBytes dst) override;
  int Write(int64_t offset, Bytes src) override;
  int Truncate(int64_t size) override;
  int Size(int64_t& size) override;

 private:
  sqlite3_vfs* const disk_;
  std::string name_;  // the file refers to it
  const std::unique_ptr<std::byte[]> memory_;
  sqlite3_file* const file_;
};

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_TEMPORARY_FILE_H_
