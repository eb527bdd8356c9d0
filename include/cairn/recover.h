// Repairs a frame after a crash or damage, and prepares it for writers other than Cairn.
#ifndef CAIRN_RECOVER_H_
#define CAIRN_RECOVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/options.h"
#include "cairn/types.h"

namespace cairn {

// Options of Recover.
struct RecoverOptions {
  bool dry_run = false;  // reports what Recover would do, and changes nothing
  // Cuts off commits that cannot be read because the journal before them is damaged; see
  // FrameInfo::stranded_commits. Until then, Salvage can still save their chunks.
  bool drop_stranded = false;
  std::shared_ptr<FileSystem> file_system = nullptr;  // null means PosixFileSystem()
};

// Reports what Recover found and did.
struct RecoveryReport {
  // True if the header was unusable, or older than the file, and was restored from its copy in the
  // newest consistent trailer.
  bool header_restored = false;
  uint64_t checkpoint_generation = 0;  // generation of the checkpoint that the header describes
  uint64_t generation = 0;             // generation of the newest commit
  int64_t commits = 0;                 // commits of the journal, which are now in a checkpoint
  int64_t stranded_commits = 0;        // commits cut off; the number that the file shows
  int64_t cut = 0;                     // bytes cut off after the newest commit: never committed
  int64_t size_before = 0;             // bytes of the file
  int64_t size_after = 0;
  // Position at which the checkpoint ends that the header led to, if the header was restored and
  // nothing is there; otherwise 0. If that checkpoint was newer than the one whose header was
  // restored, its commits are lost.
  int64_t missing_checkpoint_end = 0;
};

// Repairs the frame at `path`. Its newest commit is then a checkpoint with nothing after it, and
// every Blosc2 library can read it. A frame that is already so is not changed.
//
// Errors:
//   kNotFound if nothing exists at `path`.
//   kInvalidArgument if the file does not begin as a frame and has no trailer ("PATH: not a Blosc2
//     frame").
//   kDataLoss if neither the header nor any trailer can be used, or if the index is damaged; see
//     Salvage.
//   kDataLoss if commits after damage would be lost and `drop_stranded` is false, or the chunks of
//   a
//     newer checkpoint, as in a truncated file: copy what is readable first, or Salvage it.
//   kUnimplemented if the frame needs a format version or a feature that this build lacks.
//   kUnavailable if the frame needs repair and a writer holds it.
//   kFailedPrecondition if another frame begins where this one ends.
absl::StatusOr<RecoveryReport> CAIRN_EXPORT Recover(const std::string& path,
                                                    const RecoverOptions& options = {});

// Names bytes [begin, end) of the file that could not be saved, and the reason.
struct LostBytes {
  int64_t begin = 0;
  int64_t end = 0;
  std::string reason;
};

// Reports what Salvage saved.
struct SalvageReport {
  int64_t chunks = 0;           // chunks saved
  int64_t nbytes = 0;           // decoded bytes of these chunks
  std::vector<LostBytes> lost;  // bytes that were not saved
  // Numbers of the chunks of the new frame that are holes; see MakeHole.
  std::vector<int64_t> holes;
  // Numbers of the chunks of the new frame that decode, but that no intact fingerprint proves to be
  // what was written.
  std::vector<int64_t> unproven;
  // Metalayers and vlmetalayers of the new frame that nothing proves to be what was written.
  std::vector<std::string> unproven_metalayers;
  // True if no index could be used, so that all bytes were scanned. The chunks are then in the
  // order of the file and include those that were overwritten or deleted. Chunks of one value that
  // only the index held are lost.
  bool scanned = false;
  // Names of the vlmetalayers whose newest content is lost. "*" stands for vlmetalayers whose names
  // are lost, too.
  std::vector<std::string> lost_metalayers = {};
  // Names of the vlmetalayers of the new frame that have the content of an older state of the
  // damaged one.
  std::vector<std::string> older_metalayers = {};
};

// Options of Salvage.
struct SalvageOptions {
  OpenOptions open = {};  // says how the damaged frame is read and its chunks are decoded
  // Is called with the position in `from` that the scan, and then the copy, has reached. Returns
  // false to stop: Salvage then returns kCancelled, and nothing is left.
  std::function<bool(int64_t)> progress = {};
};

// Makes a new frame at `to` from what is intact in the damaged frame at `from`.
//
// A frame that can be opened, with its own header or with the copy of it in the trailer, keeps its
// metadata and the places of its chunks. Chunks that do not match their fingerprint, or do not
// decode, become holes.
//   - If the index is damaged, its chunks are found by their fingerprints. If a fingerprint is
//     damaged, its chunk is saved as unproven.
//   - A metalayer that is not the sealed one is saved as unproven, since another Blosc2 library may
//     have changed it. If it describes an array that does not fit the chunks, the sealed one is
//     saved.
//   - Vlmetalayers of a damaged trailer are saved as unproven. Those that it has lost come from the
//     newest older state in the file, if that has them.
//   - If the journal is damaged, the state before the damage is saved. What was appended after it
//     follows as unproven. All else that was committed after it is lost.
//
// A frame whose trailer is damaged or cut off, but whose index is where the header says, keeps the
// places of its chunks too. What is left of the trailer may prove them. If the index is lost, too,
// the newest older checkpoint that is whole is saved, with its journal. The chunks behind it follow
// as unproven if they are all that the header's checkpoint has more; otherwise they are lost.
//
// In any other file, whose index and trailer may both be destroyed, all bytes are scanned for
// complete chunks that decode. The chunks are saved in the order of the file. Chunks that were
// overwritten or deleted are saved too, since they cannot be told apart. The header and the trailer
// still give the metadata, as unproven. An array of one dimension becomes as long as its chunks,
// without padding. An array of more dimensions stays one if there are as many chunks as its shape
// asks for. No array is made if the chunks of several states lie in the file, or more of them than
// its shape asks for.
//
// The vlmetalayers `lost_chunks` and `unproven_chunks` of the new frame list its holes and its
// unproven chunks, such as "3, 7-9". `unproven_metalayers` lists the names of metalayers and
// vlmetalayers that are not proven. `lost_metalayers` lists SalvageReport::lost_metalayers.
//
// Errors, after which no new frame exists at `to`:
//   kNotFound if nothing exists at `from`, or if it contains no complete chunk.
//   kAlreadyExists if something exists at `to`.
//   kInvalidArgument if `from` is a directory: salvage the files of a sparse frame one by one.
//   kOutOfRange if `options.open.offset` is not in the file.
//   kResourceExhausted if the file seems made to waste time: it has too many false chunk headers.
//   kCancelled if `options.progress` returns false.
absl::StatusOr<SalvageReport> CAIRN_EXPORT Salvage(const std::string& from, const std::string& to,
                                                   const SalvageOptions& options = {});

// Makes a hole: a chunk of `nbytes` bytes that are lost. `options` gives the sizes of its items and
// blocks. Every read of a hole returns kDataLoss, and Verify reports it. Other libraries say that
// they lack its codec. `vlblocks` makes the hole fit a frame of variable blocks; see
// FrameInfo::vlblocks.
//
// Errors: kInvalidArgument if `nbytes` or the typesize is out of range; kResourceExhausted if the
// hole would have more than 4,194,304 blocks.
absl::StatusOr<std::vector<std::byte>> CAIRN_EXPORT MakeHole(int32_t nbytes,
                                                             const CompressionOptions& options,
                                                             bool vlblocks = false);

}  // namespace cairn

#endif  // CAIRN_RECOVER_H_
