// Tracks what SQLite has cached of a database.
#ifndef CAIRN_TOOLS_SQLITE_VFS_CACHED_DATABASE_H_
#define CAIRN_TOOLS_SQLITE_VFS_CACHED_DATABASE_H_

#include <cstdint>
#include <optional>

#include "cairn/file_system.h"
#include "cairn/types.h"

namespace cairn::sqlite {

// Remembers the file that a connection's pages and schema belong to. After a compaction, or if
// another database got the path, the connection reads another file. SQLite is told so in the bytes
// that it reads: once by another version, which makes it read the pages again, and from then on by
// a shifted schema cookie, which makes it read the schema again.
class CachedDatabase {
 public:
  // Notes that SQLite reads this file from now on.
  void Follow(const std::optional<FileIdentity>& file);
  // Notes that SQLite has written the content of this file.
  void Become(const std::optional<FileIdentity>& file) { file_ = file; }

  // Notes that SQLite holds a page that is stored differently.
  void Outdate() { is_stale_ = true; }

  // Returns true once after another file or such a page. The version that SQLite reads must then be
  // one that no database has.
  bool TakeStale();

  // Changes bytes of the database, from `offset` on, to those that SQLite gets.
  void Shift(int64_t offset, MutableBytes bytes) const;
  // Returns true if SQLite would write the bytes differently from how they are stored. Unshift
  // makes the stored ones.
  bool IsShifted(int64_t offset, Bytes bytes) const;
  void Unshift(MutableBytes first_page) const;

 private:
  std::optional<FileIdentity> file_;
  bool is_stale_ = false;  // SQLite has not been told yet
  uint32_t cookie_shift_ = 0;
};

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_CACHED_DATABASE_H_
