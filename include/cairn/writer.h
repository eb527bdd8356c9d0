// The one object that changes a frame.
#ifndef CAIRN_WRITER_H_
#define CAIRN_WRITER_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/items.h"
#include "cairn/options.h"
#include "cairn/reports.h"
#include "cairn/snapshot.h"
#include "cairn/types.h"

namespace cairn {

namespace frame {
class FrameWriter;
struct HandleAccess;
}  // namespace frame

// Stages edits, which no reader sees, and commits them all at once. Movable; not thread-safe, but
// for Sync. The destructor drops staged edits. In a forked process every call gives
// kFailedPrecondition.
//
// After a failed write or sync the outcome of the commit under way is unknown until the frame is
// opened again, and every call gives kFailedPrecondition. A step that fails after a commit, which
// stands, is not told by that commit: the calls that follow give kFailedPrecondition. A call that
// is refused for its arguments changes nothing.
//
// A full disk is kResourceExhausted. Updated chunks may be kept in memory until Commit, see
// WriterOptions::staged_memory, and show it only there. An edit or a chunk that it stops leaves the
// staged edits unusable until Rollback; a commit that would leave too little space for deleting
// chunks and for Reclaim changes nothing and can be rolled back or, when there is space, made
// again.
class CAIRN_EXPORT Writer {
 public:
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();

  // Any number of items. They are cut into chunks of chunksize; items that fill no chunk are
  // pending and completed by the next call, also after Commit and after the frame was closed and
  // opened again. In a frame of variable chunks each call makes one chunk.
  absl::Status Append(Items items);
  // Appends a compressed chunk, unchanged; one of a version before 5 is recompressed. In a frame of
  // fixed chunks a chunk shorter than chunksize can only be the last: kFailedPrecondition after it.
  absl::Status AppendCompressed(Bytes chunk);
  // nitems of one value. Full chunks of zeros, NaNs and uninitialised values cost 8 bytes of index.
  // `value`, one item, is given with kRepeat only.
  absl::Status AppendSpecial(SpecialValue special, int64_t nitems, Items value = {});

  // Edits of complete chunks; the chunks after them move up or down, and none of their stored bytes
  // is touched. In a frame of fixed chunks every chunk but the last has chunksize bytes: a shorter
  // one anywhere else gives kInvalidArgument, and one after it kFailedPrecondition. A frame of
  // variable blocks takes compressed chunks only. kOutOfRange.
  //
  // The new chunk gets number nchunk; info().nchunks appends.
  absl::Status InsertChunk(int64_t nchunk, Items items);
  absl::Status UpdateChunk(int64_t nchunk, Items items);
  // Insert or update with a compressed chunk; see AppendCompressed.
  absl::Status InsertCompressed(int64_t nchunk, Bytes chunk);
  absl::Status UpdateCompressed(int64_t nchunk, Bytes chunk);
  absl::Status DeleteChunks(int64_t first, int64_t count);
  // Chunk order[i] becomes chunk i: a permutation of all chunks. O(nchunks).
  absl::Status ReorderChunks(std::span<const int64_t> order);
  // Overwrites items from number `start` on, across chunk borders: chunks that are covered in part
  // are read, changed and coded again. kOutOfRange past the end.
  absl::Status WriteItems(int64_t start, Items items);

  // Edits of n-dimensional arrays. While its metalayer and its chunks agree, a frame is an array
  // and stays one: edits that would change the number, the size or the order of its chunks give
  // kFailedPrecondition. UpdateChunk and WriteItems work on chunks as they are stored.
  //
  // Overwrites a box with items in C order; see Snapshot::ReadBox.
  absl::Status WriteBox(std::span<const int64_t> start, std::span<const int64_t> shape,
                        Items items);
  // Grows or shrinks the array along any axes. New items are zeros; chunks of them store nothing.
  // Of the chunks that stay only those on an edge that moves are read, and coded again only where
  // their padding is not zero. O(chunks that come or go). An axis whose chunks have no extent
  // cannot grow. kInvalidArgument for another number of dimensions and for shapes that no frame can
  // have, kResourceExhausted for too many chunks.
  absl::Status ResizeArray(std::span<const int64_t> shape);
  // Grows the array along an axis (0 is the slowest) by as many slices as `items` holds, each in C
  // order. Complete slices, or kInvalidArgument; kOutOfRange for the axis. In an array of one
  // dimension items that do not fill a chunk stay pending, as in Append: each commit costs what is
  // new. With more dimensions it is Resize, then WriteBox: appends along axis 0 of complete chunks
  // touch no other chunk.
  absl::Status AppendSlices(int axis, Items items);
  // Removes `count` slices along an axis; those after them move up. They are whole chunks, which
  // just leave the index, or the last slices, which Resize removes; else kInvalidArgument.
  // kOutOfRange for the axis and past its end. O(chunks that go).
  absl::Status DeleteSlices(int axis, int64_t start, int64_t count);

  // Replaces the content of a metalayer by one of the same size; kNotFound, kInvalidArgument.
  // kFailedPrecondition for a metalayer `b2nd` that does not describe the existing chunks.
  absl::Status SetMetalayer(std::string_view name, Bytes content);
  // Adds or replaces a vlmetalayer. A frame with more than 14 of them is no longer sealed, since
  // C-Blosc2 could not write it. kResourceExhausted past Limits::max_metadata_nbytes.
  absl::Status SetVlmetalayer(std::string_view name, Bytes content);
  absl::Status DeleteVlmetalayer(std::string_view name);

  // Stages what an increment of CopyOptions::since brings, so that Commit makes the frame's content
  // that of the state which the increment was made of. Checks both: kFailedPrecondition where the
  // frame has not the content that the increment applies to, or has staged edits; kDataLoss for a
  // damaged increment. After any failure nothing is staged. Does nothing where the frame has the
  // result already, so a restore that was interrupted can be made again.
  absl::Status ApplyIncrement(const Snapshot& increment);

  // Decodes one chunk as it is staged; dst must have its size. From memory where it is kept there,
  // see WriterOptions::staged_memory; else as Snapshot::ReadChunk, and what the chunk still has in
  // memory is written to the file before.
  absl::Status ReadChunk(int64_t nchunk, MutableItems dst);
  // The committed state with the staged edits on top; writes what is still in memory to the file.
  // While it lives, no other writer can open the frame: it would overwrite these edits.
  absl::StatusOr<Snapshot> StagedSnapshot();

  // Does all of the next Commit that may find the disk full or fail to code a chunk, so that a
  // program can do it for several frames before it commits the first: codes and writes what is
  // staged, with kMachine durably, and reserves the space of the commit record. Commit then writes
  // only into that, and fails for errors of the disk alone; on file systems that copy what is
  // overwritten, such as btrfs, space cannot be promised. Until Commit or Rollback edits give
  // kFailedPrecondition. Does nothing where nothing is staged, and may be called again.
  // Errors:
  //   kResourceExhausted when the disk is full: as of Commit, what is staged stays.
  //   kUnimplemented where Commit makes a new file: for a frame that becomes empty, or a sparse one
  //     whose record is too large. In an object store only Commit stores the record.
  absl::Status Prepare(Durability durability = Durability::kMachine);
  // Makes all staged edits visible and as durable as asked, or none of them. Costs what was staged:
  // it goes into the journal, which only Cairn reads, and sometimes into a checkpoint. After a
  // power cut the frame holds a prefix of the commits that includes the last kMachine one.
  absl::StatusOr<Snapshot> Commit(Durability durability = Durability::kMachine);
  // Waits until `committed`, which Commit of this writer returned, survives a power cut: at once
  // after kMachine. Thread-safe, also beside other calls but a move and the destructor, and threads
  // that wait share a sync. So threads edit and commit with kProcess in turn, under a mutex of the
  // program, and then call this without it. After a failed sync every thread that waits gets that,
  // and the writer stops.
  absl::Status Sync(const Snapshot& committed) const;
  // Commits, durably, and leaves a frame in which any Blosc2 reader sees everything. O(nchunks).
  absl::Status Checkpoint();
  // Commits, durably, and writes a checkpoint as well, unless that takes more than 256 KiB and more
  // than the journal holds: so others find what Close leaves, and the writer goes on.
  absl::Status Flush();
  // Drops the staged edits.
  void Rollback();
  // Gives the space that only generations use which are neither read nor kept back to the file
  // system, and drops these from the history; otherwise such space is used again, see
  // WriterOptions::keep_generations. Looks at every chunk, and writes a checkpoint first where
  // there is news. O(nchunks). kFailedPrecondition with staged edits; kUnimplemented in memory and
  // in a frame that is not sealed.
  absl::StatusOr<ReclaimReport> Reclaim(const ReclaimOptions& options = {});
  // Lets other writers have the frame, and keeps what is known of it for Resume: a writer that
  // stays but does not write all the time. Until then every other call gives kFailedPrecondition,
  // as this one does with staged edits, or while a StagedSnapshot lives. A few microseconds; in a
  // sparse frame also a sync of each chunk file that is not durable yet.
  absl::Status Suspend();
  // Goes on with what is committed now; waits for other writers in the order in which they came.
  // kUnavailable when `wait` elapses before, and the writer stays suspended. Costs microseconds,
  // and what others have committed since, which is read; a sync if their last commit was not
  // kMachine. After a checkpoint or a compaction by others, and in a sparse frame, it costs as much
  // as OpenWriter.
  absl::Status Resume(std::chrono::milliseconds wait = std::chrono::milliseconds(0));
  // Returns true if another writer waits for the frame. Costs a system call.
  absl::StatusOr<bool> HasWaiters() const;
  // Flushes, and lets the frame go: other writers may then write it. Call Checkpoint before if
  // another Blosc2 is to see everything, whatever that costs. Every later call fails. After
  // kResourceExhausted the writer is still open.
  absl::Status Close();

 private:
  friend struct frame::HandleAccess;
  explicit Writer(std::unique_ptr<frame::FrameWriter> impl);

  std::unique_ptr<frame::FrameWriter> impl_;
};

}  // namespace cairn

#endif  // CAIRN_WRITER_H_
