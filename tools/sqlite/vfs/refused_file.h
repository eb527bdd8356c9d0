// A database that is not opened, until SQLite has told why.
#ifndef CAIRN_TOOLS_SQLITE_VFS_REFUSED_FILE_H_
#define CAIRN_TOOLS_SQLITE_VFS_REFUSED_FILE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "tools/sqlite/vfs/vfs_file.h"

namespace cairn::sqlite {

// When xOpen fails, SQLite tells the user a result code and nothing else. So a database that cannot
// be opened is one that refuses all that is asked of it, and TellRefusal, which SQLite calls for
// each new connection, lets sqlite3_open fail with the message. Where that is not called, as for
// ATTACH, the first use of the database fails with the code, and a PRAGMA with the message.
class RefusedFile final : public VfsFile {
 public:
  RefusedFile(int code, std::string message) : code_(code), message_(std::move(message)) {}

  // SQLite reads the header before it asks for a lock: an empty file has none.
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

// Makes connections to refused databases fail with their message; others are not touched. A result
// code of SQLite.
int TellRefusals();

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_REFUSED_FILE_H_
