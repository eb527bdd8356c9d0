// The parameters of a database's URI: file:app.db?vfs=cairn&codec=zstd.
#ifndef CAIRN_TOOLS_SQLITE_VFS_DATABASE_OPTIONS_H_
#define CAIRN_TOOLS_SQLITE_VFS_DATABASE_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/options.h"
#include "cairn/types.h"

namespace cairn::sqlite {

// Where the databases of a VFS lie, and how it treats them all.
struct VfsOptions {
  FileSystem* files = PosixFileSystem();  // outlives the process' connections
  // How long the writer is kept after a transaction, where that pays, unless another process waits
  // for it. 0: it is suspended at once, in the same thread.
  std::chrono::milliseconds keep{10};
};

struct DatabaseOptions {
  // Of a chunk, bytes: to change a page takes the memory for all of its chunk.
  static constexpr int32_t kMaxChunk = 32 << 20;

  // How pages are compressed: of a new database all, of an existing one those that are written.
  std::optional<Codec> codec = {};
  std::optional<int> level = {};
  // Bytes of a chunk of a new database; by default a page.
  std::optional<int32_t> chunksize = {};
  // The database as it was, read-only.
  std::optional<uint64_t> generation = {};
  // Generations that stay readable beside the newest.
  uint64_t keep_generations = 0;
  // What a commit waits for; by default as `PRAGMA synchronous` says.
  std::optional<Durability> durability = {};
  // False: pages are read by copies, for file systems whose files cannot be mapped.
  bool mmap = true;
  // The folder of temporary files while the database is open; empty: SQLite's own.
  std::string tmpdir = {};
};

// `name` is what SQLite gives xOpen. kInvalidArgument for a value that a parameter cannot have, and
// for a parameter that neither Cairn nor SQLite knows.
absl::StatusOr<DatabaseOptions> ParseDatabaseOptions(const char* name);

// The level for pages of a few KiB, where none is asked for.
int PageLevel(Codec codec);

// The parameters `codec` and `level`.
CompressionOptions CompressionOf(const DatabaseOptions& options, CompressionOptions stored);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_DATABASE_OPTIONS_H_
