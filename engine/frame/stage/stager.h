// Turns edits into chunks in the files and entries of a staged state. No reader sees them
// before a commit.
#ifndef CAIRN_ENGINE_FRAME_STAGE_STAGER_H_
#define CAIRN_ENGINE_FRAME_STAGE_STAGER_H_

#include <cstdint>
#include <memory>
#include <span>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "engine/format/journal.h"
#include "engine/frame/stage/chunk_sink.h"
#include "engine/frame/stage/dirty_chunks.h"
#include "engine/frame/stage/pending_items.h"
#include "engine/frame/stage/staged_edits.h"

namespace cairn::frame {

// Options for new chunks.
struct StagerOptions {
  CompressionOptions compression;  // with the typesize of the frame
  int32_t chunksize = 0;           // bytes, used if the frame does not say
  int64_t staged_memory = 0;       // for chunks that are updated; see WriterOptions
  bool free_shapes = false;        // see WriterOptions
};

// Appends, inserts, updates and deletes chunks, as Writer does, and says what a commit must record.
// Other classes make other edits of the same stager: ItemWriter, SpecialAppender,
// ArrayEditor, MetadataEdits, IncrementApplier and EditRebaser. Not thread-safe.
//
// An edit that is refused for its arguments, or because a chunk to be changed cannot be read,
// changes nothing. Any other failure leaves the edits half made and is remembered in failure().
class Stager {
 public:
  Stager(StatePtr base, ChunkSink& sink, const StagerOptions& options);

  // Makes the first edit of a frame that does not exist yet, which creates it. Called first.
  void BeginFrame();

  absl::Status Append(Bytes items);
  absl::Status AppendCompressed(Bytes chunk);
  absl::Status InsertChunk(int64_t nchunk, Bytes items);
  absl::Status InsertCompressed(int64_t nchunk, Bytes chunk);
  absl::Status UpdateChunk(int64_t nchunk, Bytes items);
  absl::Status UpdateCompressed(int64_t nchunk, Bytes chunk);
  absl::Status DeleteChunks(int64_t first, int64_t count);
  absl::Status ReorderChunks(std::span<const int64_t> order);
  // Gives a chunk the entry `moved`, to whose place its bytes were already copied. After the commit
  // the old bytes are dying.
  absl::Status MoveChunk(int64_t nchunk, const IndexEntry& moved);
  // Reads a chunk as it is staged.
  absl::Status ReadChunk(int64_t nchunk, MutableBytes dst);

  // Compresses the dirty chunks. Must be called before the staged edits are read.
  absl::Status EncodeDirty() { return dirty_.Encode(); }
  // Makes a chunk of the pending items and brings everything to the files.
  absl::Status Finish();
  // Returns what the journal says of the edits. Valid until the next edit.
  format::CommitRecordParts MakeCommit(const format::CommitLinks& links) const;
  // Returns the base with the edits, except where its bytes lie.
  std::shared_ptr<State> MakeState() const { return edits_.MakeState(); }
  // Continues from `committed`, which is the base with all edits.
  void SetBase(StatePtr committed) { edits_.SetBase(std::move(committed)); }
  // Returns the base with the edits on top, for reading.
  absl::StatusOr<StatePtr> View();

  const StatePtr& base() const { return edits_.base(); }
  const StagedState& staged() const { return edits_.staged(); }
  const absl::Status& failure() const { return edits_.failure(); }
  // For the classes that make other edits.
  StagedEdits& edits() { return edits_; }
  DirtyChunks& dirty() { return dirty_; }
  PendingItems& pending() { return pending_; }

 private:
  // Makes the chunk of an edit, after all checks have passed.
  using Make = absl::FunctionRef<absl::StatusOr<format::IndexedChunk>()>;
  absl::Status CheckInsert(int64_t nchunk, int64_t nbytes) const;
  absl::Status CheckUpdate(int64_t nchunk, int64_t nbytes) const;
  // Lets chunks have any size from now on.
  absl::Status FreeChunkSizes();
  // Decides what the chunk of a caller becomes. Lets chunks have any size if this one is refused
  // otherwise, as `has_size` says.
  absl::StatusOr<ImportedChunk> Import(Bytes chunk, const chunk::Header& header,
                                       const absl::Status& has_size);
  absl::Status InsertMade(int64_t nchunk, int64_t nbytes, bool vlblocks, Make make);
  absl::Status UpdateMade(int64_t nchunk, int64_t nbytes, Make make);

  StagedEdits edits_;
  StagedState& staged_;  // of edits_
  DirtyChunks dirty_;
  PendingItems pending_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_STAGER_H_
