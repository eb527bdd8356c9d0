// Holds the state of a frame that a writer is making: the committed state with the edits on top.
#ifndef CAIRN_ENGINE_FRAME_STAGE_STAGED_STATE_H_
#define CAIRN_ENGINE_FRAME_STAGE_STAGED_STATE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"

#include "engine/base/check.h"
#include "engine/base/checked.h"
#include "engine/format/frame_header.h"
#include "engine/format/journal.h"
#include "engine/frame/index/chunk_index.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// The bytes that chunks take.
struct ChunkCost {
  int64_t nbytes = 0;                 // decoded
  std::optional<int64_t> stored = 0;  // in the files; empty if damage hides it
};

// Lies in memory alone: making or destroying one costs no I/O.
struct StagedState {
  explicit StagedState(const State& base)
      : header(CurrentHeader(base)),
        header_bytes(base.checkpoint, &base.checkpoint->header_bytes),
        metadata(base.metadata),
        chunks(base.chunks),
        partial(base.partial),
        stored_bytes(base.stored_bytes) {
    header.nbytes -= partial.nbytes();
  }

  // Its nbytes counts `chunks` and not the pending items; frame_size and cbytes are those of the
  // checkpoint. Its metalayers are in `metadata`.
  format::FrameHeader header;
  std::shared_ptr<const std::vector<std::byte>> header_bytes;  // as the checkpoint left them
  std::shared_ptr<const Metadata> metadata;
  ChunkIndex chunks;
  // Items that do not fill a chunk yet. Only in frames of fixed chunks.
  PartialChunk partial;
  // Bytes of the stored chunks; empty if the base did not know.
  std::optional<int64_t> stored_bytes;

  // The record that the journal will have of the edits since the base.
  bool edited = false;
  format::EncodedEdits chunk_edits;
  std::vector<format::LayerEdit> layer_edits;
  bool partial_replaced = false;  // the partial chunk is not the base's with more items after
  // True if the edits are right only on the chunks of the base, as those that resize an array are.
  bool needs_same_chunks = false;
  // True if the edits are right only on the content of the base, as those of an increment are.
  bool needs_same_content = false;
  // Stored chunks that the edits removed, as far as their bytes are known to be theirs alone.
  std::vector<IndexEntry> removed;

  int64_t nbytes() const { return header.nbytes + partial.nbytes(); }
  // Pending items count as the last chunk.
  int64_t nchunks() const { return chunks.size() + (partial.empty() ? 0 : 1); }
  bool fixed_chunks() const { return !header.variable_chunks(); }
  // Returns the bytes of a chunk of a frame of fixed chunks.
  int64_t NbytesOf(int64_t nchunk) const {
    const int64_t chunksize = header.chunksize;
    return std::min(chunksize, nbytes() - nchunk * chunksize);
  }
  // Checks that chunks and bytes agree, as they do between two edits.
  void CheckCounts() const {
    CAIRN_DCHECK(partial.empty() || fixed_chunks());
    if (!fixed_chunks()) return;
    if (header.chunksize == format::kChunksizeUnknown) {
      CAIRN_DCHECK(nbytes() == 0 && nchunks() == 0);
      return;
    }
    CAIRN_DCHECK(header.nbytes >= 0 && partial.nbytes() <= header.chunksize);
    // Only the last chunk may be shorter than the others.
    CAIRN_DCHECK(CeilDiv<int64_t>(header.nbytes, header.chunksize) == chunks.size());
  }

  void Insert(int64_t nchunk, const format::IndexedChunk& chunk);
  void Replace(int64_t nchunk, const ChunkCost& old, const format::IndexedChunk& chunk);
  // Returns true if these edits have replaced the chunk, and nothing has moved since.
  bool HasReplaced(int64_t nchunk) const { return replaced_.contains(nchunk); }
  // Replaces such a chunk again. The record of the edits will not name the chunk before.
  void ReplaceAgain(int64_t nchunk, const ChunkCost& old, const format::IndexedChunk& chunk);
  void Erase(int64_t first, int64_t count, const ChunkCost& old);
  // Puts the first chunks into this order; the others stay where they are.
  absl::Status ReorderChunks(std::span<const int64_t> order);
  // Sets the chunksize of a frame that has none yet.
  void FixChunksize(int32_t chunksize) {
    if (header.chunksize == format::kChunksizeUnknown) header.chunksize = chunksize;
  }

  // Takes the last chunk out of the index, because more items will follow its first `used` bytes.
  absl::Status ReopenLast(const ChunkCost& cost, int64_t used);
  // Makes this state the new base, after a commit of the edits.
  void Settle();
  // Remembers an edit that was made to the metadata.
  void Record(format::LayerEdit edit);

  // Adds items to the partial chunk. If it has none yet, `padded_to` is the size of its chunk with
  // padding.
  void AppendPending(Bytes items, int32_t padded_to);
  // Removes the partial chunk. If a stored chunk was its head, that chunk is removed too.
  void DropPartialChunk();

 private:
  // The places in chunk_edits where the edits of replaced chunks begin, by number. All chunks have
  // the numbers that they had then.
  absl::flat_hash_map<int64_t, size_t> replaced_;

  void Count(const ChunkCost& cost, int64_t sign);
  void NoteRemoved(int64_t first, int64_t count);
  void NoteRemoved(const IndexEntry& entry);
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_STAGED_STATE_H_
