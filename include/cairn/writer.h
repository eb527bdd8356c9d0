// Writer: the one object that changes a frame.
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

// Stages edits, which no reader sees, and commits them all at once. A Writer is movable. It is not
// thread-safe, except for Sync. The destructor drops staged edits and releases the frame. Commits
// stay, and are as durable as they were; Close makes all of them durable.
//
// Errors of every call:
//   kFailedPrecondition in a forked child, and after Close.
//   kFailedPrecondition after a failed write or sync. The outcome of the commit under way is
//     unknown until the frame is opened again.
//   kFailedPrecondition if a step after an earlier commit failed. That commit stands, and its call
//     has succeeded. Only Checkpoint, also in Flush and Close, returns such a failure itself.
//
// Errors of every edit:
//   kInvalidArgument if the values have another size than typesize; see Items.
//   kResourceExhausted if the frame would have more chunks than Limits::max_nchunks.
//   kDataLoss if a chunk that the edit must read is damaged.
//
// A call that is refused for its arguments changes nothing.
//
// A full disk gives kResourceExhausted. Updated chunks may stay in memory until Commit (see
// WriterOptions::staged_memory), and meet the full disk only there. If the full disk stops an edit
// or the storing of such a chunk, the staged edits are unusable until Rollback. A commit that would
// leave too little space for deleting chunks and for Reclaim changes nothing. The program can roll
// it back, or commit again once there is space.
class CAIRN_EXPORT Writer {
 public:
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();

  // Appends any number of items, cut into chunks of chunksize. Items that do not fill a chunk are
  // pending. The next call completes their chunk, even after Commit, or after the frame was closed
  // and opened again. In a frame of variable chunks, each call makes one chunk.
  //
  // Errors:
  //   kInvalidArgument if the one chunk of a call would exceed kMaxChunkBytes.
  //   kFailedPrecondition if the frame is an array (use AppendSlices), or if it has variable blocks
  //     and takes only compressed chunks.
  absl::Status Append(Items items);
  // Appends a compressed chunk, unchanged. A chunk of a format version before 5 is recompressed.
  //
  // Errors:
  //   kInvalidArgument if the chunk is empty, has another typesize, is larger than chunksize, or is
  //     an instrumented one of C-Blosc2.
  //   kFailedPrecondition if the last chunk of a frame of fixed chunks is shorter than chunksize,
  //     since no chunk can follow it.
  //   kFailedPrecondition if the frame is an array, or if only one of frame and chunk has variable
  //     blocks.
  //   kDataLoss if the header of the chunk is damaged.
  //   kUnimplemented if the chunk must be recompressed and this build cannot decode it.
  //   kResourceExhausted if the chunk exceeds Limits::max_chunk_nbytes.
  absl::Status AppendCompressed(Bytes chunk);
  // Appends nitems items of one value. Each full chunk of zeros, NaNs or uninitialised values costs
  // 8 bytes of the index. Only kRepeat takes a `value`, which is one item.
  //
  // Errors:
  //   kInvalidArgument if nitems is negative, `special` is kNone, `value` is missing or not wanted,
  //     or kNans is used with a typesize other than 4 or 8.
  //   kFailedPrecondition as for Append, or if the last item of the frame is not complete.
  absl::Status AppendSpecial(SpecialValue special, int64_t nitems, Items value = {});

  // These calls edit complete chunks. The chunks after them move up or down, and none of their
  // stored bytes is touched. In a frame of fixed chunks, every chunk except the last has chunksize
  // bytes.
  //
  // Errors of these calls:
  //   kOutOfRange if a chunk does not exist.
  //   kInvalidArgument if a chunk is empty or exceeds kMaxChunkBytes, or in a frame of fixed chunks
  //     exceeds chunksize or is shorter anywhere except at the end.
  //   kFailedPrecondition if a chunk would follow a shorter one in a frame of fixed chunks.
  //   kFailedPrecondition if a frame of variable blocks gets items instead of compressed chunks.
  //   kFailedPrecondition if the frame is an array and the edit would change the number, the size
  //     or the order of its chunks, or in UpdateCompressed the size of its blocks.
  //
  // Inserts a chunk, which gets the number nchunk. If nchunk is the number of chunks, appends it.
  absl::Status InsertChunk(int64_t nchunk, Items items);
  // Replaces the content of a chunk.
  absl::Status UpdateChunk(int64_t nchunk, Items items);
  // Insert and replace a compressed chunk.
  // Errors: also those of AppendCompressed.
  absl::Status InsertCompressed(int64_t nchunk, Bytes chunk);
  absl::Status UpdateCompressed(int64_t nchunk, Bytes chunk);
  // Deletes chunks [first, first + count).
  absl::Status DeleteChunks(int64_t first, int64_t count);
  // Reorders the chunks: chunk order[i] becomes chunk i. O(nchunks).
  // Errors: kInvalidArgument also if `order` is not a permutation of all chunks.
  absl::Status ReorderChunks(std::span<const int64_t> order);
  // Sets the chunksize, or lets chunks have any size, while the frame as it is staged has no
  // chunks: a new one, or one whose chunks were all deleted. Any number of bytes is taken as it is.
  // Older versions of Cairn report the commit as damage of the journal. They read the frame after
  // the next checkpoint.
  // Errors: kFailedPrecondition if the frame has chunks, or is an array; kInvalidArgument if a
  // number is less than 1 or exceeds kMaxChunkBytes, or the first chunk is to set the size.
  absl::Status SetChunksize(ChunkSize size);
  // Overwrites items from number `start` on, across chunk borders. A chunk that is only partly
  // covered is read, changed and recompressed.
  // Errors: kOutOfRange if an item does not exist; kInvalidArgument if `items` ends within an item.
  absl::Status WriteItems(int64_t start, Items items);

  // These calls edit n-dimensional arrays. A frame is an array, and stays one, while its metalayer
  // and its chunks agree. Edits that would change the number, the size or the order of its chunks
  // then return kFailedPrecondition. UpdateChunk and WriteItems work on chunks as they are stored.
  //
  // Errors of these calls:
  //   kFailedPrecondition if the frame is not an array, has variable blocks, or has another
  //     chunksize than the array.
  //   kDataLoss if the chunks do not fit the shape of the array.
  //   kUnimplemented if the array has more than kMaxDimensions.
  //   kResourceExhausted if its chunks exceed Limits::max_chunk_nbytes.
  //
  // Overwrites a box with items in C order; see Snapshot::ReadBox.
  // Errors: kInvalidArgument if the number of dimensions or of items is wrong; kOutOfRange if the
  // box does not lie within the array.
  absl::Status WriteBox(std::span<const int64_t> start, std::span<const int64_t> shape,
                        Items items);
  // Grows or shrinks the array along any axes. New items are zeros, and chunks
  // of zeros store nothing. Only chunks on a moving edge are read. They are recompressed only if
  // their padding is not zero. The cost is O(chunks added or removed).
  //
  // Errors: kInvalidArgument if `shape` has another number of dimensions, if no frame can have it,
  // or if it grows an axis whose chunks have no extent.
  absl::Status ResizeArray(std::span<const int64_t> shape);
  // Grows the array along an axis (0 is the slowest) by as many slices as `items` holds, each in C
  // order.
  //
  // In an array of one dimension, items that do not fill a chunk stay pending, as in Append, so
  // each commit costs only what is new. With more dimensions this is ResizeArray, then WriteBox.
  // Appends of complete chunks along axis 0 touch no other chunk.
  //
  // Errors: kOutOfRange if there is no such axis; kInvalidArgument if the slices are not complete.
  absl::Status AppendSlices(int axis, Items items);
  // Removes `count` slices along an axis, and the slices after them move up. They must be the last
  // slices, which ResizeArray removes, or whole chunks, which just leave the index. The cost is
  // O(chunks removed).
  //
  // Errors: kOutOfRange if there is no such axis or slice; kInvalidArgument if the slices are
  // neither the last ones nor whole chunks.
  absl::Status DeleteSlices(int axis, int64_t start, int64_t count);

  // Replaces the content of a metalayer. The size stays the same.
  //
  // Errors:
  //   kNotFound if there is no metalayer of that name.
  //   kInvalidArgument if `content` has another size.
  //   kFailedPrecondition if `b2nd` or `caterva` would not describe the existing chunks.
  absl::Status SetMetalayer(std::string_view name, Bytes content);
  // Adds or replaces a vlmetalayer. A frame with more than 14 of them is no longer sealed, because
  // C-Blosc2 could not write it.
  //
  // Errors:
  //   kInvalidArgument if the name is longer than kMaxMetalayerName, contains a NUL, or is one of
  //     Cairn's own.
  //   kResourceExhausted if `content` exceeds Limits::max_metadata_nbytes, if the frame would have
  //     more than kMaxVlMetalayers with Cairn's own two, or if they would take more than 512 MiB
  //     together.
  absl::Status SetVlmetalayer(std::string_view name, Bytes content);
  // Deletes a vlmetalayer.
  // Errors: kNotFound if there is none of that name.
  absl::Status DeleteVlmetalayer(std::string_view name);

  // Stages the changes of an increment (see CopyOptions::since). Commit then gives the frame the
  // content of the state that the increment was made of. Both contents are checked. Does nothing if
  // the frame already has the result, so an interrupted restore can be repeated. In an object store
  // Commit gives kAborted if another writer has committed anything since.
  //
  // Errors, after which nothing is staged:
  //   kFailedPrecondition if the frame does not have the content that the increment applies to.
  //   kFailedPrecondition if the frame has staged edits, or if `increment` is not an increment.
  //   kDataLoss if the increment is damaged.
  //   kUnimplemented if a newer version of Cairn made the increment.
  absl::Status ApplyIncrement(const Snapshot& increment);

  // Decodes one chunk, with the staged edits, into dst, which must have the chunk's size. If the
  // chunk is in memory (see WriterOptions::staged_memory), it is copied from there. Otherwise it is
  // read as Snapshot::ReadChunk does, after any of its bytes that are still in memory were written
  // to the file.
  //
  // Errors: as for Snapshot::ReadChunk. kResourceExhausted on a full disk leaves the staged edits
  // usable.
  absl::Status ReadChunk(int64_t nchunk, MutableItems dst);
  // Returns the committed state with the staged edits on top. Writes what is still in memory to the
  // file. While the snapshot exists, no other writer can open the frame, since it would overwrite
  // these edits. In a forked child, reads of staged chunks return kFailedPrecondition.
  absl::StatusOr<Snapshot> StagedSnapshot();

  // Does all of the next Commit that may find the disk full or fail to compress a chunk. A program
  // can thus prepare several frames before it commits the first. Prepare compresses and writes what
  // is staged, with kMachine durably, and reserves the space of the commit record. Commit then
  // writes only into that space and fails only for errors of the disk. On file systems that copy
  // what is overwritten, such as btrfs, space cannot be promised.
  //
  // Until Commit or Rollback, edits return kFailedPrecondition. Prepare does nothing if nothing is
  // staged, and may be called again. In an object store, only Commit stores the record. Before the
  // first commit of a frame that BeginCreate started, no space is reserved.
  //
  // Errors:
  //   kResourceExhausted if the disk is full or the frame would pass max_file_size. What is staged
  //     stays, as for Commit.
  //   kUnimplemented if the record is too large for the journal and Commit must make a new file:
  //     for a sparse frame, for a frame that becomes empty, or for changed metalayers in a header
  //     longer than 512 bytes.
  absl::Status Prepare(Durability durability = Durability::kMachine);
  // Makes all staged edits visible, and as durable as asked, or none of them. Returns the committed
  // state. If nothing is staged, kMachine makes earlier commits durable.
  //
  // The cost is what was staged. It goes into the journal, which only Cairn reads, and sometimes
  // into a checkpoint. After a power cut, the frame holds a prefix of the commits that includes the
  // last kMachine one.
  //
  // Errors, after which nothing is committed and the edits are still staged:
  //   kResourceExhausted if the disk is full, see above, or if the frame would pass
  //     WriterOptions::max_file_size.
  //   kUnavailable if the frame is in an object store and other writers, or the store, did not let
  //     the commit through: try again.
  //   kAborted if the frame is in an object store and another writer has committed a conflicting
  //     edit, or if the edits were staged too long ago: roll back and stage them again.
  //   kFailedPrecondition if the frame is in an object store and was replaced, or has more than 14
  //     vlmetalayers.
  //   kUnavailable and kFailedPrecondition as for BeginCreate, in the first commit of a new frame.
  //
  // Errors, after which the writer stops:
  //   kAlreadyExists in the first commit of a new frame, if something has taken its path. In an
  //     object store the edits stay staged.
  //   kDeadlineExceeded or kCancelled if an object store gave no answer. The commit may be made.
  absl::StatusOr<Snapshot> Commit(Durability durability = Durability::kMachine);
  // Waits until `committed`, which Commit of this writer returned, survives a power cut. Returns at
  // once after a kMachine commit. Thread-safe during all other calls except a move and the
  // destructor. Threads that wait at the same time share one sync.
  //
  // Threads can thus edit and commit with kProcess in turn, under a mutex of the program, and then
  // call Sync without the mutex. After a failed sync, every thread that waits gets its error, and
  // the writer stops.
  //
  // Errors: kInvalidArgument if this writer has not committed that state; kFailedPrecondition if
  // `committed` is a StagedSnapshot.
  absl::Status Sync(const Snapshot& committed) const;
  // Commits durably and leaves a frame in which any Blosc2 reader sees everything. O(nchunks).
  //
  // Errors: as for Commit. kFailedPrecondition also if the checkpoint needs a new file, as for
  // Frame::History, and this process may not set the attributes of the old file: the edits stay
  // staged.
  absl::Status Checkpoint();
  // Commits durably. Also writes a checkpoint, unless that takes more than 256 KiB and more than
  // the journal holds. Other programs then find what Close would leave, and the writer stays open.
  // Errors: as for Commit.
  absl::Status Flush();
  // Drops the staged edits. If that fails, later calls return kFailedPrecondition.
  void Rollback();
  // Gives space back to the file system that the frame would otherwise use again by itself; see
  // WriterOptions::keep_generations. Generations that ReclaimOptions::keep_generations does not
  // keep leave the history, and the space that only they use becomes free. What a reader still sees
  // stays; see ReclaimReport::blocked.
  //
  // Looks at every chunk, and first writes a checkpoint if anything was committed since the last
  // one. O(nchunks).
  //
  // Errors: kFailedPrecondition if edits are staged; kUnimplemented if the frame is in memory or
  // not sealed, or if the file system cannot make holes.
  absl::StatusOr<ReclaimReport> Reclaim(const ReclaimOptions& options = {});
  // Releases the frame to other writers, and keeps what is known of it for Resume. Use it for a
  // writer that stays but does not write all the time. Until Resume, every other call except Sync
  // returns kFailedPrecondition.
  //
  // Takes a few microseconds. In a sparse frame it also syncs each chunk file that is not durable
  // yet.
  //
  // Errors: kFailedPrecondition if edits are staged, or while a StagedSnapshot exists.
  absl::Status Suspend();
  // Takes the frame again and continues with what is committed now. Writers that wait get the frame
  // in the order in which they came.
  //
  // Takes microseconds, and the time to read what others have committed since. Also syncs if their
  // last commit was not kMachine. After a checkpoint or a compaction by others, and in a sparse
  // frame after any commit of theirs, it costs as much as OpenWriter.
  //
  // Errors, after which the writer stays suspended:
  //   kUnavailable if another writer holds the frame for longer than `wait`.
  //   kFailedPrecondition if the writer is not suspended.
  //   Those of Frame::OpenWriter if the frame must be read again.
  absl::Status Resume(std::chrono::milliseconds wait = std::chrono::milliseconds(0));
  // Returns true if another writer waits for the frame. Takes one system call.
  absl::StatusOr<bool> HasWaiters() const;
  // Flushes and releases the frame to other writers. Every later call fails. Call Checkpoint before
  // if another Blosc2 library must see everything, whatever that costs.
  //
  // Errors: as for Flush. After one that leaves the edits staged, such as kResourceExhausted, the
  // writer is still open.
  absl::Status Close();

 private:
  friend struct frame::HandleAccess;
  explicit Writer(std::unique_ptr<frame::FrameWriter> impl);

  std::unique_ptr<frame::FrameWriter> impl_;
};

}  // namespace cairn

#endif  // CAIRN_WRITER_H_
