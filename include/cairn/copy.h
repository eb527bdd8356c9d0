// The options of Snapshot::CopyTo, which copies a frame that is in use, and the description of an
// increment between two copies.
#ifndef CAIRN_COPY_H_
#define CAIRN_COPY_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "cairn/file_system.h"
#include "cairn/snapshot.h"
#include "cairn/types.h"

namespace cairn {

// Options of Snapshot::CopyTo.
struct CopyOptions {
  // Writes an increment, which holds what is new since this state. Writer::ApplyIncrement adds it
  // to any frame that has the content of this state. The state may be
  //   - an older generation of the frame (OpenOptions::generation);
  //   - the snapshot that was copied last, which needs no history while it exists;
  //   - a snapshot of a copy, to which increments may have been applied.
  std::optional<Snapshot> since = {};
  // Layout of the copy. By default it is that of the frame, and an increment is contiguous.
  std::optional<Layout> layout = {};
  // Replaces a file or a sparse frame of that name. Otherwise CopyTo returns kAlreadyExists. A
  // sparse frame must have no reader when the copy begins and when it is complete. If it has one,
  // CopyTo returns kUnavailable.
  bool overwrite = false;
  std::shared_ptr<FileSystem> file_system =
      nullptr;  // holds the copy; null means PosixFileSystem()
  // Is called with the number of chunks done; items that do not fill a chunk yet do not count.
  // Returns false to stop: CopyTo then returns kCancelled, and nothing is left.
  std::function<bool(int64_t)> progress = {};
};

// Describes the contents that an increment leads from and to.
struct IncrementInfo {
  // Hashes of these contents; see Snapshot::ContentHash.
  uint64_t base_hash = 0;
  uint64_t result_hash = 0;
  // Generations that had these contents, in the frames that the increment was made from.
  uint64_t base_generation = 0;
  uint64_t result_generation = 0;
};

}  // namespace cairn

#endif  // CAIRN_COPY_H_
