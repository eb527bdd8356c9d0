// The options of all calls, as aggregates with defaults. In each struct, the members that change
// only speed or memory come last. What an option shares lives as long as the frame, the snapshots
// and the writers that use it.
#ifndef CAIRN_OPTIONS_H_
#define CAIRN_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "cairn/array.h"
#include "cairn/block_hook.h"
#include "cairn/executor.h"
#include "cairn/file_system.h"
#include "cairn/registry.h"
#include "cairn/types.h"

namespace cairn {

// The format of the chunks that Cairn writes.
enum class ChunkFormat : uint8_t {
  kBlosc2,  // 32-byte header; supports every codec, filter, dictionary and special value
  kBlosc1,  // 16-byte header that C-Blosc 1.x reads; at most one of shuffle and bitshuffle
};

// Numbers that each item has, or bytes that are no numbers.
struct ItemColumn {
  uint8_t kind = 0;   // 1 unsigned, 2 signed, 3 float, 0 bytes
  int32_t size = 1;   // bytes of a number: 1, 2, 4 or 8; at least 2 for floats, and 1 for bytes
  int32_t count = 1;  // numbers, or bytes, of each item
  bool operator==(const ItemColumn&) const = default;
};

// Says how items are compressed into chunks.
struct CompressionOptions {
  Codec codec = Codec::kLz4;
  // Compression level, 0 to 9. 0 stores the bytes as they are, 1 is the fastest and 9 gives the
  // smallest chunks.
  int clevel = 5;
  // Bytes of one item. If it is above 255, the chunks say 1 and only the frame header keeps the
  // true size.
  int32_t typesize = 1;
  // Bytes of one block, which is the unit of compression and of partial reads. It is rounded down
  // to a multiple of typesize. 0 chooses a size by codec, level and typesize.
  int32_t blocksize = 0;
  SplitMode split_mode = SplitMode::kForwardCompat;
  // Filters in the order in which they are applied; at most kMaxFilters.
  std::vector<FilterStage> filters = {{.filter = Filter::kShuffle}};
  // Parameter byte of NDLZ, ZFP or a registered codec.
  uint8_t codec_meta = 0;
  // Items of a block in each dimension, for the codecs and filters that need them. They also set
  // the block size. A frame ignores them and uses those of its array.
  std::vector<int32_t> blockshape = {};
  // The parts of an item, in order, if a codec of numbers gets items of more than one. Each is
  // coded as a column of its own. A frame ignores them and takes those of its array's dtype.
  std::vector<ItemColumn> columns = {};
  // Trains a dictionary for each chunk (only with LZ4, LZ4HC and zstd). This pays off for small
  // blocks.
  bool use_dict = false;
  ChunkFormat format = ChunkFormat::kBlosc2;
  // The program's own codecs and filters; null means none.
  std::shared_ptr<const Registry> registry = nullptr;
  // Makes the block that is compressed out of the block that the caller gives; null means that they
  // are the same. It is called once for each block. Frames ignore it, and so do variable blocks.
  std::shared_ptr<const BlockHook> before_filters = nullptr;

  // Compresses the blocks of a chunk in parallel; null means the calling thread. The bytes written
  // do not depend on it.
  std::shared_ptr<Executor> executor = nullptr;
};

// Says how chunks are decompressed.
struct DecompressionOptions {
  // The program's own codecs and filters; null means none.
  std::shared_ptr<const Registry> registry = nullptr;
  // The blockshape of CompressionOptions, which a chunk does not store. Needed for ZFP, NDCELL and
  // NDMEAN.
  std::vector<int32_t> blockshape = {};
  // The typesize of CompressionOptions, which a chunk does not store if it is above 255. Needed
  // for NDCELL, NDMEAN, and BYTEDELTA without a number of channels. 0 means that of the chunk.
  int32_t typesize = 0;
  // Makes the block that the caller gets out of the decoded block; null means that they are the
  // same. A read of a part of a block calls it for the complete block. Variable blocks ignore it.
  std::shared_ptr<const BlockHook> after_filters = nullptr;
  std::shared_ptr<Executor> executor = nullptr;  // null means the calling thread
};

// Says when the fingerprint of a chunk is checked against its bytes.
enum class VerifyPolicy {
  kFirstTouch,  // at the first read of the chunk through one handle
  kAlways,      // at every read
  kNever,
};

// Bounds on what an untrusted file may cost. A call that would pass one returns kResourceExhausted.
struct Limits {
  int64_t max_chunk_nbytes = kMaxChunkBytes;  // decoded bytes of one chunk
  int64_t max_metadata_nbytes = 64 << 20;     // decoded bytes of one vlmetalayer
  int64_t max_nchunks = int64_t{1} << 28;     // chunks of a frame
  // Bytes that one call may allocate to decode blocks that do not go straight into the caller's
  // buffer. That is so if a part of a block is read, or a frame is verified. The memory holds the
  // block, the scratch space of its filters and, with DELTA, block 0. The default is enough for
  // blocks of 64 MiB with any filters. Reads of complete chunks need none.
  int64_t max_decode_memory = 256 << 20;
};

// Options of Frame::Open and Frame::OpenBuffer.
struct OpenOptions {
  // Position of the frame in the file, in bytes. A frame at an offset other than 0 is read-only.
  int64_t offset = 0;
  // Reads through a memory map. Without the map, every read copies. A file that another process
  // truncates in the meantime then gives an error instead of SIGBUS.
  bool use_mmap = true;
  VerifyPolicy verify = VerifyPolicy::kFirstTouch;
  // Shows only commits that no power cut can take back. The frame is then read-only. Any other
  // commit becomes visible when it is durable: after the writer's next kMachine commit or
  // checkpoint, or when the next writer opens the frame. Open, and Refresh after a checkpoint, sync
  // the file and its name.
  bool durable_only = false;
  // Opens this generation and stays with it, read-only; see Frame::History. The default is the
  // newest generation.
  std::optional<uint64_t> generation = {};
  Limits limits = {};
  // Number of chunk files of a sparse frame that stay mapped at the same time.
  int32_t max_mapped_files = 256;
  // The program's own codecs and filters; null means none.
  std::shared_ptr<const Registry> registry = nullptr;
  std::shared_ptr<FileSystem> file_system = nullptr;  // null means PosixFileSystem()

  // Maximum bytes of decoded blocks, and of chunks of up to 64 KiB, that all snapshots of the frame
  // keep together. They are kept when they are read for the second time, so a scan does not evict
  // what is in use. 0 keeps none.
  int64_t cache_memory = 8 << 20;
  // Decodes blocks in parallel; null means the calling thread.
  std::shared_ptr<Executor> executor = nullptr;
};

// The bytes of the chunks of a frame: a number, or one of two rules.
class ChunkSize {
 public:
  // Every chunk except the last has this many bytes, which are rounded down to a multiple of
  // typesize, but not below one item. A number stands for it: `.chunksize = 4096`.
  constexpr ChunkSize(int32_t nbytes) : nbytes_(nbytes) {}  // NOLINT(google-explicit-constructor)
  // Each call of Append makes one chunk.
  static constexpr ChunkSize Variable() { return ChunkSize(Rule::kVariable); }
  // The first chunk that is inserted sets the size, or WriterOptions::chunksize at the first
  // Append.
  static constexpr ChunkSize AsFirstChunk() { return ChunkSize(Rule::kAsFirstChunk); }

  // Returns the number, or nothing for a rule.
  constexpr std::optional<int32_t> nbytes() const {
    return rule_ == Rule::kFixed ? std::optional(nbytes_) : std::nullopt;
  }
  constexpr bool operator==(const ChunkSize&) const = default;

 private:
  enum class Rule : uint8_t { kFixed, kVariable, kAsFirstChunk };
  constexpr explicit ChunkSize(Rule rule) : rule_(rule) {}

  Rule rule_ = Rule::kFixed;
  int32_t nbytes_ = 0;
};

// Options of Frame::Create, Frame::BeginCreate and Frame::CreateInMemory.
struct CreateOptions {
  CompressionOptions compression = {};
  // Bytes of a chunk, decoded.
  ChunkSize chunksize = 1 << 20;
  Layout layout = Layout::kContiguous;
  // Makes the frame an n-dimensional array of zeros, which Writer::WriteBox fills. Its items have
  // compression.typesize bytes. The chunksize, the blocksize and the metalayer `b2nd` follow from
  // the array. If chunkshape is empty, it is chosen so that chunks have at most `chunksize` bytes.
  // If blockshape is empty, compression.blocksize decides; see docs/cpp-api.md.
  std::optional<ArrayInfo> array = {};
  // Metalayers, at most kMaxMetalayers. Later, their content can change but not its size.
  std::vector<Metalayer> metalayers = {};
  // Type of the fingerprints that seal the frame. With kNone, no table of fingerprints is written.
  FingerprintType fingerprint = FingerprintType::k64Bit;
  // Replaces a file or a sparse frame of that name. Otherwise Create returns kAlreadyExists.
  bool overwrite = false;
  std::shared_ptr<FileSystem> file_system = nullptr;  // null means PosixFileSystem()
};

// Options of Frame::OpenWriter.
struct WriterOptions {
  // Compression of new chunks. The default is that of the frame header. The typesize is always that
  // of the frame.
  std::optional<CompressionOptions> compression = {};
  // The program's own codecs and filters for new chunks. Existing chunks are read with those of
  // OpenOptions::registry, which is also the default here.
  std::shared_ptr<const Registry> registry = nullptr;
  // Bytes of a chunk if the frame has no FrameInfo::chunksize yet; see
  // ChunkSize::AsFirstChunk.
  int32_t chunksize = 1 << 20;
  // Time to wait for another writer. After it, the call returns kUnavailable.
  std::chrono::milliseconds wait{0};
  // Says when the commits that the frame already holds become durable. kMachine syncs them when the
  // writer opens or resumes. kProcess leaves that to the first step that is durable itself or that
  // overwrites bytes of the file. A writer whose commits are kProcess then mostly syncs nothing
  // until Close. Until then, a power cut may take earlier kProcess commits back, as before. Sparse
  // frames ignore this option.
  Durability opening = Durability::kMachine;
  // Number of generations before the newest that are kept for Frame::History and
  // OpenOptions::generation. The space of older ones is used again as soon as no reader sees them.
  // The journal keeps its generations until the next checkpoint in any case.
  uint64_t keep_generations = 0;
  // Maximum bytes of the file, or of all files of a sparse frame together; 0 means no limit. The
  // limit belongs to this writer and is not stored in the frame.
  //
  // An edit or a commit returns kResourceExhausted if it would leave a frame that passes the limit
  // and is not smaller than before. The space of the next checkpoint counts. The remedy is that for
  // a full disk: Rollback, delete chunks, then Reclaim. If the space that this frees lies in
  // pieces, use Compact. All other calls work, also if the file is already larger.
  int64_t max_file_size = 0;
  // Lets edits leave an array whose metalayer asks for other chunks than the frame has. The program
  // then keeps the shape and the chunks in step, as C-Blosc2 does: with SetMetalayer, and with
  // edits that a frame which is an array otherwise refuses. A chunk of another size than the others
  // makes the frame one of variable chunks.
  bool free_shapes = false;
  // Creates the lock file of C-Blosc2's locking protocol, FRAME.b2lock. An existing lock file is
  // always locked while the writer exists.
  bool make_lock_file = false;

  // Maximum bytes of chunks that UpdateChunk and WriteItems keep decoded, so that changing or
  // reading them again costs only a copy. They are complete chunks of one size, each at most a
  // quarter of this. They are compressed when they pass it, in Commit, and before edits that move
  // chunks. 0 keeps none.
  int64_t staged_memory = 8 << 20;
  // Compresses blocks in parallel; null means the calling thread.
  std::shared_ptr<Executor> executor = nullptr;
};

// Says which generations Frame::History lists.
struct HistoryOptions {
  std::optional<uint64_t> before = {};  // lists only the generations before this one
  // Maximum number of generations; the newest ones are listed. The first one in the list is the
  // `before` of the next, older page.
  int64_t limit = std::numeric_limits<int64_t>::max();
};

// Options of Frame::Compact.
struct CompactOptions {
  // Time to wait for a writer. After it, the call returns kUnavailable.
  std::chrono::milliseconds wait{0};
  // Is called with the number of chunks done. Returns false to stop: Compact then returns
  // kCancelled, and nothing has changed.
  std::function<bool(int64_t)> progress = {};

  // Compresses pending items in parallel; null means the calling thread.
  std::shared_ptr<Executor> executor = nullptr;
};

// Options of Writer::Reclaim.
struct ReclaimOptions {
  // Number of generations before the newest that are kept for Frame::History. 0 keeps only what is
  // still read.
  uint64_t keep_generations = 0;
};

}  // namespace cairn

#endif  // CAIRN_OPTIONS_H_
