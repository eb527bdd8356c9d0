// Repairs a frame after a crash or damage, and prepares it for writers other than Cairn.
#ifndef CAIRN_RECOVER_H_
#define CAIRN_RECOVER_H_

#include <cstddef>
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
  bool dry_run = false;  // changes nothing
  // Cuts off commits that cannot be read because the journal before them is damaged: see
  // FrameInfo::stranded_commits. Before that Salvage can still save their chunks.
  bool drop_stranded = false;
  FileSystem* file_system = nullptr;  // null means PosixFileSystem()
};

struct RecoveryReport {
  // The header could not be used, or was older than the file, and was restored from its copy in the
  // newest consistent trailer.
  bool header_restored = false;
  uint64_t checkpoint_generation = 0;  // of the checkpoint that the header describes
  uint64_t generation = 0;             // of the newest commit
  int64_t commits = 0;                 // of the journal, now in a checkpoint
  int64_t stranded_commits = 0;        // cut off, as far as the file shows
  int64_t cut = 0;                     // bytes cut off after the newest commit: never committed
  int64_t size_before = 0;             // bytes of the file
  int64_t size_after = 0;
  // End of the checkpoint that the header led to, if the header was restored and nothing is there;
  // else 0. If that checkpoint was newer than the one whose header was restored, its commits are
  // lost.
  int64_t missing_checkpoint_end = 0;
};

// Leaves a frame whose newest commit is a checkpoint, with nothing after it, and that every Blosc2
// reads. An intact frame is not changed. kUnavailable while a writer holds a frame that needs
// repair; kDataLoss when neither the header nor any trailer can be used (see Salvage), and when
// commits after damage would be lost: copy what is readable first. kInvalidArgument, "PATH: not a
// Blosc2 frame", when the file does not begin as a frame and no trailer is found.
absl::StatusOr<RecoveryReport> CAIRN_EXPORT Recover(const std::string& path,
                                                    const RecoverOptions& options = {});

// Bytes [begin, end) of the file that could not be saved, and why.
struct LostBytes {
  int64_t begin = 0;
  int64_t end = 0;
  std::string reason;
};

struct SalvageReport {
  int64_t chunks = 0;  // saved
  int64_t nbytes = 0;  // decoded
  std::vector<LostBytes> lost;
  // Chunks of the new frame that are holes: see MakeHole.
  std::vector<int64_t> holes;
  // Chunks of the new frame that decode, but that no intact fingerprint proves to be what was
  // written.
  std::vector<int64_t> unproven;
  // Metalayers and vlmetalayers of the new frame that nothing proves to be what was written.
  std::vector<std::string> unproven_metalayers;
  // All bytes were scanned, since no index could be used. The chunks are in the order of the file,
  // those that were overwritten or deleted among them; chunks of one value that only the index held
  // are lost.
  bool scanned = false;
};

// Makes a frame at `to` of what is intact in a damaged one. `options` says how chunks are decoded.
//
// A frame that can be opened, with its own header or with the copy of it in the trailer, keeps its
// metadata and the places of its chunks: those that do not match their fingerprint, or do not
// decode, become holes. Where the index is damaged, its chunks are found by their fingerprints;
// where a fingerprint is, the chunk is saved as unproven. A metalayer that is not the sealed one is
// saved as unproven, since another Blosc2 may have changed it; where the array that it describes
// does not fit the chunks, the sealed one is saved. Vlmetalayers of a damaged trailer are saved as
// unproven. Where the journal is damaged, that is the state before the damage; what was appended
// after it follows as unproven, and all else that was committed after it is lost.
//
// Of any other file, of which index and trailer may both be destroyed, all bytes are scanned for
// complete chunks that decode, in the order of the file. Chunks that were overwritten or deleted
// are saved too, since they cannot be told apart. Header and trailer still give the metadata, as
// unproven. An array of one dimension becomes as long as its chunks; one of more dimensions is kept
// where there are as many chunks as its shape asks for.
//
// The vlmetalayers `lost_chunks` and `unproven_chunks` of the new frame list its holes and unproven
// chunks, such as "3, 7-9", and `unproven_metalayers` the names of metalayers and vlmetalayers that
// are not proven.
//
// `progress` is called with the byte of `from` that the scan, and then the copy, has reached, and
// returns false to stop: kCancelled, and no frame is made.
//
// Errors:
//   kAlreadyExists;
//   kNotFound when there is no chunk;
//   kInvalidArgument for a directory: salvage the files of a sparse frame one by one.
absl::StatusOr<SalvageReport> CAIRN_EXPORT Salvage(
    const std::string& from, const std::string& to, const OpenOptions& options = {},
    absl::FunctionRef<bool(int64_t)> progress = [](int64_t) { return true; });

// Makes a chunk whose nbytes are lost, of items and blocks as `options` says: every read of it
// gives kDataLoss, in other libraries the error of a codec that they lack, and Verify reports it.
// `vlblocks` makes it one for a frame of variable blocks: see FrameInfo::vlblocks.
absl::StatusOr<std::vector<std::byte>> CAIRN_EXPORT MakeHole(int32_t nbytes,
                                                             const CompressionOptions& options,
                                                             bool vlblocks = false);

}  // namespace cairn

#endif  // CAIRN_RECOVER_H_
