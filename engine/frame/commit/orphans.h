// Files in the directory of a sparse frame that nothing names any more.
#ifndef CAIRN_ENGINE_FRAME_COMMIT_ORPHANS_H_
#define CAIRN_ENGINE_FRAME_COMMIT_ORPHANS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/frame/index/chunk_index.h"

namespace cairn::frame {

// Removes an index file that lost its name, unless it is read.
bool RemoveIfUnread(FileSystem& directory, const std::string& name);

struct OrphanReport {
  int64_t freed = 0;      // bytes of the files that were removed
  bool old_read = false;  // an index that lost its name is read: its chunk files stay
};

// Removes index files that are not read, and then, when none is left but the current one, chunk
// files that `named` does not name. Only the holder of the writer's lock may call it.
absl::StatusOr<OrphanReport> RemoveOrphans(FileSystem& directory, const ChunkIndex& named);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COMMIT_ORPHANS_H_
