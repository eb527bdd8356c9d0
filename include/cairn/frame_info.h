// Descriptions of a frame and its chunks.
#ifndef CAIRN_FRAME_INFO_H_
#define CAIRN_FRAME_INFO_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cairn/types.h"

namespace cairn {

// Describes a state of a frame, as header, index and trailer do. Sizes are bytes.
struct FrameInfo {
  Layout layout = Layout::kContiguous;
  Era era = Era::kCurrent;
  int format_version = 0;    // of the frame format: 2, or 3 with variable chunks or vlblocks
  int64_t nchunks = 0;       // pending items count as the last chunk
  int64_t nitems = 0;        // complete ones; of an array those of its shape
  int64_t nbytes = 0;        // decoded, with the padding of an array
  int64_t cbytes = 0;        // of stored chunks; includes dead bytes where their number is unknown
  int64_t frame_size = 0;    // header to trailer
  int64_t journal_size = 0;  // of commits after the last checkpoint, which only Cairn reads
  int64_t header_len = 0;
  // Bytes of the chunk area that no live chunk uses. Empty: unknown.
  std::optional<int64_t> dead_bytes = {};
  int32_t typesize = 1;
  // Decoded, of every chunk but the last. Empty with variable_chunks, and where the frame has not
  // had a chunk yet and its header leaves it open.
  std::optional<int32_t> chunksize = {};
  bool variable_chunks = false;  // chunks differ in size
  // Decoded, as asked for. Empty: chosen for each chunk.
  std::optional<int32_t> blocksize = {};
  // Defaults for new chunks; each chunk's header has its own.
  Codec codec = Codec::kBloscLz;
  uint8_t codec_meta = 0;
  int clevel = 0;
  SplitMode split_mode = SplitMode::kForwardCompat;
  bool use_dict = false;
  bool vlblocks = false;             // blocks differ in size
  std::vector<FilterStage> filters;  // in the order of application
  FingerprintType fingerprint = FingerprintType::kNone;
  bool sealed = false;  // fingerprints cover every live byte
  // Metalayers that are not the sealed ones: another Blosc2 changed them in place, or damage did.
  std::vector<std::string> changed_metalayers = {};
  // Chunks are read unchecked, vlmetalayers cannot be read, and the frame is read-only.
  bool trailer_damaged = false;
  // Commits after this state cannot be read, or the header is older than the file and does not lead
  // to them; the frame is read-only.
  bool journal_damaged = false;
  int64_t stranded_commits = 0;  // how many, as far as the file shows
  // Number of this state. Grows with each commit and checkpoint by Cairn; 0 where Cairn never
  // wrote. Restarts after a checkpoint without a seal, which cannot keep it.
  uint64_t generation = 0;
  // Such as "LazyExpr" or "Proxy": what python-blosc2 computes the data of. The chunks hold none,
  // so reading it and Verify give kFailedPrecondition. Empty: the chunks hold the data.
  std::string recipe = {};
};

// An entry of the index.
struct ChunkEntry {
  int64_t index = 0;  // number of the chunk
  // Position of the stored chunk, bytes from the start of a contiguous frame. Empty in sparse
  // frames, for special values that the index holds, and for pending items.
  std::optional<int64_t> offset = {};
  // Number of the chunk's file in a sparse frame; empty otherwise, and as above.
  std::optional<int64_t> file = {};
  SpecialValue special = SpecialValue::kNone;  // that the index holds
  std::optional<uint64_t> fingerprint = {};    // XXH3-64 of the stored bytes
  // Bytes of the stored chunk, where the frame says so without a look at the chunk: empty for
  // chunks that other libraries and older Cairns wrote.
  std::optional<int32_t> cbytes = {};

  // Returns true if the chunk has bytes of its own.
  bool stored() const { return offset.has_value() || file.has_value(); }
};

}  // namespace cairn

#endif  // CAIRN_FRAME_INFO_H_
