// An immutable state of a frame, which a Snapshot holds.
#ifndef CAIRN_ENGINE_FRAME_STATE_STATE_H_
#define CAIRN_ENGINE_FRAME_STATE_STATE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "cairn/array.h"
#include "cairn/frame_info.h"
#include "cairn/types.h"
#include "engine/base/extent.h"
#include "engine/base/lazy.h"
#include "engine/base/shared_append_vector.h"
#include "engine/format/frame_header.h"
#include "engine/format/index_entry.h"
#include "engine/format/journal.h"
#include "engine/format/seal.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/index/chunk_index.h"
#include "engine/frame/index/decoded_offsets.h"
#include "engine/frame/state/chunk_source.h"
#include "engine/frame/state/frame_context.h"
#include "engine/frame/state/vlmetalayers.h"

namespace cairn::frame {

// A checkpoint of a frame: the facts that all states after it share, with header and trailer as
// they are stored. Immutable once a state refers to it, hence thread-safe.
struct Checkpoint {
  std::shared_ptr<const FrameContext> env;
  // Differs between checkpoints, and between files. Bytes that a state of this checkpoint found at
  // an offset, with a fingerprint, are there for its other states too.
  uint64_t id = 0;
  Era era = Era::kCurrent;
  FrameFile source;  // with the journal; no file for older eras

  // The metalayers are in Metadata instead. Commits change nbytes, chunksize and vlblocks, whose
  // values for a state are in State.
  format::FrameHeader header;
  std::vector<std::byte> header_bytes;

  Extent index;    // the stored index chunk; empty without chunks
  Extent trailer;  // or whatever holds the vlmetalayers

  std::optional<format::Seal> seal;  // the layer `cairn`, even if it is stale
  bool seal_holds = false;           // true if it is not stale
  bool sealed = false;               // true if every live byte is covered
  // The seal is good except for bytes of the header that another Blosc2 may change alone.
  bool header_changed_outside = false;
  FingerprintType fingerprint = FingerprintType::kNone;
  // Damage of the trailer that leaves the chunks readable but unchecked. Its values are not given
  // out.
  absl::Status trailer_damage;

  // Only frames of older eras have these: bytes that are added to those of each chunk, and chunks
  // that are bitshuffled by the rule of Blosc 1 although their version says otherwise.
  std::optional<std::vector<std::byte>> delta_reference;
  bool whole_block_bitshuffle = false;
};

// Immutable, thread-safe. States share it until an edit of a layer.
struct Metadata {
  std::vector<Metalayer> metalayers;
  std::optional<ArrayInfo> array;  // from a metalayer
  std::string recipe;              // names what computes the data that the chunks do not hold
  std::vector<VlMetalayer> vlmetalayers;  // all except Cairn's own
};

// The last chunk while it is being filled, with its pending items. Cheap to copy. Only frames of
// fixed chunks have one.
struct PartialChunk {
  std::optional<format::IndexedChunk> head;  // no longer in the index; its first nbytes count
  SharedAppendVector<std::byte> items;       // items after those of the head
  int32_t padded_to = 0;                     // zeros of an array follow, up to this many bytes

  int64_t filled() const {
    return (head.has_value() ? head->nbytes : 0) + static_cast<int64_t>(items.size());
  }
  bool empty() const { return filled() == 0; }
  bool is_padded() const { return padded_to > 0 && !empty(); }
  // Returns the bytes that reads show.
  int64_t nbytes() const { return empty() ? 0 : std::max<int64_t>(filled(), padded_to); }
};

// The part of the journal after a checkpoint that was replayed.
struct JournalPosition {
  // false under a damaged trailer, until the first commit record gives the base
  bool base_known = true;
  uint64_t base = 0;        // identity of the checkpoint
  uint64_t last = 0;        // checksum of the last commit record, or the identity again
  uint64_t generation = 0;  // of the last commit, or of the checkpoint
  int64_t begin = 0;        // end of the checkpoint
  int64_t end = 0;          // end of the last commit
  int64_t durable_end = 0;  // end of the bytes that are known to be durable
  int64_t edits = 0;        // edits of all kinds, and one for each commit
  int64_t reused = 0;       // bytes of chunks that commits placed before the index, or in files
  std::optional<format::Receipt> receipt;  // the receipt that ends the journal

  bool empty() const { return end == begin; }
};

// Commits that were made but cannot be read, because one of them, or something before them, is
// damaged.
struct JournalDamage {
  Extent bytes;          // the damaged bytes
  int64_t stranded = 0;  // number of unreadable commits, as far as the file shows
  // The header is damaged: it is older than this checkpoint, which follows it.
  std::optional<format::EndedJournal> newer = {};
};

// Returns a number of bytes that a file claims for its chunks, or nothing if there cannot be that
// many, so that sums of such numbers fit.
constexpr std::optional<int64_t> BelievedBytes(int64_t bytes) {
  return bytes >= 0 && bytes <= INT64_MAX / 8 ? std::optional(bytes) : std::nullopt;
}

// Returns true for the entry of a stored chunk that a Cairn wrote. Chunks of other libraries may
// share their bytes. Its position and size fit into sums.
constexpr bool HasBytesOfItsOwn(const IndexEntry& entry) {
  return BelievedBytes(entry.value).has_value() && entry.fingerprint != 0 && entry.cbytes > 0;
}

// A checkpoint, and the changes of the commits since then. A commit makes a new state, so copies
// are cheap: all large parts are shared. Immutable once it is handed out, and then thread-safe.
struct State {
  std::shared_ptr<const Checkpoint> checkpoint;
  std::shared_ptr<const Metadata> metadata;

  int64_t nbytes = 0;
  int32_t chunksize = format::kChunksizeUnknown;
  bool vlblocks = false;
  // The bytes that all stored chunks take, if that is known; see `BelievedBytes`.
  std::optional<int64_t> stored_bytes;
  ChunkIndex chunks;
  // Items that wait for more to fill a chunk. They read as the last chunk.
  PartialChunk partial;
  DecodedOffsets starts;  // for a frame whose chunks differ in size

  FrameView region;
  // In a contiguous frame chunks lie between the end of the header and here.
  int64_t chunks_end = 0;
  std::shared_ptr<const ChunkSource> chunk_source;

  // Set if commit records may follow the frame.
  std::optional<JournalPosition> journal;
  std::optional<JournalDamage> damage;  // damage of the journal, after its end
  Extent journal_skipped;               // bytes that cannot be read and that no commit needs

  // True if there are edits that are not committed. `writers_file` keeps its lock, so that no other
  // writer overwrites them while a snapshot reads them.
  bool staged = false;
  std::shared_ptr<const File> writers_file;

  const std::shared_ptr<const FrameContext>& env() const { return checkpoint->env; }
  const format::FrameHeader& header() const { return checkpoint->header; }
  bool variable_chunks() const { return chunksize == format::kChunksizeVariable; }
  uint64_t generation() const;
  // See Checkpoint::id. Returns 0 with staged edits, because these change, so nothing found there
  // may be remembered.
  uint64_t checkpoint_id() const { return staged ? 0 : checkpoint->id; }
  // Returns the stored index, if it belongs to this state or to the checkpoint before its commits.
  Extent index() const { return staged ? Extent{} : checkpoint->index; }
  // Returns true if a fingerprint covers every live byte.
  bool sealed() const { return checkpoint->sealed && !staged && !damage.has_value(); }
  // Returns kDataLoss with the place and the extent if there is `damage`.
  absl::Status JournalStatus() const;
  const FrameInfo& info() const;

 private:
  mutable Lazy<FrameInfo> info_;
};

using StatePtr = std::shared_ptr<const State>;

// A state while it is loaded or made. `state` refers to the other two. Not thread-safe.
struct StateBuilder {
  explicit StateBuilder(std::shared_ptr<const FrameContext> env, Era era = Era::kCurrent);

  // Makes the state begin with the facts of the header.
  void SetHeader(format::FrameHeader header, std::vector<std::byte> bytes);
  StatePtr Finish() &&;

  std::shared_ptr<Checkpoint> checkpoint;
  std::shared_ptr<Metadata> metadata;
  std::shared_ptr<State> state;
};

// Returns the complete items of the state: for an array those of its shape, without padding.
int64_t CountItems(const State& state);
// Returns the chunks of the state, the partial one included.
int64_t CountChunks(const State& state);
// Errors: kOutOfRange if the state has no chunk `nchunk`.
absl::Status CheckChunkNumber(const State& state, int64_t nchunk);
// Returns true if nchunk, one of the state's chunks, stands for the items in `partial`.
bool IsPartialChunk(const State& state, int64_t nchunk);

// Returns where the newest commit ends in the file.
int64_t CommittedEnd(const State& state);

// Makes the state read its chunks from the region between the end of the header and chunks_end.
void SetContiguousSource(State& state);
// Makes the state see its file up to the end of its newest commit. The chunks of a contiguous frame
// end there, too.
void SetRegion(FrameView region, State& state);

// Returns the checkpoint's header with the totals of this state.
format::FrameHeader CurrentHeader(const State& state);

// Returns the metalayers as they were sealed, or none if no seal holds.
std::vector<Metalayer> SealedMetalayers(const Checkpoint& checkpoint);

// Returns the names of the state's metalayers that no seal proves to be unchanged: another Blosc2
// changed them in the header, or damage did.
std::vector<std::string> UnprovenMetalayers(const State& state);

// Fills in what the metalayers tell about the data: array and recipe.
void DescribeData(Metadata& metadata);
// Returns an error: the state's chunks hold no data, but only the place for what its recipe
// computes.
absl::Status HoldsRecipe(const State& state);
// Errors: kFailedPrecondition for a state with a recipe.
inline absl::Status CheckHoldsData(const State& state) {
  if (state.metadata->recipe.empty()) [[likely]]
    return absl::OkStatus();
  return HoldsRecipe(state);
}
// Returns the items of each chunk of an array of one dimension, or 0 for any other metadata.
int64_t ItemsOfChunk(const Metadata& metadata);
// Returns true if item i lies at byte i * typesize of the decoded data. This is so in a frame
// without an array, and in an array of one dimension that has the chunks which its shape asks for,
// without padding.
bool LiesInOrder(const State& state);
// Gives the array of one dimension that `metadata` describes this many items.
void SetLength(int64_t items, Metadata& metadata);
// Returns the metadata of an array of one dimension that has this many chunks, and after them a
// padded partial chunk of items of `typesize` bytes. Any other metadata is returned unchanged.
std::shared_ptr<const Metadata> MetadataWith(std::shared_ptr<const Metadata> metadata,
                                             int64_t nchunks, const PartialChunk& partial,
                                             int32_t typesize);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_STATE_H_
