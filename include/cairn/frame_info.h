// FrameInfo and ChunkEntry: descriptions of a frame and its chunks.
#ifndef CAIRN_FRAME_INFO_H_
#define CAIRN_FRAME_INFO_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cairn/types.h"

namespace cairn {

// Describes a state of a frame, as its header, index and trailer do. Sizes are in bytes.
struct FrameInfo {
  Layout layout = Layout::kContiguous;
  Era era = Era::kCurrent;
  int format_version = 0;  // version of the frame format: 2, or 3 with variable chunks or blocks
  int64_t nchunks = 0;     // number of chunks; pending items count as the last one
  int64_t nitems = 0;      // number of complete items; in an array, those of its shape
  int64_t nbytes = 0;      // decoded size, including the padding of an array
  int64_t cbytes = 0;      // size of stored chunks; includes dead bytes if their number is unknown
  int64_t frame_size = 0;  // size from the header to the trailer
  int64_t journal_size = 0;  // size of commits after the last checkpoint, which only Cairn reads
  int64_t header_len = 0;
  // Bytes of the chunk area, and of the journal of a contiguous frame, that hold neither a live
  // chunk nor items that wait for more. Empty if unknown.
  std::optional<int64_t> dead_bytes = {};
  int32_t typesize = 1;
  // Decoded size of every chunk except the last. Empty with variable_chunks, and until the first
  // chunk if the header leaves the size open.
  std::optional<int32_t> chunksize = {};
  bool variable_chunks = false;  // true if chunks may differ in size
  // Decoded size of blocks that was asked for. Empty if it is chosen for each chunk.
  std::optional<int32_t> blocksize = {};
  // Defaults for new chunks. The header of each chunk has its own values.
  Codec codec = Codec::kBloscLz;
  uint8_t codec_meta = 0;
  int clevel = 0;
  SplitMode split_mode = SplitMode::kForwardCompat;
  bool use_dict = false;
  bool vlblocks = false;             // true if blocks differ in size
  std::vector<FilterStage> filters;  // filters in the order in which they are applied
  FingerprintType fingerprint = FingerprintType::kNone;
  bool sealed = false;  // true if fingerprints cover every live byte
  // Names of metalayers that are not the sealed ones: another Blosc2 library, or damage, has
  // changed them in place.
  std::vector<std::string> changed_metalayers = {};
  // True if the trailer is damaged. Chunks are then read unchecked, vlmetalayers cannot be read,
  // and the frame is read-only.
  bool trailer_damaged = false;
  // True if commits after this state cannot be read, or if the header is older than the file and
  // does not lead to them. The frame is then read-only.
  bool journal_damaged = false;
  int64_t stranded_commits = 0;  // number of these commits that the file shows
  // Number of this state, which grows with each commit and checkpoint by Cairn. 0 if Cairn never
  // wrote the frame. It restarts after a checkpoint without a seal, which cannot keep it.
  uint64_t generation = 0;
  // Kind of object from which python-blosc2 computes the data, such as "LazyExpr" or "Proxy". The
  // chunks then hold no data, so reads of data, and Verify, return kFailedPrecondition. Empty if
  // the chunks hold the data.
  std::string recipe = {};
};

// Describes a chunk as the index does.
struct ChunkEntry {
  int64_t index = 0;  // number of the chunk
  // Position of the stored chunk, in bytes from the start of a contiguous frame. Empty in a sparse
  // frame, for special values that the index holds, and for pending items.
  std::optional<int64_t> offset = {};
  // Number of the chunk's file in a sparse frame. Empty in a contiguous frame, for special values
  // that the index holds, and for pending items.
  std::optional<int64_t> file = {};
  SpecialValue special = SpecialValue::kNone;  // value that the index holds instead of a chunk
  std::optional<uint64_t> fingerprint = {};    // XXH3-64 of the stored bytes
  // Bytes of the stored chunk, if the frame tells them without a look at the chunk. Empty for
  // chunks that other libraries and older versions of Cairn wrote.
  std::optional<int32_t> cbytes = {};

  // Returns true if the chunk has bytes of its own.
  bool stored() const { return offset.has_value() || file.has_value(); }
};

}  // namespace cairn

#endif  // CAIRN_FRAME_INFO_H_
