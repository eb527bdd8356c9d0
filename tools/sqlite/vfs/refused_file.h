// Stands for a database that cannot be opened, until SQLite has told why.
#ifndef CAIRN_TOOLS_SQLITE_VFS_REFUSED_FILE_H_
#define CAIRN_TOOLS_SQLITE_VFS_REFUSED_FILE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "tools/sqlite/vfs/vfs_file.h"

namespace cairn::sqlite {

// If xOpen fails, SQLite tells the user only a result code. So a database that cannot be opened is
// opened as one that refuses everything. TellRefusal, which SQLite calls for each new connection,
// lets sqlite3_open fail with the message. If it is not called, as for ATTACH, the first use of the
// database fails with the code, and a PRAGMA with the message.
class RefusedFile final : public VfsFile {
 public:
  RefusedFile(int code, std::string message) : code_(code), message_(std::move(message)) {}

  // SQLite reads the header before it asks for a lock. An empty file has no header.
  int Read(int64_t offset, MutableBytes dst) override;
  int Write(int64_t /*offset*/, Bytes /*src*/) override { return code_; }
  int Truncate(int64_t /*size*/) override { return code_; }
  int Size(int64_t& size) override;
  int Lock(int /*level*/) override { return code_; }
  int Control(int op, void* arg) override;

 private:
  const int code_;
  const std::string message_;
};

// Makes connections to refused databases fail with their message, and leaves others alone. Returns
// a result code of SQLite.
int TellRefusals();

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_REFUSED_FILE_H_
