#include "engine/frame/stage/stager.h"

#include <optional>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/check.h"
#include "engine/base/checked.h"
#include "engine/base/permutation.h"
#include "engine/base/status.h"
#include "engine/chunk/encode_options.h"
#include "engine/format/b2nd.h"
#include "engine/format/index_entry.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/read/chunk_reader.h"
#include "engine/frame/read/range_reader.h"

namespace cairn::frame {

namespace {

// Checks that the frame may hold a chunk of another program. With `free_shapes`, that may have
// items of another size.
absl::Status CheckChunk(const StagedState& staged, const State& base, const chunk::Header& header,
                        bool free_shapes) {
  const int32_t typesize = staged.header.typesize;
  if (header.nbytes == 0) return InvalidArgument("an empty chunk cannot stand in a frame");
  CAIRN_RETURN_IF_ERROR(CheckChunkNbytes(base, header.nbytes));
  if (!free_shapes && header.typesize != chunk::HeaderTypesize(typesize)) {
    return InvalidArgument("chunk of typesize %d in a frame of typesize %d", header.typesize,
                           typesize);
  }
  if (staged.nbytes() > 0 && header.vlblocks != staged.header.vlblocks) {
    return FailedPrecondition("chunks with and without variable blocks do not mix in a frame");
  }
  return absl::OkStatus();
}

// Checks the blocks of a chunk that another program made for the array.
absl::Status CheckBlocks(const StagedState& staged, int64_t nchunk, const chunk::Header& header) {
  const int32_t typesize = staged.header.typesize;
  CAIRN_ASSIGN_OR_RETURN(const ArrayInfo array, format::FindB2nd(staged.metadata->metalayers));
  CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry geometry, ArrayGeometry::Make(array, typesize));
  const absl::Status status = CheckArrayChunk(header, geometry, typesize);
  if (status.ok()) return absl::OkStatus();
  return Annotate(WithCode(absl::StatusCode::kFailedPrecondition, status), "chunk %d", nchunk);
}

// Refuses an edit that would make the total negative, or zero with chunks left: in a frame of
// variable chunks, its header and the headers of its chunks may disagree.
absl::Status CheckSum(const StagedState& staged, int64_t nchunks, const ChunkCost& less,
                      int64_t more) {
  if (staged.fixed_chunks()) return absl::OkStatus();
  const int64_t rest = staged.header.nbytes - less.nbytes;
  const std::optional<int64_t> sum = CheckedAdd(rest, more);
  if (rest >= 0 && sum.has_value() && (*sum == 0) == (nchunks == 0)) return absl::OkStatus();
  return DataLoss("frame: its chunks do not hold the %d bytes that its header says",
                  staged.header.nbytes);
}

// Checks the size of a chunk to insert into a frame whose chunks have one size.
absl::Status CheckInsertSize(const StagedState& staged, int64_t nchunk, int64_t nbytes) {
  const int64_t count = staged.nchunks();
  const int64_t chunksize = staged.header.chunksize;
  if (chunksize <= 0) return absl::OkStatus();
  if (nbytes > chunksize || (nchunk < count && nbytes != chunksize)) {
    return InvalidArgument("chunk of %d bytes in a frame of chunks of %d", nbytes, chunksize);
  }
  if (nchunk == count && staged.nbytes() % chunksize != 0) {
    return FailedPrecondition("the last chunk is shorter than %d bytes: no chunk can follow",
                              chunksize);
  }
  return absl::OkStatus();
}

// Checks the size of a chunk that is to replace another one there.
absl::Status CheckUpdateSize(const StagedState& staged, int64_t nchunk, int64_t nbytes) {
  const int64_t count = staged.nchunks();
  const int64_t chunksize = staged.header.chunksize;
  const bool last = nchunk + 1 == count;
  if (!staged.fixed_chunks() || nbytes == chunksize || (last && nbytes < chunksize)) {
    return absl::OkStatus();
  }
  return InvalidArgument("chunk of %d bytes in a frame of chunks of %d", nbytes, chunksize);
}

}  // namespace

Stager::Stager(StatePtr base, ChunkSink& sink, const StagerOptions& options)
    : edits_(std::move(base), sink, options.compression, options.chunksize, options.free_shapes),
      staged_(edits_.staged()),
      dirty_(edits_, options.staged_memory),
      pending_(edits_, dirty_) {}

void Stager::BeginFrame() {
  // A metalayer may say that it is an array: its chunks come next.
  edits_.set_is_array(false);
  staged_.edited = true;
}

absl::Status Stager::Append(Bytes items) {
  if (items.empty()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(edits_.CheckMayRecut("append"));
  CAIRN_RETURN_IF_ERROR(edits_.CheckTakesItems());
  if (!staged_.fixed_chunks() && items.size() > kMaxChunkBytes) {
    return InvalidArgument("a chunk has at most %d bytes, got %d", kMaxChunkBytes, items.size());
  }
  CAIRN_RETURN_IF_ERROR(edits_.CheckCapacity(static_cast<int64_t>(items.size())));
  CAIRN_RETURN_IF_ERROR(edits_.chunk_writer().CheckOptions());
  staged_.FixChunksize(edits_.chunksize());
  if (staged_.fixed_chunks()) {
    CAIRN_RETURN_IF_ERROR(pending_.Reopen(staged_.header.nbytes % staged_.header.chunksize));
  }
  staged_.header.vlblocks = false;
  return edits_.Remember(staged_.fixed_chunks()
                             ? pending_.Append(items, staged_.header.chunksize, 0)
                             : edits_.Append(edits_.chunk_writer().FromItems(items)));
}

absl::Status Stager::AppendCompressed(Bytes chunk) {
  return InsertCompressed(staged_.nchunks(), chunk);
}

absl::Status Stager::CheckInsert(int64_t nchunk, int64_t nbytes) const {
  const int64_t count = staged_.nchunks();
  CAIRN_RETURN_IF_ERROR(edits_.CheckMayRecut(nchunk == count ? "append" : "insert chunk"));
  if (nchunk < 0 || nchunk > count) return OutOfRange("insert at chunk %d of %d", nchunk, count);
  if (nbytes < 1 || nbytes > kMaxChunkBytes) {
    return InvalidArgument("a chunk has 1 to %d bytes, got %d", kMaxChunkBytes, nbytes);
  }
  CAIRN_RETURN_IF_ERROR(edits_.CheckCapacity(nbytes));
  return edits_.free_shapes() ? absl::OkStatus() : CheckInsertSize(staged_, nchunk, nbytes);
}

absl::Status Stager::CheckUpdate(int64_t nchunk, int64_t nbytes) const {
  const int64_t count = staged_.nchunks();
  const int64_t chunksize = staged_.header.chunksize;
  if (nchunk < 0 || nchunk >= count) return OutOfRange("chunk %d of %d", nchunk, count);
  if (nbytes < 1 || nbytes > kMaxChunkBytes) {
    return InvalidArgument("a chunk has 1 to %d bytes, got %d", kMaxChunkBytes, nbytes);
  }
  if (edits_.is_array() && nbytes != chunksize) {
    return FailedPrecondition("chunk %d: the array needs chunks of %d bytes, got %d", nchunk,
                              chunksize, nbytes);
  }
  return edits_.free_shapes() ? absl::OkStatus() : CheckUpdateSize(staged_, nchunk, nbytes);
}

absl::Status Stager::FreeChunkSizes() {
  CAIRN_RETURN_IF_ERROR(edits_.chunk_writer().CheckOptions());
  CAIRN_RETURN_IF_ERROR(pending_.Close());
  CAIRN_RETURN_IF_ERROR(EncodeDirty());
  return edits_.FreeChunkSizes();
}

absl::StatusOr<ImportedChunk> Stager::Import(Bytes chunk, const chunk::Header& header,
                                             const absl::Status& has_size) {
  absl::StatusOr<ImportedChunk> imported = edits_.chunk_writer().Import(chunk, header);
  if (!imported.ok() || has_size.ok()) return imported;
  CAIRN_RETURN_IF_ERROR(FreeChunkSizes());
  return edits_.chunk_writer().Import(chunk, header);
}

absl::Status Stager::InsertMade(int64_t nchunk, int64_t nbytes, bool vlblocks, Make make) {
  CAIRN_RETURN_IF_ERROR(edits_.chunk_writer().CheckOptions());
  CAIRN_RETURN_IF_ERROR(pending_.Close());
  if (nchunk < staged_.chunks.size()) {
    CAIRN_RETURN_IF_ERROR(EncodeDirty());
    staged_.needs_same_chunks = true;
  }
  staged_.FixChunksize(static_cast<int32_t>(nbytes));
  staged_.header.vlblocks = vlblocks;
  return edits_.Insert(nchunk, make());
}

absl::Status Stager::UpdateMade(int64_t nchunk, int64_t nbytes, Make make) {
  CAIRN_RETURN_IF_ERROR(edits_.chunk_writer().CheckOptions());
  CAIRN_RETURN_IF_ERROR(pending_.Close());
  CAIRN_ASSIGN_OR_RETURN(const ChunkCost old, edits_.CostOf(nchunk));
  CAIRN_RETURN_IF_ERROR(CheckSum(staged_, staged_.chunks.size(), old, nbytes));
  CAIRN_ASSIGN_OR_RETURN(const format::IndexedChunk chunk, edits_.Remember(make()));
  edits_.Replace(nchunk, old, chunk);
  // The items end elsewhere now.
  if (staged_.fixed_chunks() && nbytes != old.nbytes) staged_.needs_same_chunks = true;
  return absl::OkStatus();
}

absl::Status Stager::InsertChunk(int64_t nchunk, Bytes items) {
  CAIRN_RETURN_IF_ERROR(edits_.CheckTakesItems());
  CAIRN_RETURN_IF_ERROR(CheckInsert(nchunk, std::ssize(items)));
  if (!CheckInsertSize(staged_, nchunk, std::ssize(items)).ok())
    CAIRN_RETURN_IF_ERROR(FreeChunkSizes());
  return InsertMade(nchunk, std::ssize(items), false,
                    [&] { return edits_.chunk_writer().FromItems(items); });
}

absl::Status Stager::InsertCompressed(int64_t nchunk, Bytes chunk) {
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, chunk::ParseHeader(chunk));
  CAIRN_RETURN_IF_ERROR(CheckChunk(staged_, *base(), header, edits_.free_shapes()));
  CAIRN_RETURN_IF_ERROR(CheckInsert(nchunk, header.nbytes));
  CAIRN_ASSIGN_OR_RETURN(const ImportedChunk imported,
                         Import(chunk, header, CheckInsertSize(staged_, nchunk, header.nbytes)));
  return InsertMade(nchunk, header.nbytes, header.vlblocks,
                    [&] { return edits_.chunk_writer().FromImported(imported); });
}

absl::Status Stager::UpdateChunk(int64_t nchunk, Bytes items) {
  CAIRN_RETURN_IF_ERROR(edits_.CheckTakesItems());
  CAIRN_RETURN_IF_ERROR(CheckUpdate(nchunk, std::ssize(items)));
  if (!CheckUpdateSize(staged_, nchunk, std::ssize(items)).ok())
    CAIRN_RETURN_IF_ERROR(FreeChunkSizes());
  CAIRN_RETURN_IF_ERROR(edits_.chunk_writer().CheckOptions());
  CAIRN_RETURN_IF_ERROR(pending_.Close());
  if (dirty_.MayHold(nchunk) && std::ssize(items) == staged_.header.chunksize) {
    CAIRN_RETURN_IF_ERROR(dirty_.MakeRoom(nchunk, nchunk));
    CopyBytes(items, dirty_.Put(nchunk));
    return absl::OkStatus();
  }
  CAIRN_RETURN_IF_ERROR(EncodeDirty());
  return UpdateMade(nchunk, std::ssize(items),
                    [&] { return edits_.chunk_writer().FromItems(items); });
}

absl::Status Stager::UpdateCompressed(int64_t nchunk, Bytes chunk) {
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, chunk::ParseHeader(chunk));
  CAIRN_RETURN_IF_ERROR(CheckChunk(staged_, *base(), header, edits_.free_shapes()));
  CAIRN_RETURN_IF_ERROR(CheckUpdate(nchunk, header.nbytes));
  CAIRN_ASSIGN_OR_RETURN(const ImportedChunk imported,
                         Import(chunk, header, CheckUpdateSize(staged_, nchunk, header.nbytes)));
  if (edits_.is_array() && !imported.stored.empty())
    CAIRN_RETURN_IF_ERROR(CheckBlocks(staged_, nchunk, header));
  CAIRN_RETURN_IF_ERROR(EncodeDirty());
  return UpdateMade(nchunk, header.nbytes,
                    [&] { return edits_.chunk_writer().FromImported(imported); });
}

absl::Status Stager::DeleteChunks(int64_t first, int64_t count) {
  const int64_t nchunks = staged_.nchunks();
  if (count < 0 || !RangeFits(first, count, nchunks)) {
    return OutOfRange("delete chunks from %d on, %d of them, of %d", first, count, nchunks);
  }
  if (count == 0) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(edits_.CheckMayRecut("delete chunks"));
  CAIRN_RETURN_IF_ERROR(EncodeDirty());
  // Pending items that go need not become a chunk first: perhaps their head cannot be read.
  const bool with_partial = first + count > staged_.chunks.size();
  if (with_partial) {
    --count;
  } else {
    CAIRN_RETURN_IF_ERROR(pending_.Close());
  }
  CAIRN_ASSIGN_OR_RETURN(const ChunkCost old, edits_.CostOf(first, count));
  CAIRN_RETURN_IF_ERROR(CheckSum(staged_, nchunks - count, old, 0));
  if (with_partial) staged_.DropPartialChunk();
  if (count > 0) staged_.Erase(first, count, old);
  staged_.needs_same_chunks = true;
  return absl::OkStatus();
}

absl::Status Stager::ReorderChunks(std::span<const int64_t> order) {
  const int64_t nchunks = staged_.nchunks();
  CAIRN_RETURN_IF_ERROR(edits_.CheckMayRecut("reorder"));
  if (static_cast<int64_t>(order.size()) != nchunks) {
    return InvalidArgument("reorder: expected %d chunk numbers, got %d", nchunks, order.size());
  }
  if (const auto wrong = FindNonPermutation(order); wrong.has_value()) {
    if (!RangeFits(*wrong, 1, nchunks)) return OutOfRange("chunk %d of %d", *wrong, nchunks);
    return InvalidArgument("reorder: duplicate chunk number %d", *wrong);
  }
  if (nchunks == 0) return absl::OkStatus();
  if (staged_.fixed_chunks() && staged_.NbytesOf(nchunks - 1) < staged_.header.chunksize &&
      order.back() != nchunks - 1) {
    return InvalidArgument("reorder: the last chunk is shorter than %d bytes and must stay last",
                           staged_.header.chunksize);
  }
  CAIRN_RETURN_IF_ERROR(pending_.Close());
  CAIRN_RETURN_IF_ERROR(EncodeDirty());
  return staged_.ReorderChunks(order);
}

absl::Status Stager::MoveChunk(int64_t nchunk, const IndexEntry& moved) {
  CAIRN_ASSIGN_OR_RETURN(const ChunkCost cost, edits_.CostOf(nchunk));
  staged_.Replace(nchunk, cost, {.entry = moved, .nbytes = static_cast<int32_t>(cost.nbytes)});
  return absl::OkStatus();
}

absl::Status Stager::ReadChunk(int64_t nchunk, MutableBytes dst) {
  const int64_t count = staged_.nchunks();
  if (nchunk < 0 || nchunk >= count) return OutOfRange("chunk %d of %d", nchunk, count);
  const Bytes kept = dirty_.Find(nchunk);
  if (kept.empty()) {
    const absl::StatusOr<StatePtr> state = edits_.StateWith(nchunk);
    if (state.ok()) return frame::ReadChunk(**state, nchunk, dst);
    // Chunks that wait to be written are written first. A full disk refuses that, and they wait on:
    // nothing is lost, so the writer stays usable.
    return absl::IsResourceExhausted(state.status()) ? state.status()
                                                     : edits_.Remember(state.status());
  }
  CAIRN_RETURN_IF_ERROR(CheckChunkBuffer(nchunk, std::ssize(kept), dst));
  CopyBytes(kept, dst);
  return absl::OkStatus();
}

absl::Status Stager::Finish() {
  CAIRN_RETURN_IF_ERROR(EncodeDirty());
  CAIRN_RETURN_IF_ERROR(pending_.Close());
  return edits_.Remember(edits_.sink().Flush());
}

format::CommitRecordParts Stager::MakeCommit(const format::CommitLinks& links) const {
  staged_.CheckCounts();
  // Unless they were replaced, the pending items are those of the base and others after them.
  CAIRN_DCHECK(staged_.partial_replaced ||
               staged_.partial.items.size() >= base()->partial.items.size());
  format::CommitRecordParts commit{.links = links,
                                   .chunks = staged_.chunk_edits,
                                   .layers = staged_.layer_edits,
                                   .partial_replaced = staged_.partial_replaced,
                                   .partial_items = staged_.partial.items.span()};
  if (!staged_.partial_replaced) {
    commit.partial_items = commit.partial_items.subspan(base()->partial.items.size());
  } else {
    commit.partial_head = staged_.partial.head;
    commit.partial_padded = staged_.partial.is_padded();
  }
  const bool only_appends = staged_.chunk_edits.count() == 0 && staged_.layer_edits.empty() &&
                            !staged_.partial_replaced &&
                            staged_.header.chunksize == base()->chunksize &&
                            staged_.header.vlblocks == base()->vlblocks;
  if (!only_appends) {
    commit.totals = {.nchunks = staged_.chunks.size(),
                     .nbytes = staged_.nbytes(),
                     .stored_bytes = staged_.stored_bytes.value_or(-1),
                     .chunksize = staged_.header.chunksize,
                     .vlblocks = staged_.header.vlblocks};
  }
  return commit;
}

absl::StatusOr<StatePtr> Stager::View() {
  CAIRN_RETURN_IF_ERROR(EncodeDirty());
  absl::StatusOr<StatePtr> view = edits_.StoredView();
  CAIRN_RETURN_IF_ERROR(edits_.Remember(view.status()));
  return view;
}

}  // namespace cairn::frame
