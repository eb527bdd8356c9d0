// The parameters of a database's URI: file:app.db?vfs=cairn&codec=zstd.
#ifndef CAIRN_TOOLS_SQLITE_VFS_DATABASE_OPTIONS_H_
#define CAIRN_TOOLS_SQLITE_VFS_DATABASE_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/options.h"
#include "cairn/types.h"

namespace cairn::sqlite {

// The place of a VFS's databases, and the options for all of them.
struct VfsOptions {
  std::shared_ptr<FileSystem> files = PosixFileSystem();
  // How long the writer is kept after a transaction if that saves time, unless another process
  // waits for it. With 0 it is suspended at once, in the same thread.
  std::chrono::milliseconds keep{10};
};

struct DatabaseOptions {
  // The most bytes of a chunk. Changing a page takes the memory for all of its chunk.
  static constexpr int32_t kMaxChunk = 32 << 20;

  // How pages are compressed: all pages of a new database, or the pages that are written in an
  // existing one.
  std::optional<Codec> codec = {};
  std::optional<int> level = {};
  // Bytes of a chunk of a new database. By default a chunk is a page.
  std::optional<int32_t> chunksize = {};
  // An old state of the database, read-only.
  std::optional<uint64_t> generation = {};
  // Generations that stay readable in addition to the newest.
  uint64_t keep_generations = 0;
  // How durable a commit is before it returns. By default `PRAGMA synchronous` decides.
  std::optional<Durability> durability = {};
  // If false, pages are copied, for file systems whose files cannot be mapped.
  bool mmap = true;
  // The folder of temporary files while the database is open. If empty, it is SQLite's own.
  std::string tmpdir = {};
};

// `name` is what SQLite gives xOpen. Errors: kInvalidArgument for a value that a parameter cannot
// have, and for a parameter that neither Cairn nor SQLite knows.
absl::StatusOr<DatabaseOptions> ParseDatabaseOptions(const char* name);

// Returns the level for pages of a few KiB if none is asked for.
int PageLevel(Codec codec);

// Applies the parameters `codec` and `level`.
CompressionOptions CompressionOf(const DatabaseOptions& options, CompressionOptions stored);

}  // namespace cairn::sqlite

#endif  // CAIRN_TOOLS_SQLITE_VFS_DATABASE_OPTIONS_H_
