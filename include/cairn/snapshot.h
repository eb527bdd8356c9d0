// One immutable committed state of a frame.
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

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/array.h"
#include "cairn/chunk.h"
#include "cairn/types.h"

namespace cairn {

namespace frame {
struct State;
}

// What a frame's header, index and trailer say of it.
struct FrameInfo {
  Layout layout = Layout::kContiguous;
  Era era = Era::kCurrent;
  int format_version = 0;  // of the frame format: 2, or 3 with variable chunks or vlblocks
  int64_t nchunks = 0;
  int64_t nitems = 0;      // whole ones: nbytes / typesize
  int64_t nbytes = 0;      // decoded
  int64_t cbytes = 0;      // stored chunks, dead bytes left out when the frame tells them
  int64_t frame_size = 0;  // header to trailer
  // Bytes of commits behind the trailer that no checkpoint has folded in: only Cairn sees them.
  int64_t journal_size = 0;
  int64_t header_len = 0;
  // Bytes that the header counts among the chunks and that hold no live one; -1: unknown.
  int64_t dead_bytes = 0;
  int32_t typesize = 1;
  int32_t chunksize = 0;  // 0: chunks differ in size; -1: never held a chunk
  int32_t blocksize = 0;  // as asked for; 0: chosen for each chunk
  // Defaults for new chunks; each chunk tells its own.
  Codec codec = Codec::kBloscLz;
  uint8_t codec_meta = 0;
  int clevel = 0;
  SplitMode split_mode = SplitMode::kForwardCompat;
  bool use_dict = false;
  bool vlblocks = false;
  std::vector<FilterStage> filters;  // in the order of application
  FingerprintType fingerprint = FingerprintType::kNone;
  bool sealed = false;  // every live byte is covered by a fingerprint
  // Chunks are read unchecked, vlmetalayers not at all, and the frame is read-only.
  bool trailer_damaged = false;
  // Commits behind this state cannot be read, and the frame is read-only.
  bool journal_damaged = false;
  // How many commits these are, as far as the file tells.
  int64_t stranded_commits = 0;
  // Grows with each commit and checkpoint by Cairn; 0 where Cairn never wrote. A checkpoint without
  // a seal cannot keep it: behind one it begins anew.
  uint64_t generation = 0;
};

// One entry of the index.
struct ChunkEntry {
  int64_t index = 0;
  int64_t offset = -1;  // of the chunk, from the start of the frame; -1 when it does not lie there
  int64_t file = -1;    // number of the chunk's file in a sparse frame; -1 when it has none
  SpecialValue special = SpecialValue::kNone;  // as the index says it
  std::optional<uint64_t> fingerprint = {};    // XXH3-64 of the stored bytes
};

enum class VerifyDepth {
  kStructure,     // header, trailer, index and the header of each chunk
  kFingerprints,  // and every stored byte against its fingerprint
  kContents,      // and every chunk and vlmetalayer decodes
};

// Damage, or what could not be checked within the limits: bytes [begin, end) of the frame, or of
// the chunk's own file in a sparse frame, and what is wrong with them.
struct Finding {
  int64_t begin = 0;
  int64_t end = 0;
  // "header", "index", "chunk 17", "trailer", "vlmetalayer x"; "metalayer b2nd": it asks for other
  // chunks than there are
  std::string section;
  std::string reason;
};

struct VerifyReport {
  int64_t nchunks = 0;  // looked at
  int64_t bytes_read = 0;
  bool sealed = false;
  std::vector<Finding> findings;   // damage, the first thousand; empty when all is well
  int64_t omitted = 0;             // damage behind them, only counted
  std::vector<std::string> notes;  // not damage: "not sealed: changed by another Blosc2 after …"
  bool ok() const { return findings.empty(); }
};

// Cheap to copy, thread-safe, and valid whatever happens to the frame meanwhile: it keeps the map
// or the file that it reads from. Every read gives the data or a status: kDataLoss for damage
// (other chunks stay readable), kOutOfRange, kUnimplemented, kResourceExhausted.
class CAIRN_EXPORT Snapshot {
 public:
  const FrameInfo& info() const;
  const std::vector<Metalayer>& metalayers() const;
  // Names in the order of the trailer; Cairn's own two layers are left out.
  std::vector<std::string> vlmetalayers() const;

  // kNotFound when there is none of that name.
  absl::StatusOr<std::vector<std::byte>> GetMetalayer(std::string_view name) const;
  absl::StatusOr<std::vector<std::byte>> GetVlmetalayer(std::string_view name) const;

  // Where a chunk lies; does not touch it.
  absl::StatusOr<ChunkEntry> GetEntry(int64_t nchunk) const;
  // The compressed chunk, in place when the frame is mapped. Special chunks of the index are made.
  absl::StatusOr<Chunk> GetChunk(int64_t nchunk) const;
  // Decoded size of one chunk, bytes: within Limits::max_chunk_nbytes, so a buffer of that size is
  // no more than the caller allowed.
  absl::StatusOr<int32_t> ChunkNbytes(int64_t nchunk) const;
  // Decodes one chunk; dst must have its ChunkNbytes.
  absl::Status ReadChunk(int64_t nchunk, MutableBytes dst) const;

  // The n-dimensional array that the frame holds, when its metalayer `b2nd` (or `caterva`) says so.
  const std::optional<ArrayInfo>& array() const;
  // Reads a box of the array, its items in C order, into dst (product of `shape` * typesize bytes);
  // decodes only the blocks that it touches. kFailedPrecondition when there is no array,
  // kInvalidArgument for another number of dimensions or another size of dst, kOutOfRange.
  absl::Status ReadBox(std::span<const int64_t> start, std::span<const int64_t> shape,
                       MutableBytes dst) const;

  // Reads the items from number `start` on that fill dst, whose size must be a multiple of
  // typesize; across chunk borders, decoding only the blocks that hold them.
  absl::Status ReadItems(int64_t start, MutableBytes dst) const;
  template <typename T>
  absl::Status ReadItems(int64_t start, std::span<T> dst) const {
    return ReadItems(start, std::as_writable_bytes(dst));
  }
  // Gathers single items, in any order and with repeats, into dst (items.size() * typesize bytes).
  absl::Status ReadItemsAt(std::span<const int64_t> items, MutableBytes dst) const;
  // Bytes [begin, begin + dst.size()) of the decoded data, whatever the typesize.
  absl::Status ReadBytes(int64_t begin, MutableBytes dst) const;

  // Checks the frame and goes on past damage. An error means that the check could not be made;
  // `progress`, when given, is called with the chunks done and returns false to stop: kCancelled.
  absl::StatusOr<VerifyReport> Verify(
      VerifyDepth depth = VerifyDepth::kContents,
      absl::FunctionRef<bool(int64_t)> progress = [](int64_t) { return true; }) const;

  // For the engine: states come from Frame and Writer.
  explicit Snapshot(std::shared_ptr<const frame::State> state) : state_(std::move(state)) {}
  const frame::State& state() const { return *state_; }

 private:
  std::shared_ptr<const frame::State> state_;
};

}  // namespace cairn

#endif  // CAIRN_SNAPSHOT_H_
