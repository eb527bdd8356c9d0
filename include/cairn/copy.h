// Copies of a frame that is in use, and increments between them.
#ifndef CAIRN_COPY_H_
#define CAIRN_COPY_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "cairn/file_system.h"
#include "cairn/snapshot.h"
#include "cairn/types.h"

namespace cairn {

struct CopyOptions {
  // Writes an increment: what is new since this state, which Writer::ApplyIncrement adds to any
  // frame of its content. The state may be an older generation of the frame
  // (OpenOptions::generation), the snapshot that the last CopyTo returned, which needs no history
  // while it lives, or one of a copy, to which increments may have been applied.
  std::optional<Snapshot> since = {};
  // By default the frame's own; an increment is contiguous.
  std::optional<Layout> layout = {};
  // Replaces a file or sparse frame of that name; otherwise CopyTo gives kAlreadyExists. Of a
  // sparse frame no reader may be there when the copy begins, nor when it is complete:
  // kUnavailable.
  bool overwrite = false;
  FileSystem* file_system = nullptr;  // of the copy; null means PosixFileSystem()
  // Is called with the number of chunks done; returns false to stop: kCancelled, and nothing is
  // left.
  std::function<bool(int64_t)> progress = {};
};

// The contents that an increment leads from and to; see Snapshot::ContentHash.
struct IncrementInfo {
  uint64_t base_hash = 0;
  uint64_t result_hash = 0;
  // Generations that had these contents, in the frames that the increment was made from.
  uint64_t base_generation = 0;
  uint64_t result_generation = 0;
};

}  // namespace cairn

#endif  // CAIRN_COPY_H_
