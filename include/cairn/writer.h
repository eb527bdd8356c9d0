// The one mutator of a frame.
#ifndef CAIRN_WRITER_H_
#define CAIRN_WRITER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "cairn/snapshot.h"
#include "cairn/types.h"

namespace cairn {

namespace frame {
class FrameWriter;
}

// What Reclaim did.
struct ReclaimReport {
  int64_t freed = 0;               // bytes of disk space
  bool blocked = false;            // a reader holds an older state: nothing was freed
  uint64_t oldest_generation = 0;  // that can still be opened
};

// Stages edits, which nobody sees, and commits them all at once. Movable; not thread-safe. The
// destructor drops what was not committed. In a process that was forked meanwhile every call gives
// kFailedPrecondition.
//
// After a failed write or sync the outcome of the commit under way is unknown until the frame is
// opened again, and every call gives kFailedPrecondition. A call that is refused for its arguments
// changes nothing.
//
// A full disk is kResourceExhausted. An edit that it stops leaves the staged edits unusable until
// Rollback; a commit that would leave too little space for deleting chunks and for Reclaim changes
// nothing and can be rolled back or, when there is space, made again.
class CAIRN_EXPORT Writer {
 public:
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();

  // Any number of items. They are cut into chunks of chunksize; a short tail is kept and goes on
  // with the next call, also after Commit and after the frame was closed and opened again. In a
  // frame of variable chunks each call makes one chunk.
  absl::Status Append(Bytes items);
  // One chunk as it is; one that is older than version 5 is coded again. In a frame of fixed
  // chunks a chunk shorter than chunksize may only be the last: kFailedPrecondition after it.
  absl::Status AppendCompressed(Bytes chunk);
  // nitems of one value; whole chunks of zeros, NaNs and uninitialised values cost 8 bytes of
  // index. `value` is given with kRepeat only and is one item.
  absl::Status AppendSpecial(SpecialValue special, int64_t nitems, Bytes value = {});

  // Edits of whole chunks; the chunks that follow move up or down, and no stored byte of theirs is
  // touched. In a frame of fixed chunks every chunk but the last has chunksize bytes: a shorter one
  // anywhere else gives kInvalidArgument, and one behind it kFailedPrecondition. A frame of
  // variable blocks takes compressed chunks only. kOutOfRange.
  //
  // The new chunk gets number nchunk; info().nchunks appends.
  absl::Status InsertChunk(int64_t nchunk, Bytes items);
  absl::Status UpdateChunk(int64_t nchunk, Bytes items);
  // The same with a chunk as it is; see AppendCompressed.
  absl::Status InsertCompressed(int64_t nchunk, Bytes chunk);
  absl::Status UpdateCompressed(int64_t nchunk, Bytes chunk);
  absl::Status DeleteChunks(int64_t first, int64_t count);
  // Chunk order[i] becomes chunk i: a permutation of all chunks. O(nchunks).
  absl::Status Reorder(std::span<const int64_t> order);
  // Overwrites items from number `start` on, across chunk borders: chunks that are not covered
  // whole are read, changed and coded again. kOutOfRange past the end.
  absl::Status UpdateItems(int64_t start, Bytes items);

  // Edits of n-dimensional arrays. While its metalayer and its chunks agree, a frame is an array
  // and stays one: edits that would change the number, the size or the order of its chunks give
  // kFailedPrecondition. UpdateChunk and UpdateItems work on chunks as they are stored.
  //
  // Overwrites a box with items in C order; see Snapshot::ReadBox.
  absl::Status WriteBox(std::span<const int64_t> start, std::span<const int64_t> shape,
                        Bytes items);
  // Grows or shrinks the array along any axes; items that are new are zeros, which take no room in
  // chunks of their own. Of the chunks that stay only those on an edge that moves are read, and
  // coded again only where their padding holds anything. O(chunks that come or go). An axis whose
  // chunks have no extent cannot grow. kInvalidArgument for another number of dimensions and for
  // shapes that no frame can have, kResourceExhausted for too many chunks.
  absl::Status Resize(std::span<const int64_t> shape);
  // Grows the array along an axis (0 is the slowest) by as many slices as `items` holds, each in C
  // order: Resize, then WriteBox. Whole slices, or kInvalidArgument; kOutOfRange for the axis.
  // Appends along axis 0 of whole chunks touch no other chunk.
  absl::Status AppendAlong(int axis, Bytes items);

  // Replaces the content of a metalayer by one of the same size; kNotFound, kInvalidArgument. What
  // makes the frame an array has to ask for the chunks that there are, or kFailedPrecondition.
  absl::Status SetMetalayer(std::string_view name, Bytes content);
  // Adds or replaces a vlmetalayer. With more than 14 of them the frame is no longer sealed, or
  // C-Blosc2 could not write it any more. kResourceExhausted past Limits::max_metadata_nbytes.
  absl::Status SetVlmeta(std::string_view name, Bytes content);
  absl::Status DeleteVlmeta(std::string_view name);

  // The committed state with the staged edits on top. While it lives, no other writer can open the
  // frame: it would write where these edits are.
  absl::StatusOr<Snapshot> StagedSnapshot();

  // Makes all staged edits visible and as durable as asked, or none of them. Costs what was staged:
  // it goes into the journal, which only Cairn reads, and once in a while into a checkpoint. After
  // a power cut some prefix of the commits is there, never shorter than the last kMachine one.
  absl::StatusOr<Snapshot> Commit(Durability durability = Durability::kMachine);
  // Commits, durably, and leaves a frame in which any Blosc2 reader sees everything. O(nchunks).
  absl::Status Checkpoint();
  // Forgets what is staged.
  void Rollback();
  // Gives disk space back that no state needs which is still read or kept, and drops the others
  // from the history. Writes a checkpoint first. O(nchunks). kFailedPrecondition with staged edits;
  // kUnimplemented in memory and where no seal tells the history.
  absl::StatusOr<ReclaimReport> Reclaim(const ReclaimOptions& options = {});
  // Commit + Checkpoint; the frame may then be written by others. Every later call fails. After
  // kResourceExhausted the writer is still open.
  absl::Status Close();

  // For the engine: writers come from Frame.
  explicit Writer(std::unique_ptr<frame::FrameWriter> impl);

 private:
  std::unique_ptr<frame::FrameWriter> impl_;
};

}  // namespace cairn

#endif  // CAIRN_WRITER_H_
