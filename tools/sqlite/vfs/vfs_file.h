// An open file of SQLite as a class: sqlite3_io_methods, forwarded to virtual functions.
#ifndef CAIRN_TOOLS_SQLITE_VFS_VFS_FILE_H_
#define CAIRN_TOOLS_SQLITE_VFS_VFS_FILE_H_

#include <cstdint>
#include <memory>

#include "cairn/types.h"
#include "tools/sqlite/base/sqlite_api.h"

namespace cairn::sqlite {

// A single connection uses a file, one call at a time. Functions return result codes of SQLite and
// are those of sqlite3_io_methods. By default a file needs no locks and knows no controls.
class VfsFile {
 public:
  virtual ~VfsFile() = default;

  // Returns SQLITE_IOERR_SHORT_READ past the end, with zeros for the missing bytes.
  virtual int Read(int64_t offset, MutableBytes dst) = 0;
  virtual int Write(int64_t offset, Bytes src) = 0;
  virtual int Truncate(int64_t size) = 0;
  virtual int Sync(int /*flags*/) { return SQLITE_OK; }
  virtual int Size(int64_t& size) = 0;
  virtual int Lock(int /*level*/) { return SQLITE_OK; }
  virtual int Unlock(int /*level*/) { return SQLITE_OK; }
  virtual int CheckReservedLock(int& reserved) {
    reserved = 0;
    return SQLITE_OK;
  }
  virtual int Control(int /*op*/, void* /*arg*/) { return SQLITE_NOTFOUND; }
  virtual int DeviceCharacteristics() const { return 0; }
};

// The memory that SQLite allocates for a file of ours.
struct VfsFileHandle {
  sqlite3_file base;
  VfsFile* file;
};

// Makes `handle` the file. SQLite closes it, which deletes `file`.
void AttachFile(sqlite3_file* handle, std::unique_ptr<VfsFile> file);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_VFS_FILE_H_
