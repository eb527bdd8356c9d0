// One immutable state of a frame: what a Snapshot holds.
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

// A checkpoint of a frame: what all states that follow it have in common, header and trailer as
// they are stored. Immutable once a state refers to it, hence thread-safe.
struct Checkpoint {
  std::shared_ptr<const FrameContext> env;
  // Differs between checkpoints, and between files: what a state of this checkpoint found at an
  // offset, with a fingerprint, the others find there too.
  uint64_t id = 0;
  Era era = Era::kCurrent;
  FrameFile source;  // with the journal; nowhere for older eras

  // Without its metalayers, which are in Metadata. Commits change nbytes, chunksize and vlblocks:
  // those of a state are in State.
  format::FrameHeader header;
  std::vector<std::byte> header_bytes;

  Extent index;    // the stored index chunk; empty without chunks
  Extent trailer;  // or whatever holds the vlmetalayers

  std::optional<format::Seal> seal;  // the layer `cairn`, also a stale one
  bool seal_holds = false;           // it is not stale
  bool sealed = false;               // every live byte is covered
  // The seal is good but for bytes of the header that another Blosc2 may change alone.
  bool header_changed_outside = false;
  FingerprintType fingerprint = FingerprintType::kNone;
  // Damage of the trailer that leaves the chunks readable, unchecked; its values are not handed
  // out.
  absl::Status trailer_damage;

  // What only frames of older eras have: bytes that are added to those of each chunk, and chunks
  // that are bitshuffled by the rule of Blosc 1 although their version says otherwise.
  std::optional<std::vector<std::byte>> delta_reference;
  bool whole_block_bitshuffle = false;
};

// Immutable, thread-safe; states share it until an edit of a layer.
struct Metadata {
  std::vector<Metalayer> metalayers;
  std::optional<ArrayInfo> array;         // as a metalayer describes it
  std::string recipe;                     // what computes the data that the chunks do not hold
  std::vector<VlMetalayer> vlmetalayers;  // without Cairn's own
};

// The last chunk while it is being filled: its pending items. Cheap to copy. Only frames of fixed
// chunks have one.
struct PartialChunk {
  std::optional<format::IndexedChunk> head;  // no longer in the index; its first nbytes count
  SharedAppendVector<std::byte> items;       // after the head's
  int32_t padded_to = 0;                     // of an array: zeros follow, up to so many bytes

  int64_t filled() const {
    return (head.has_value() ? head->nbytes : 0) + static_cast<int64_t>(items.size());
  }
  bool empty() const { return filled() == 0; }
  bool is_padded() const { return padded_to > 0 && !empty(); }
  // As what it reads.
  int64_t nbytes() const { return empty() ? 0 : std::max<int64_t>(filled(), padded_to); }
};

// How far the journal after a checkpoint was replayed.
struct JournalPosition {
  bool base_known = true;   // false under a damaged trailer: the first commit record gives it
  uint64_t base = 0;        // identity of the checkpoint
  uint64_t last = 0;        // checksum of the last commit record, or the identity again
  uint64_t generation = 0;  // of the last commit, or of the checkpoint
  int64_t begin = 0;        // where the checkpoint ends
  int64_t end = 0;          // where the last commit ends
  int64_t durable_end = 0;  // what is known to be durable
  int64_t edits = 0;        // of all kinds, and one for each commit
  int64_t reused = 0;       // bytes of chunks that commits placed before the index, or in files
  std::optional<format::Receipt> receipt;  // that ends the journal

  bool empty() const { return end == begin; }
};

// Commits that were made, and cannot be read because one of them, or what lies before, is damaged.
struct JournalDamage {
  Extent bytes;          // where
  int64_t stranded = 0;  // how many, as far as the file shows
  // The header is what is damaged: it is older than this checkpoint, which follows it.
  std::optional<format::EndedJournal> newer = {};
};

// A sum that a file gives, of bytes that chunks take: empty where there cannot be so many, so that
// sums of such numbers fit.
constexpr std::optional<int64_t> BelievedBytes(int64_t bytes) {
  return bytes >= 0 && bytes <= INT64_MAX / 8 ? std::optional(bytes) : std::nullopt;
}

// Whether it is of a stored chunk that a Cairn wrote: chunks of others may share their bytes. Its
// position and size fit into sums.
constexpr bool HasBytesOfItsOwn(const IndexEntry& entry) {
  return BelievedBytes(entry.value).has_value() && entry.fingerprint != 0 && entry.cbytes > 0;
}

// A checkpoint, and what commits have changed since. A commit makes a new state, so copies are
// cheap: all that is large is shared. Immutable once it is handed out, and then thread-safe.
struct State {
  std::shared_ptr<const Checkpoint> checkpoint;
  std::shared_ptr<const Metadata> metadata;

  int64_t nbytes = 0;
  int32_t chunksize = format::kChunksizeUnknown;
  bool vlblocks = false;
  // What all stored chunks take, when it is known; see `BelievedBytes`.
  std::optional<int64_t> stored_bytes;
  ChunkIndex chunks;
  // Items that wait for more to fill a chunk; they read as the last chunk.
  PartialChunk partial;
  DecodedOffsets starts;  // of a frame whose chunks differ in size

  FrameView region;
  // In a contiguous frame chunks lie between the end of the header and here.
  int64_t chunks_end = 0;
  std::shared_ptr<const ChunkSource> chunk_source;

  // Of a frame that commit records may follow.
  std::optional<JournalPosition> journal;
  std::optional<JournalDamage> damage;  // of the journal, after its end
  Extent journal_skipped;               // bytes that cannot be read and that no commit needs

  // With edits that are not committed. `writers_file` keeps its lock, so that no other writer
  // overwrites them while a snapshot reads them.
  bool staged = false;
  std::shared_ptr<const File> writers_file;

  const std::shared_ptr<const FrameContext>& env() const { return checkpoint->env; }
  const format::FrameHeader& header() const { return checkpoint->header; }
  bool variable_chunks() const { return chunksize == format::kChunksizeVariable; }
  uint64_t generation() const;
  // See Checkpoint::id. 0: staged edits come and go, so nothing found there may be remembered.
  uint64_t checkpoint_id() const { return staged ? 0 : checkpoint->id; }
  // The stored index, if it is that of this state or of the checkpoint before its commits.
  Extent index() const { return staged ? Extent{} : checkpoint->index; }
  // Every live byte is covered by a fingerprint.
  bool sealed() const { return checkpoint->sealed && !staged && !damage.has_value(); }
  // kDataLoss with where and how much, if `damage`.
  absl::Status JournalStatus() const;
  const FrameInfo& info() const;

 private:
  mutable Lazy<FrameInfo> info_;
};

using StatePtr = std::shared_ptr<const State>;

// A state while it is loaded or made: `state` refers to the other two. Not thread-safe.
struct StateBuilder {
  explicit StateBuilder(std::shared_ptr<const FrameContext> env, Era era = Era::kCurrent);

  // The state begins with what the header says.
  void SetHeader(format::FrameHeader header, std::vector<std::byte> bytes);
  StatePtr Finish() &&;

  std::shared_ptr<Checkpoint> checkpoint;
  std::shared_ptr<Metadata> metadata;
  std::shared_ptr<State> state;
};

// Complete items of the state: of an array those of its shape, without padding.
int64_t CountItems(const State& state);
// Chunks of the state, the partial one included.
int64_t CountChunks(const State& state);
// kOutOfRange unless nchunk is one of them.
absl::Status CheckChunkNumber(const State& state, int64_t nchunk);
// Whether nchunk, one of them, stands for the items in `partial`.
bool IsPartialChunk(const State& state, int64_t nchunk);

// Where the newest commit ends in the file.
int64_t CommittedEnd(const State& state);

// Chunks lie in the region between the end of the header and chunks_end.
void SetContiguousSource(State& state);
// The state's file is seen up to where its newest commit ends: there end the chunks of a contiguous
// frame, too.
void SetRegion(FrameView region, State& state);

// The checkpoint's header with the totals of this state.
format::FrameHeader CurrentHeader(const State& state);

// The metalayers as they were sealed; none where no seal holds.
std::vector<Metalayer> SealedMetalayers(const Checkpoint& checkpoint);

// The names of the state's metalayers that no seal proves to be what was written: another Blosc2
// changed them in the header, or damage did.
std::vector<std::string> UnprovenMetalayers(const State& state);

// Fills in what the metalayers say of the data: array and recipe.
void DescribeData(Metadata& metadata);
// Says that the state's chunks hold no data, but the place for what its recipe computes.
absl::Status HoldsRecipe(const State& state);
// kFailedPrecondition for such a state.
inline absl::Status CheckHoldsData(const State& state) {
  if (state.metadata->recipe.empty()) [[likely]]
    return absl::OkStatus();
  return HoldsRecipe(state);
}
// Items of each chunk of an array of one dimension; 0 for any other metadata.
int64_t ItemsOfChunk(const Metadata& metadata);
// Returns true if item i lies at byte i * typesize of the decoded data: in a frame without an
// array, and in an array of one dimension that has the chunks which its shape asks for, without
// padding.
bool LiesInOrder(const State& state);
// Gives the array of one dimension that `metadata` describes this many items.
void SetLength(int64_t items, Metadata& metadata);
// That of an array of one dimension which has so many chunks, and after them a padded partial chunk
// of items of so many bytes. Any other is left as it is.
std::shared_ptr<const Metadata> MetadataWith(std::shared_ptr<const Metadata> metadata,
                                             int64_t nchunks, const PartialChunk& partial,
                                             int32_t typesize);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_STATE_H_
