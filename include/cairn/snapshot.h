// Snapshot: an immutable committed state of a frame, and all calls that read data.
#ifndef CAIRN_SNAPSHOT_H_
#define CAIRN_SNAPSHOT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/array.h"
#include "cairn/chunk.h"
#include "cairn/file_system.h"
#include "cairn/frame_info.h"
#include "cairn/items.h"
#include "cairn/options.h"
#include "cairn/types.h"
#include "cairn/verify.h"

namespace cairn {

// In copy.h.
struct CopyOptions;
struct IncrementInfo;

namespace frame {
struct HandleAccess;
struct State;
}  // namespace frame

// A committed state, which no later commit changes. A snapshot is thread-safe and cheap to copy. It
// keeps the map or the file that it reads from, so it stays valid whatever happens to the frame.
//
// A read returns all of its data or an error.
//
// Errors of every call that reads data:
//   kDataLoss if the bytes that it needs are damaged. Other chunks stay readable.
//   kUnimplemented if this build lacks the codec, the filter or the chunk version; the message
//     names the id.
//   kResourceExhausted if the read would pass OpenOptions::limits.
//   kFailedPrecondition if the frame holds a recipe instead of data; see FrameInfo::recipe. Only
//     GetChunk still works.
//
// Each call lists its further errors.
class CAIRN_EXPORT Snapshot {
 public:
  [[nodiscard]] const FrameInfo& info() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  [[nodiscard]] const std::vector<Metalayer>& metalayers() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  // Returns the names of the vlmetalayers in the order of the trailer, without Cairn's own two.
  [[nodiscard]] std::vector<std::string> vlmetalayers() const;
  // Returns options that make an empty frame like this one, with the same compression, chunksize,
  // layout and metalayers. Filter::kByteDeltaBuggy becomes Filter::kByteDelta, since the former can
  // only be read. An array is described by its metalayer `b2nd` and not by CreateOptions::array, so
  // the caller must append its chunks. The fingerprint is the default one, because frames of other
  // writers have none.
  [[nodiscard]] CreateOptions create_options() const;

  // Returns the identity of the file that the snapshot reads. For a sparse frame that is the index.
  // A snapshot from after a compaction, or after another frame took over the path, reads another
  // file. No other file has this identity while the snapshot exists. Empty if the frame predates
  // Blosc2 2.0, or if the file system has no identities.
  [[nodiscard]] std::optional<FileIdentity> file() const;

  // Returns the content of a metalayer or a vlmetalayer.
  //
  // Errors:
  //   kNotFound if the frame has none of that name.
  //   kDataLoss from GetVlmetalayer if the trailer is damaged.
  //   kResourceExhausted from GetVlmetalayer if the content exceeds Limits::max_metadata_nbytes.
  absl::StatusOr<std::vector<std::byte>> GetMetalayer(std::string_view name) const;
  absl::StatusOr<std::vector<std::byte>> GetVlmetalayer(std::string_view name) const;
  // Returns true if there is a vlmetalayer of that name. Returns false if the trailer is damaged.
  [[nodiscard]] bool HasVlmetalayer(std::string_view name) const;

  // Returns where a chunk is stored. Reads only the index.
  // Errors: kOutOfRange if there is no such chunk; kDataLoss if its entry is damaged.
  absl::StatusOr<ChunkEntry> GetEntry(int64_t nchunk) const;
  // Returns the compressed chunk. If the frame is mapped, its bytes stay in place. Special values
  // that the index holds and pending items become chunks in memory.
  // Errors: kOutOfRange if there is no such chunk.
  absl::StatusOr<Chunk> GetChunk(int64_t nchunk) const;
  // Returns a compressed chunk from which the blocks that hold `needed` decode as from GetChunk.
  // The file of a frame that is not mapped is read only where these blocks lie, unless the chunk is
  // small or mostly needed, or must be read whole, such as to be verified. Other blocks may be
  // missing: the codec gives zeros for them. Parts of `needed` past the end are ignored.
  // Errors: kOutOfRange if there is no such chunk.
  absl::StatusOr<Chunk> GetChunk(int64_t nchunk, std::span<const ByteRange> needed) const;
  // Returns the decoded size of a chunk in bytes. It is at most Limits::max_chunk_nbytes, so a
  // buffer of that size is no larger than the caller allowed.
  //
  // Errors: kOutOfRange if there is no such chunk; kResourceExhausted if it exceeds the limit.
  absl::StatusOr<int32_t> ChunkNbytes(int64_t nchunk) const;
  // Decodes one chunk into dst, which must have exactly ChunkNbytes(nchunk) bytes.
  // Errors: kOutOfRange if there is no such chunk; kInvalidArgument if dst has another size.
  absl::Status ReadChunk(int64_t nchunk, MutableItems dst) const;

  // Returns the n-dimensional array that the frame holds, if its metalayer `b2nd` (or `caterva`)
  // describes one.
  [[nodiscard]] const std::optional<ArrayInfo>& array() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  // Reads a box of the array into dst, its items in C order. dst must have the product of `shape`
  // times typesize bytes. Only the blocks that the box touches are decoded.
  //
  // Errors:
  //   kFailedPrecondition if the frame is not an array.
  //   kInvalidArgument if `start` or `shape` has another number of dimensions than the array, or if
  //     dst has another size.
  //   kOutOfRange if the box does not lie within the array.
  //   kDataLoss if the chunks do not fit the shape of the array.
  //   kUnimplemented if the array has more than kMaxDimensions.
  absl::Status ReadBox(std::span<const int64_t> start, std::span<const int64_t> shape,
                       MutableItems dst) const;

  // Fills dst with the items from number `start` on, across chunk borders. Only the blocks that
  // hold them are decoded. Here and below, the items of an array are numbered in C order, wherever
  // its chunks and blocks hold them.
  //
  // Errors: kOutOfRange if the items do not all exist; kInvalidArgument if the size of dst is not a
  // multiple of typesize.
  absl::Status ReadItems(int64_t start, MutableItems dst) const;
  // Reads single items into dst, which must have items.size() * typesize bytes. The numbers may be
  // in any order and may repeat.
  //
  // Errors: kOutOfRange if an item does not exist; kInvalidArgument if dst has another size.
  absl::Status ReadItemsAt(std::span<const int64_t> items, MutableItems dst) const;
  // Reads fields of `nitems` items from number `start` on, each field into an array of its own. If
  // SHUFFLE is the only filter of a chunk, only the bytes of these fields are put together. If the
  // blocks are also split, nothing else is decoded, so damage in other fields may go unnoticed.
  //
  // Errors: kOutOfRange if the items do not all exist; kInvalidArgument if a field does not lie
  // within an item, or if its array has another size.
  absl::Status ReadFields(int64_t start, int64_t nitems, std::span<const FieldSpan> fields) const;
  // Reads bytes [begin, begin + dst.size()) of the decoded data, whatever the typesize. The decoded
  // data is the content of all chunks, one after the other. For an array it is in storage order and
  // includes padding.
  // Errors: kOutOfRange if the bytes do not all exist.
  absl::Status ReadBytes(int64_t begin, MutableBytes dst) const;

  // Checks the frame and continues past damage, which the report lists. An error means that the
  // check could not be completed.
  // Errors: kCancelled if `options.progress` returns false; kFailedPrecondition if the frame holds
  // a recipe.
  absl::StatusOr<VerifyReport> Verify(const VerifyOptions& options = {}) const;

  // Returns a hash of the content. Frames with equal data and metadata in equal chunks have equal
  // hashes, whatever their layout and generations. A frame and its copies are an example.
  //
  // The hash identifies content and does not replace Verify: a chunk that has a fingerprint is not
  // read. The cost is one pass over the index, and a read of the chunks without a fingerprint.
  //
  // Errors: kDataLoss if the trailer, the index or a chunk that it must read is damaged. If it must
  // decode a chunk or a vlmetalayer, kUnimplemented and kResourceExhausted as above.
  absl::StatusOr<uint64_t> ContentHash() const;

  // Copies this state to a new frame at `path`, also while a writer uses the frame. Call
  // Frame::Refresh first to copy the newest state. The copy appears at `path` when it is complete
  // and durable. It is sealed, has the generation of the state, and contains neither dead bytes nor
  // history.
  //
  // With `options.since`, writes an increment: only what is new since that state.
  //
  // Chunks are verified but not recompressed; only pending items are compressed. One chunk at a
  // time is in memory. The cost of a full copy is a copy of all stored bytes. The cost of an
  // increment is a copy of what is new and one pass over both indexes. That pass takes 8 bytes of
  // memory per chunk of each index, and 24 bytes per chunk that changed its place.
  //
  // Errors, after which no new frame exists at `path`:
  //   kAlreadyExists if something exists at `path` and `options.overwrite` is false.
  //   kDataLoss if the frame is damaged.
  //   kUnimplemented if the frame predates Blosc2 2.0, or if `path` is in an object store.
  //   kFailedPrecondition if this state or `options.since` is a Writer::StagedSnapshot.
  //   kFailedPrecondition if no increment can lead from `options.since` to this state, as if one of
  //     them is an increment, or if `path` is the frame of one of them.
  //   kFailedPrecondition if `path` cannot be replaced; see Frame::Create.
  //   kResourceExhausted if the disk is full.
  //   kResourceExhausted if an increment has more than 2^24 new chunks of special values, or more
  //     metadata than Limits::max_metadata_nbytes (64 MiB by default).
  //   kUnavailable if the frame to replace has a writer, or is sparse and being read.
  //   kCancelled if `options.progress` returns false.
  absl::Status CopyTo(const std::string& path, const CopyOptions& options) const;
  absl::Status CopyTo(const std::string& path) const;
  // Returns this state as the bytes of one contiguous frame, which Frame::OpenBuffer opens.
  // Errors: kDataLoss if the frame is damaged; kFailedPrecondition for a Writer::StagedSnapshot.
  absl::StatusOr<std::vector<std::byte>> ToBuffer() const;
  // Describes the increment that this frame is.
  //
  // Errors:
  //   kFailedPrecondition if the frame is not an increment that CopyTo made.
  //   kDataLoss if the trailer or the description is damaged.
  //   kUnimplemented if a newer version of Cairn made the increment.
  //   kResourceExhausted if the description exceeds Limits::max_metadata_nbytes.
  absl::StatusOr<IncrementInfo> GetIncrementInfo() const;

  // Returns true if both snapshots are the same state, seen through the same Frame. Equal snapshots
  // read the same data. A Refresh that finds neither news nor a damaged journal returns an equal
  // snapshot. Snapshots of Frames that were opened separately are never equal. OpenWriter loads the
  // newest state again, so a snapshot from before is not equal to one from after.
  bool operator==(const Snapshot&) const = default;

 private:
  friend struct frame::HandleAccess;
  explicit Snapshot(std::shared_ptr<const frame::State> state) : state_(std::move(state)) {}

  std::shared_ptr<const frame::State> state_;
};

}  // namespace cairn

#endif  // CAIRN_SNAPSHOT_H_
