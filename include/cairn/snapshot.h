// Snapshot, an immutable committed state of a frame: everything that reads.
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
#include "absl/functional/function_ref.h"
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

struct IncrementInfo;  // in copy.h

namespace frame {
struct HandleAccess;
struct State;
}  // namespace frame

// Cheap to copy, thread-safe, and valid whatever happens to the frame: it keeps the map or the file
// that it reads from. Every read gives the data or a status: kDataLoss for damage (other chunks
// stay readable), kOutOfRange, kUnimplemented, kResourceExhausted, kFailedPrecondition where the
// frame holds a recipe (FrameInfo::recipe).
class CAIRN_EXPORT Snapshot {
 public:
  [[nodiscard]] const FrameInfo& info() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  [[nodiscard]] const std::vector<Metalayer>& metalayers() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  // Names in the order of the trailer; Cairn's own two vlmetalayers are left out.
  [[nodiscard]] std::vector<std::string> vlmetalayers() const;
  // Options that make an empty frame like this one: compression, chunksize, layout and metalayers.
  // The filter that is only read becomes its repaired successor. An array is described by its
  // metalayer `b2nd` and not by CreateOptions::array: its chunks are to be appended. The
  // fingerprint is the default, for frames of other writers have none.
  [[nodiscard]] CreateOptions create_options() const;

  // The file that it reads, of a sparse frame the index: another one after a compaction, or where
  // another frame got the path. No other file has its identity while the snapshot lives. Empty of
  // frames from before Blosc2 2.0, and where the file system does not tell.
  [[nodiscard]] std::optional<FileIdentity> file() const;

  // kNotFound when there is none of that name.
  absl::StatusOr<std::vector<std::byte>> GetMetalayer(std::string_view name) const;
  absl::StatusOr<std::vector<std::byte>> GetVlmetalayer(std::string_view name) const;

  // Returns where a chunk is stored. Reads the index only.
  absl::StatusOr<ChunkEntry> GetEntry(int64_t nchunk) const;
  // The compressed chunk, in place when the frame is mapped. Special values of the index and
  // pending items become chunks in memory.
  absl::StatusOr<Chunk> GetChunk(int64_t nchunk) const;
  // Decoded size of one chunk, bytes. At most Limits::max_chunk_nbytes, so a buffer of that size is
  // no larger than the caller allowed.
  absl::StatusOr<int32_t> ChunkNbytes(int64_t nchunk) const;
  // Decodes one chunk; dst must have its ChunkNbytes.
  absl::Status ReadChunk(int64_t nchunk, MutableItems dst) const;

  // The n-dimensional array that the frame holds, when its metalayer `b2nd` (or `caterva`) says so.
  [[nodiscard]] const std::optional<ArrayInfo>& array() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  // Reads a box of the array, its items in C order, into dst (product of `shape` * typesize bytes);
  // decodes only the blocks that it touches. kFailedPrecondition when there is no array,
  // kInvalidArgument for another number of dimensions or another size of dst, kOutOfRange.
  absl::Status ReadBox(std::span<const int64_t> start, std::span<const int64_t> shape,
                       MutableItems dst) const;

  // Reads the items from number `start` on that fill dst, whose size must be a multiple of
  // typesize; across chunk borders, decoding only the blocks that hold them. The items of an array
  // are numbered in C order, here and below, wherever chunks and blocks hold them.
  absl::Status ReadItems(int64_t start, MutableItems dst) const;
  // Reads single items, in any order and with repeats, into dst (items.size() * typesize bytes).
  absl::Status ReadItemsAt(std::span<const int64_t> items, MutableItems dst) const;
  // Reads fields of `nitems` items from number `start` on, each into an array of its own. Of chunks
  // whose only filter is SHUFFLE it takes the bytes of these fields alone, and where the blocks are
  // split, decodes nothing else: damage there is not seen. kInvalidArgument for a field that does
  // not lie in an item, or whose array has another size.
  absl::Status ReadFields(int64_t start, int64_t nitems, std::span<const FieldSpan> fields) const;
  // Bytes [begin, begin + dst.size()) of the decoded data, whatever the typesize: those of the
  // chunks one after the other, of an array in storage order and with padding.
  absl::Status ReadBytes(int64_t begin, MutableBytes dst) const;

  // Checks the frame and goes on past damage. An error means that the check could not be made;
  // `progress`, when given, is called with the chunks done and returns false to stop: kCancelled.
  absl::StatusOr<VerifyReport> Verify(
      VerifyDepth depth = VerifyDepth::kContents,
      absl::FunctionRef<bool(int64_t)> progress = [](int64_t) { return true; }) const;

  // A hash of the content: equal for frames of equal data and metadata in equal chunks, such as a
  // frame and its copies, whatever their layout and generations. It identifies content, and does
  // not replace Verify: of chunks with a fingerprint it takes that. One pass over the index.
  // kDataLoss.
  absl::StatusOr<uint64_t> ContentHash() const;
  // Describes an increment. Errors: kFailedPrecondition if Frame::CopyTo did not make the frame.
  absl::StatusOr<IncrementInfo> GetIncrementInfo() const;

  // Returns true if both are the same state, seen through the same Frame: equal snapshots read the
  // same. A Refresh that finds neither news nor a damaged journal returns an equal one. Snapshots
  // of Frames opened separately are never equal, and OpenWriter loads the newest state again.
  bool operator==(const Snapshot&) const = default;

 private:
  friend struct frame::HandleAccess;
  explicit Snapshot(std::shared_ptr<const frame::State> state) : state_(std::move(state)) {}

  std::shared_ptr<const frame::State> state_;
};

}  // namespace cairn

#endif  // CAIRN_SNAPSHOT_H_
