// What to do when a frame does not open, or before another Blosc2 writes one that Cairn wrote.
#ifndef CAIRN_RECOVER_H_
#define CAIRN_RECOVER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/options.h"
#include "cairn/types.h"

namespace cairn {

struct RecoverOptions {
  bool dry_run = false;  // looks only
  // Cuts commits off that cannot be read since the journal before them is damaged: see
  // FrameInfo::stranded_commits. Salvage finds their chunks as long as they are there.
  bool drop_stranded = false;
  FileSystem* file_system = nullptr;  // null means PosixFileSystem()
};

struct RecoveryReport {
  // The header could not be used and was written again, from the copy in the newest trailer whose
  // parts agree.
  bool header_restored = false;
  uint64_t checkpoint_generation = 0;  // that the header leads to
  uint64_t generation = 0;             // of the newest commit
  int64_t commits = 0;                 // of the journal, folded into a checkpoint
  int64_t stranded_commits = 0;        // that were cut off, as far as the file tells
  int64_t cut = 0;                     // bytes behind the newest commit: never committed
  int64_t size_before = 0;             // bytes of the file
  int64_t size_after = 0;
};

// Leaves a frame that holds its newest commit in a checkpoint, with nothing behind. A frame that is
// well is left alone. kUnavailable while a writer holds one that is not; kDataLoss when neither
// header nor any trailer can be used, see Salvage, and when commits behind damage would be lost:
// what is readable can be copied.
absl::StatusOr<RecoveryReport> CAIRN_EXPORT Recover(const std::string& path,
                                                    const RecoverOptions& options = {});

// Bytes [begin, end) of the file that hold nothing that could be saved, and why.
struct LostBytes {
  int64_t begin = 0;
  int64_t end = 0;
  std::string reason;
};

struct SalvageReport {
  int64_t chunks = 0;  // that were saved, in the order in which they lie in the file
  int64_t nbytes = 0;  // decoded
  std::vector<LostBytes> lost;
};

// Looks through a file whose header, index and trailer may all be destroyed for whole chunks that
// decode, and makes a frame of them at `to`. `options` says how chunks are decoded; layout and
// chunksize follow from what is found, and metalayers are left behind. Chunks that were overwritten
// or deleted are saved with the others, for nothing tells them apart, and damage that still decodes
// goes unseen. kAlreadyExists; kNotFound when there is no chunk; kInvalidArgument for a directory:
// the files of a sparse frame are salvaged one by one. `progress`, when given, is called with the
// byte of `from` that the search, and then the copy, has come to, and returns false to stop:
// kCancelled, and no frame is made.
absl::StatusOr<SalvageReport> CAIRN_EXPORT Salvage(
    const std::string& from, const std::string& to, const OpenOptions& options = {},
    absl::FunctionRef<bool(int64_t)> progress = [](int64_t) { return true; });

}  // namespace cairn

#endif  // CAIRN_RECOVER_H_
