// Turns edits into chunks in the files and entries of a staged state. No reader sees them
// before a commit.
#ifndef CAIRN_ENGINE_FRAME_STAGE_STAGER_H_
#define CAIRN_ENGINE_FRAME_STAGE_STAGER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "engine/chunk/header.h"
#include "engine/format/increment.h"
#include "engine/frame/array/array_geometry.h"
#include "engine/frame/stage/chunk_sink.h"
#include "engine/frame/stage/chunk_writer.h"
#include "engine/frame/stage/dirty_chunks.h"
#include "engine/frame/stage/staged_state.h"

namespace cairn::frame {

// What new chunks are made with.
struct StagerOptions {
  CompressionOptions compression;  // its typesize is the frame's
  int32_t chunksize = 0;           // where the frame does not say
  int64_t staged_memory = 0;       // for chunks that are updated; see WriterOptions
};

// What the commits of other writers have changed since some state, one after the other; nothing
// where that is not known any more.
using OtherCommits = std::optional<std::vector<format::CommitRecord>>;

// Not thread-safe. What is refused for its arguments, or because a chunk to be changed cannot be
// read, changes nothing; any other failure leaves the edits half made and is remembered in
// failure(). The edits are those of Writer.
class Stager {
 public:
  Stager(StatePtr base, ChunkSink& sink, StagerOptions options);
  // Called first for a frame that does not exist yet: that it is there is the first edit. It begins
  // as an array of zeros, or as none, whatever a metalayer says.
  absl::Status BeginFrame(bool is_array);

  // In stager.cc: what comes after the last chunk.
  absl::Status Append(Bytes items);
  absl::Status AppendCompressed(Bytes chunk);
  absl::Status AppendSpecial(SpecialValue special, int64_t nitems, Bytes value);

  // In stager_edits.cc: what changes existing chunks.
  absl::Status InsertChunk(int64_t nchunk, Bytes items);
  absl::Status InsertCompressed(int64_t nchunk, Bytes chunk);
  absl::Status UpdateCompressed(int64_t nchunk, Bytes chunk);
  absl::Status DeleteChunks(int64_t first, int64_t count);
  absl::Status ReorderChunks(std::span<const int64_t> order);
  // The bytes of a chunk that is stored also lie where `moved` says.
  absl::Status MoveChunk(int64_t nchunk, const IndexEntry& moved);

  // In stager_updates.cc: complete chunks of one size are kept in memory, as they are updated.
  absl::Status UpdateChunk(int64_t nchunk, Bytes items);
  absl::Status WriteItems(int64_t start, Bytes items);
  // As it is staged.
  absl::Status ReadChunk(int64_t nchunk, MutableBytes dst);
  // Codes what is kept. To be called before anything else is asked of the staged edits.
  absl::Status EncodeDirty();

  // In array_editor.cc: what knows of n-dimensional arrays. A frame that is one stays one.
  absl::Status WriteBox(std::span<const int64_t> start, std::span<const int64_t> shape,
                        Bytes items);
  absl::Status ResizeArray(std::span<const int64_t> shape);
  absl::Status AppendSlices(int axis, Bytes items);
  absl::Status DeleteSlices(int axis, int64_t start, int64_t count);

  // In metadata_edits.cc.
  absl::Status SetMetalayer(std::string_view name, Bytes content);
  absl::Status SetVlmetalayer(std::string_view name, Bytes content);
  absl::Status DeleteVlmetalayer(std::string_view name);

  // In increment_applier.cc: makes of the state that `increment` applies to the one that it leads
  // to, both compared by content. kFailedPrecondition, where it applies to another one; any failure
  // leaves edits half made. Does nothing where that state is already there.
  absl::Status ApplyIncrement(const State& increment);

  // Makes a chunk of the pending items and brings everything to the files.
  absl::Status Finish();
  // What the journal says of the edits. Valid until the next edit.
  format::CommitRecordParts MakeCommit(const format::CommitLinks& links) const;
  // The base with the edits, but for where its bytes lie.
  std::shared_ptr<State> MakeState() const;
  // Goes on from `committed`, which is the base with all edits.
  void SetBase(StatePtr committed);
  // In edit_rebaser.cc: makes the edits on `newest` instead, which other commits have made of the
  // base. Appended items follow theirs. kAborted, and nothing has changed, when both have changed
  // the same chunk or layer, or one has moved chunks that the other has changed.
  absl::Status RebaseOnto(StatePtr newest, const OtherCommits& between);
  // The base with the edits on top, for reading.
  absl::StatusOr<StatePtr> View();

  const StatePtr& base() const { return base_; }
  const StagedState& staged() const { return staged_; }
  const absl::Status& failure() const { return failure_; }

 private:
  absl::Status Remember(absl::Status status);
  absl::StatusOr<format::IndexedChunk> Remembered(absl::StatusOr<format::IndexedChunk> made);
  absl::Status CheckCapacity(int64_t nbytes) const;
  absl::Status CheckTakesItems() const;
  absl::Status CheckChunk(const chunk::Header& header) const;
  void FixChunksize(int32_t chunksize);

  absl::Status ReopenShortChunk(int64_t used);
  absl::Status LoadHead();
  absl::StatusOr<std::vector<std::byte>> ReadWhole(int64_t nchunk);
  absl::Status ClosePartialChunk();
  absl::Status StageFixed(Bytes items);
  absl::Status StageInChunks(Bytes items, int64_t capacity, int32_t padded_to);
  int64_t TakeShortRun(SpecialValue special);
  absl::Status StageSpecial(SpecialValue special, int64_t nbytes, Bytes value);
  absl::Status StageSpecialItems(SpecialValue special, int64_t nbytes, Bytes value);
  absl::Status StageInsert(int64_t nchunk, absl::StatusOr<format::IndexedChunk> made);
  absl::Status AddLast(absl::StatusOr<format::IndexedChunk> made);

  int64_t NbytesOf(int64_t nchunk) const;
  absl::Status CheckInsert(int64_t nchunk, int64_t nbytes) const;
  absl::Status CheckUpdate(int64_t nchunk, int64_t nbytes) const;
  // How an edit's chunk is made once nothing stands against it.
  using Make = absl::FunctionRef<absl::StatusOr<format::IndexedChunk>()>;
  absl::Status InsertMade(int64_t nchunk, int64_t nbytes, bool vlblocks, Make make);
  absl::Status UpdateMade(int64_t nchunk, int64_t nbytes, Make make);
  absl::StatusOr<chunk::Header> HeaderOf(const IndexEntry& entry);
  absl::StatusOr<ChunkCost> CostOf(int64_t nchunk);
  absl::StatusOr<ChunkCost> CostOf(int64_t first, int64_t count);
  // Of an edit that leaves so many chunks, with bytes less and more.
  absl::Status CheckSum(int64_t nchunks, const ChunkCost& less, int64_t more) const;

  // One staged chunk, coded again.
  struct Update {
    int64_t nchunk = 0;
    ChunkCost old;
    format::IndexedChunk chunk;
  };
  absl::StatusOr<int64_t> OverwriteAt(const State& state, int64_t begin, Bytes items,
                                      std::vector<Update>& updates);
  bool MayKeep(int64_t nchunk) const;
  absl::Status MakeRoom(int64_t first, int64_t last);
  MutableBytes Keep(int64_t nchunk);
  absl::Status UpdateKept(int64_t begin, Bytes items);
  void RenewCached(int64_t nchunk, const IndexEntry& entry) const;
  void Replace(int64_t nchunk, const ChunkCost& old, const format::IndexedChunk& chunk);
  absl::StatusOr<StatePtr> StateWith(int64_t nchunk);
  // View without the chunks that are kept in memory. Errors are not remembered.
  absl::StatusOr<StatePtr> StoredView();
  absl::Status Recode(int64_t nchunk, const ChunkCost& old, Bytes content,
                      std::vector<Update>& updates);
  void Apply(const std::vector<Update>& updates);

  absl::Status MakeResult(const State& view, const State& from, const format::Increment& increment);
  absl::Status AppendShort(const format::Increment& increment, Bytes items);
  absl::Status DropShortChunk();
  absl::Status Arrange(std::vector<int64_t> order);
  absl::StatusOr<format::IndexedChunk> TakeChunk(const State& from, int64_t nchunk);
  absl::StatusOr<format::IndexedChunk> SpecialChunk(int64_t entry, int64_t nchunk,
                                                    int64_t nbytes) const;
  absl::Status ApplyRuns(const State& from, const std::vector<format::IncrementRun>& runs,
                         int64_t base_chunks, int64_t nbytes);
  absl::Status ApplyLayers(const std::vector<format::LayerEdit>& edits);

  absl::StatusOr<bool> ChangesEnd(const State& view, int64_t complete) const;
  absl::Status Redo(const StagedState& old, const State& old_base);
  absl::Status RedoAll(const StagedState& old, const State& old_base);
  absl::Status AppendAgain(const State& view, int64_t begin);
  absl::Status PutLayers(const StagedState& old, bool with_shape);
  absl::Status Merge(const StagedState& old, const State& view, int64_t begin,
                     const State& old_base);

  absl::Status CheckMayRecut(std::string_view edit) const;
  absl::Status CheckBlocks(int64_t nchunk, const chunk::Header& header) const;
  absl::Status PutMetalayer(std::string_view name, Bytes content);
  absl::Status AppendToLine(const ArrayGeometry& from, int64_t length, Bytes items);
  absl::Status AppendPadded(int64_t used, Bytes items);
  void RecordLength();
  absl::Status ClearPadding(const State& state, const ArrayGeometry& from, const ArrayGeometry& to,
                            std::vector<Update>& updates);
  absl::Status CheckGrowth(const ArrayGeometry& from, const ArrayGeometry& to);
  void EraseRun(int64_t first, int64_t count);
  absl::Status PutShape(std::span<const int64_t> shape);
  absl::Status EditGrid(const ArrayGeometry& from, const ArrayGeometry& to);

  StatePtr base_;
  ChunkSink& sink_;
  StagerOptions options_;
  StagedState staged_;
  ChunkWriter chunk_writer_;
  DirtyChunks dirty_;
  std::vector<std::byte> head_items_;  // of the partial chunk's head, once they were needed
  absl::Status failure_;
  bool is_array_ = false;  // chunks and metalayer make an n-dimensional array
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_STAGER_H_
