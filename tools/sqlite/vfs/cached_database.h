// What SQLite has cached of a database.
#ifndef CAIRN_TOOLS_SQLITE_VFS_CACHED_DATABASE_H_
#define CAIRN_TOOLS_SQLITE_VFS_CACHED_DATABASE_H_

#include <cstdint>
#include <optional>

#include "cairn/file_system.h"
#include "cairn/types.h"

namespace cairn::sqlite {

// The file that a connection's pages and schema are of. After a compaction, or where another
// database got the path, it is another one than is read, and SQLite is told so in what it reads:
// once by another version, which makes it read the pages anew, and from then on by a schema cookie
// that is shifted, which makes it read the schema anew.
class CachedDatabase {
 public:
  // SQLite reads this file from now on.
  void Follow(const std::optional<FileIdentity>& file);
  // It has written what this file holds.
  void Become(const std::optional<FileIdentity>& file) { file_ = file; }

  // It holds a page that is stored otherwise.
  void Outdate() { is_stale_ = true; }

  // True once after another file or such a page: the version that SQLite asks for is to be one of
  // no database.
  bool TakeStale();

  // Bytes of the database, from `offset` on, as SQLite gets them.
  void Shift(int64_t offset, MutableBytes bytes) const;
  // Whether SQLite gives them otherwise than they are stored; and what is stored.
  bool IsShifted(int64_t offset, Bytes bytes) const;
  void Unshift(MutableBytes first_page) const;

 private:
  std::optional<FileIdentity> file_;
  bool is_stale_ = false;  // SQLite has not been told yet
  uint32_t cookie_shift_ = 0;
};

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_CACHED_DATABASE_H_
