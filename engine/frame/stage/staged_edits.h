// Holds the edits of a writer since a committed state, and the steps that all kinds of edits share.
#ifndef CAIRN_ENGINE_FRAME_STAGE_STAGED_EDITS_H_
#define CAIRN_ENGINE_FRAME_STAGE_STAGED_EDITS_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "engine/chunk/header.h"
#include "engine/format/index_entry.h"
#include "engine/frame/stage/chunk_sink.h"
#include "engine/frame/stage/chunk_writer.h"
#include "engine/frame/stage/staged_state.h"

namespace cairn::frame {

// Keeps three things in step: the staged state, the chunks in the sink, and the first failure. The
// classes that edit a frame work on one of these, which a Stager owns. Not thread-safe.
class StagedEdits {
 public:
  // `base` is the committed state that the edits begin with. `compression` is for new chunks, and
  // `chunksize` for a frame that does not say how large its chunks are. With `free_shapes`, no
  // frame counts as an array.
  StagedEdits(StatePtr base, ChunkSink& sink, const CompressionOptions& compression,
              int32_t chunksize, bool free_shapes);

  const StatePtr& base() const { return base_; }
  const StagedState& staged() const { return staged_; }
  StagedState& staged() { return staged_; }
  ChunkSink& sink() { return sink_; }
  ChunkWriter& chunk_writer() { return chunk_writer_; }
  int32_t chunksize() const { return chunksize_; }
  // Returns true if chunks and metalayer make an n-dimensional array.
  bool is_array() const { return is_array_; }
  void set_is_array(bool is_array) { is_array_ = is_array; }
  bool free_shapes() const { return free_shapes_; }

  // Keeps the first failure that leaves edits half made, and returns its argument.
  absl::Status Remember(absl::Status status);
  absl::StatusOr<format::IndexedChunk> Remember(absl::StatusOr<format::IndexedChunk> made);
  const absl::Status& failure() const { return failure_; }

  // Refuses items for a frame of variable blocks.
  absl::Status CheckTakesItems() const;
  // Refuses edits that change which chunks an array has, or their order.
  absl::Status CheckMayRecut(std::string_view edit) const;
  // Refuses `nbytes` more if the frame would get too large.
  absl::Status CheckCapacity(int64_t nbytes) const;

  // Finds out how many bytes staged chunks take.
  absl::StatusOr<ChunkCost> CostOf(int64_t nchunk);
  absl::StatusOr<ChunkCost> CostOf(int64_t first, int64_t count);

  // Puts a chunk that was just made into its place. A failure to make it is remembered.
  absl::Status Insert(int64_t nchunk, absl::StatusOr<format::IndexedChunk> made);
  absl::Status Append(absl::StatusOr<format::IndexedChunk> made);
  // Replaces a chunk. If the old chunk was made by the same edits, its space becomes free again.
  void Replace(int64_t nchunk, const ChunkCost& old, const format::IndexedChunk& chunk);

  // Lets chunks have any size from now on. There are no pending items and no dirty chunks. Special
  // values become stored chunks, because the index does not say how large a chunk is.
  absl::Status FreeChunkSizes();

  // Sets the chunksize of a frame that has no chunks.
  void SetChunksize(int32_t chunksize);

  // Returns the base with the edits, except where its bytes lie.
  std::shared_ptr<State> MakeState() const;
  // Returns the base with the edits for reading. Errors are not remembered.
  absl::StatusOr<StatePtr> StoredView();
  // Returns a state that has this chunk as the sink has it. That is the base, if the chunk has not
  // changed.
  absl::StatusOr<StatePtr> StateWith(int64_t nchunk);

  // Continues from `committed`, which is the base with all edits.
  void SetBase(StatePtr committed);
  // Drops all edits and begins with `base`. Returns the edits.
  StagedState RestartOn(StatePtr base);

 private:
  absl::Status StoreSpecials();
  absl::StatusOr<chunk::Header> HeaderOf(const IndexEntry& entry);

  StatePtr base_;
  ChunkSink& sink_;
  const int32_t chunksize_;
  const bool free_shapes_;
  StagedState staged_;
  ChunkWriter chunk_writer_;
  absl::Status failure_;
  bool is_array_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_STAGED_EDITS_H_
