// Options of all calls, as aggregates with defaults. In each struct members that change only speed
// or memory come last.
#ifndef CAIRN_OPTIONS_H_
#define CAIRN_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "cairn/array.h"
#include "cairn/executor.h"
#include "cairn/file_system.h"
#include "cairn/registry.h"
#include "cairn/types.h"

namespace cairn {

// The form of a chunk that Cairn writes.
enum class ChunkFormat : uint8_t {
  kBlosc2,  // 32-byte header; every codec, filter, dictionary and special value
  kBlosc1,  // 16-byte header that C-Blosc 1.x reads; at most one of shuffle and bitshuffle
};

// How items become chunks.
struct CompressionOptions {
  Codec codec = Codec::kLz4;
  // 0 stores the bytes as they are, 1 is fastest, 9 is smallest.
  int clevel = 5;
  // Bytes of one item. Above 255 the chunks say 1 and only the frame header keeps the true size.
  int32_t typesize = 1;
  // Bytes of one block, the unit of compression and of partial reads; 0 chooses by codec, level and
  // typesize. Rounded down to a multiple of typesize.
  int32_t blocksize = 0;
  SplitMode split_mode = SplitMode::kForwardCompat;
  // In the order in which they are applied; at most kMaxFilters.
  std::vector<FilterStage> filters = {{.filter = Filter::kShuffle}};
  // Parameter byte of NDLZ, of ZFP, or of a registered codec.
  uint8_t codec_meta = 0;
  // Items of a block in each dimension, for codecs that need them: they are the block size, too. A
  // frame has those of its array, whatever stands here.
  std::vector<int32_t> blockshape = {};
  // Trains a dictionary for each chunk (LZ4, LZ4HC and zstd only). Pays for small blocks.
  bool use_dict = false;
  ChunkFormat format = ChunkFormat::kBlosc2;
  // Codecs and filters of the program's own; null means none. Must outlive the call or frame.
  const Registry* registry = nullptr;

  // Runs the blocks of a chunk in parallel; null means the calling thread. The bytes written do not
  // depend on it.
  Executor* executor = nullptr;
};

struct DecompressionOptions {
  const Registry* registry = nullptr;
  // As in CompressionOptions: a chunk does not tell. Needed for ZFP, NDCELL and NDMEAN.
  std::vector<int32_t> blockshape = {};
  Executor* executor = nullptr;  // null means the calling thread
};

// When the fingerprint of a chunk is checked against its bytes.
enum class VerifyPolicy {
  kFirstTouch,  // at the first read through one handle
  kAlways,      // at every read
  kNever,
};

// Bounds on what an untrusted file may cost. Passing one gives kResourceExhausted.
struct Limits {
  int64_t max_chunk_nbytes = kMaxChunkBytes;  // one chunk, decoded
  int64_t max_metadata_nbytes = 64 << 20;     // one vlmetalayer, decoded
  int64_t max_nchunks = int64_t{1} << 28;
  // Bytes that one call may allocate to decode blocks that do not go straight into the caller's
  // buffer, as when a part of a block is read or a frame is verified: block, filters, and block 0
  // with DELTA. The default is enough for blocks of 64 MiB, whatever their filters. Reads of
  // complete chunks need none.
  int64_t max_decode_memory = 256 << 20;
};

struct OpenOptions {
  // Position of the frame in the file, bytes. A frame at another offset than 0 is read-only.
  int64_t offset = 0;
  // Reads through a memory map. Without it every read copies, and a file that another process
  // truncates meanwhile gives an error instead of SIGBUS.
  bool use_mmap = true;
  VerifyPolicy verify = VerifyPolicy::kFirstTouch;
  // Shows only commits that no power cut takes back, and is read-only. A commit that is not durable
  // yet is seen when it is: after the writer's next kMachine commit or checkpoint, or when the next
  // writer opens the frame. Open, and Refresh after a checkpoint, sync the file and its name.
  bool durable_only = false;
  // Opens this generation and stays with it, read-only; see Frame::History. By default the newest.
  std::optional<uint64_t> generation = {};
  Limits limits = {};
  // Chunk files of a sparse frame that stay mapped at the same time.
  int32_t max_mapped_files = 256;
  const Registry* registry = nullptr;
  FileSystem* file_system = nullptr;  // null means PosixFileSystem()

  // Most bytes of decoded blocks, and of chunks of up to 64 KiB, that all snapshots of the frame
  // keep together. What is asked for a second time is kept, so a scan drives out nothing that is in
  // use. 0 keeps none.
  int64_t cache_memory = 8 << 20;
  Executor* executor = nullptr;  // decodes blocks in parallel; null means the calling thread
};

struct CreateOptions {
  CompressionOptions compression = {};
  // Bytes of every chunk but the last, rounded down to a multiple of typesize (but to no less than
  // one item). kVariableChunks makes one chunk of each call of Append; kAsFirstChunk leaves the
  // size to the first chunk that is inserted, or to WriterOptions::chunksize of the first Append.
  static constexpr int32_t kVariableChunks = 0;
  static constexpr int32_t kAsFirstChunk = -1;
  int32_t chunksize = 1 << 20;
  Layout layout = Layout::kContiguous;
  // Makes an n-dimensional array of zeros: chunksize, blocksize and the metalayer `b2nd` follow
  // from it, and the items are compression.typesize bytes each. WriteBox fills it. An empty
  // chunkshape is chosen so that chunks have at most `chunksize` bytes, an empty blockshape as
  // compression.blocksize says; see docs/cpp-api.md.
  std::optional<ArrayInfo> array = {};
  // At most kMaxMetalayers. Later only their content can change, not its size.
  std::vector<Metalayer> metalayers = {};
  // Kind of the fingerprints that seal the frame. kNone writes no table of fingerprints.
  FingerprintType fingerprint = FingerprintType::k64Bit;
  // Replaces a file or sparse frame of that name; otherwise Create gives kAlreadyExists.
  bool overwrite = false;
  FileSystem* file_system = nullptr;  // null means PosixFileSystem()
};

struct WriterOptions {
  // How new chunks are compressed. By default as the header says; typesize is always the frame's.
  std::optional<CompressionOptions> compression = {};
  // Codecs and filters of the program's own for new chunks; existing chunks are read with those of
  // OpenOptions.
  const Registry* registry = nullptr;
  // Bytes of a chunk in a frame without FrameInfo::chunksize; see CreateOptions.
  int32_t chunksize = 1 << 20;
  // How long to wait for another writer; kUnavailable after that.
  std::chrono::milliseconds wait{0};
  // kMachine makes the commits that the frame holds durable when the writer opens or resumes, which
  // syncs. kProcess leaves that to the first step that is durable itself, or that overwrites bytes
  // of the file: a writer whose commits are kProcess mostly syncs nothing until Close. Until then a
  // power cut may take earlier kProcess commits back, as before. Sparse frames ignore it.
  Durability opening = Durability::kMachine;
  // Generations before the newest to keep for Frame::History and OpenOptions::generation. The space
  // of older ones is used again as soon as no reader sees them. The journal keeps its generations
  // until the next checkpoint anyway.
  uint64_t keep_generations = 0;
  // Most bytes of the file, of a sparse frame's files together; 0: no limit. Belongs to this writer
  // and is not stored in the frame. An edit or commit that would leave a frame which is no smaller
  // and passes it, the space of the next checkpoint included, gives kResourceExhausted, as on a
  // full disk: Rollback, delete chunks, Reclaim; and where what that frees lies in pieces, Compact.
  // Everything else works, in a larger file too.
  int64_t max_file_size = 0;
  // Creates the lock file of C-Blosc2's locking protocol, FRAME.b2lock. An existing one is always
  // locked while the writer lives.
  bool make_lock_file = false;

  // Bytes of complete chunks of one size that UpdateChunk and WriteItems keep decoded: so they can
  // be changed and read again at the cost of a copy. They are coded when they pass this, in Commit,
  // and before edits that move chunks. Only chunks of up to a quarter of it are kept; 0 keeps none.
  int64_t staged_memory = 8 << 20;
  Executor* executor = nullptr;  // codes blocks in parallel; null means the calling thread
};

// Which generations Frame::History lists.
struct HistoryOptions {
  std::optional<uint64_t> before = {};  // only those before this one
  // At most this many: the newest of them. The first generation that is listed is the `before` of
  // the next, older page.
  int64_t limit = std::numeric_limits<int64_t>::max();
};

struct CompactOptions {
  // How long to wait for a writer; kUnavailable after that.
  std::chrono::milliseconds wait{0};
  // Is called with the number of chunks done; returns false to stop: kCancelled, and nothing
  // changes.
  std::function<bool(int64_t)> progress = {};

  Executor* executor = nullptr;  // codes pending items in parallel; null means the calling thread
};

struct ReclaimOptions {
  // Generations before the newest to keep for History. 0 keeps only what is still read.
  uint64_t keep_generations = 0;
};

}  // namespace cairn

#endif  // CAIRN_OPTIONS_H_
