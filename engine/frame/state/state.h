// One immutable state of a frame: what a Snapshot holds.
#ifndef CAIRN_ENGINE_FRAME_STATE_STATE_H_
#define CAIRN_ENGINE_FRAME_STATE_STATE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "cairn/array.h"
#include "cairn/chunk.h"
#include "cairn/frame_info.h"
#include "engine/format/frame_header.h"
#include "engine/format/journal.h"
#include "engine/format/seal.h"
#include "engine/frame/files/frame_view.h"
#include "engine/frame/index/chunk_index.h"
#include "engine/frame/index/decoded_offsets.h"
#include "engine/frame/state/chunk_source.h"
#include "engine/frame/state/frame_context.h"
#include "engine/frame/state/partial_chunk.h"

namespace cairn::frame {

// A vlmetalayer: its value is a whole chunk.
struct VlMetalayer {
  std::string name;
  Chunk chunk;
};

// Bytes [begin, end) of the frame.
struct Extent {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};

// How far the journal behind a checkpoint was followed.
struct JournalPosition {
  bool base_known = true;   // false under a damaged trailer: the first batch tells it
  uint64_t base = 0;        // identity of the checkpoint
  uint64_t last = 0;        // hash of the last batch, or the identity again
  uint64_t generation = 0;  // of the last batch, or of the checkpoint
  int64_t begin = 0;        // where the checkpoint ends
  int64_t end = 0;          // where the last batch ends
  int64_t durable_end = 0;  // what is known to be durable
  int64_t edits = 0;        // of all kinds, and one for each batch
  std::optional<format::Receipt> receipt;  // that ends the journal

  bool empty() const { return end == begin; }
};

struct State {
  std::shared_ptr<const FrameContext> env;
  Era era = Era::kCurrent;
  FrameView region;
  FrameInfo info;
  format::FrameHeader header;
  // As they stand in the file. Like the seal shared by all states of a checkpoint: each commit
  // makes a new one, which should cost little.
  std::shared_ptr<const std::vector<std::byte>> header_bytes;

  // States of the same checkpoint_id come from one checkpoint of one file: what one of them found
  // at a place, with a fingerprint, the others find there too. 0: of staged edits, which come and
  // go.
  uint64_t checkpoint_id = 0;

  ChunkIndex chunks;
  std::shared_ptr<const ChunkSource> area;
  // In a contiguous frame chunks lie between the end of the header and here.
  int64_t chunks_end = 0;
  // What all stored chunks take, when it is known.
  std::optional<int64_t> stored_bytes;
  // Items that wait for more to fill a chunk; they read as the last chunk.
  PartialChunk tail;
  DecodedOffsets starts;           // of a frame whose chunks differ in size
  std::optional<ArrayInfo> array;  // as a metalayer tells it

  // What only frames of older eras have: bytes that are added to those of each chunk, and chunks
  // that are bitshuffled by the rule of Blosc 1 although their version says otherwise.
  std::shared_ptr<const std::vector<std::byte>> delta_reference;
  bool whole_block_bitshuffle = false;

  std::vector<VlMetalayer> vlmetalayers;     // without Cairn's own
  std::shared_ptr<const format::Seal> seal;  // the layer `cairn`, also a stale one; or null
  bool seal_holds = false;                   // it is not stale
  // The seal is good but for bytes of the header that another Blosc2 may change alone.
  bool header_changed_outside = false;

  // Damage of the trailer that leaves the chunks readable, unchecked; its values are not handed
  // out.
  absl::Status trailer_damage;

  // Of a state with staged edits: the writer's file, whose lock keeps others from writing where
  // these edits are.
  std::shared_ptr<const File> writers_file;

  // Of a contiguous frame that batches may follow.
  std::optional<JournalPosition> journal;
  // Commits that were made are damaged: neither they nor those after them can be read.
  absl::Status journal_damage;
  Extent journal_gap;      // where
  Extent journal_skipped;  // bytes that cannot be read and that no commit needs

  Extent index;    // the stored index chunk; empty without chunks and in staged states
  Extent trailer;  // or whatever holds the vlmetalayers
};

// Where the newest commit ends in the file.
int64_t CommittedEnd(const State& state);

// Chunks lie in the region between the end of the header and chunks_end.
void SetContiguousSource(State& state);

// What the stored chunks of a checkpoint take, when the frame tells it.
std::optional<int64_t> StoredBytesOf(const State& state);

// The n-dimensional array of a metalayer that can be read.
std::optional<ArrayInfo> ArrayOf(const format::FrameHeader& header);

// What the parts of a state tell. Leaves out fingerprint and sealed.
FrameInfo MakeInfo(const State& state);
// The same of a state whose info tells the rest.
void RenewInfo(State& state);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_STATE_H_
