#include "engine/frame/stage/staged_edits.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/read/stored_chunk.h"

namespace cairn::frame {

namespace {

constexpr int64_t kMaxChunks = kMaxChunkBytes / format::kIndexTypesize;

}  // namespace

StagedEdits::StagedEdits(StatePtr base, ChunkSink& sink, const CompressionOptions& compression,
                         int32_t chunksize, bool free_shapes)
    : base_(std::move(base)),
      sink_(sink),
      chunksize_(chunksize),
      free_shapes_(free_shapes),
      staged_(*base_),
      chunk_writer_(compression, staged_.fixed_chunks(), base_->env(), sink_),
      is_array_(!free_shapes && IsArray(*base_)) {}

absl::Status StagedEdits::Remember(absl::Status status) {
  if (!status.ok() && failure_.ok()) failure_ = status;
  return status;
}

absl::StatusOr<format::IndexedChunk> StagedEdits::Remember(
    absl::StatusOr<format::IndexedChunk> made) {
  CAIRN_RETURN_IF_ERROR(Remember(made.status()));
  return made;
}

absl::Status StagedEdits::CheckTakesItems() const {
  if (!staged_.header.vlblocks || staged_.nbytes() == 0) return absl::OkStatus();
  return FailedPrecondition("a frame of variable blocks takes whole chunks only");
}

// A frame whose metalayer asks for other chunks than it has is not an array: it may be mended, or
// not be complete yet.
absl::Status StagedEdits::CheckMayRecut(std::string_view edit) const {
  if (!is_array_) return absl::OkStatus();
  return FailedPrecondition(
      "%s: the frame is an n-dimensional array, whose chunks follow from its shape: resize it, "
      "append along an axis or write a box instead",
      edit);
}

absl::Status StagedEdits::CheckCapacity(int64_t nbytes) const {
  const std::optional<int64_t> total = CheckedAdd(staged_.nbytes(), nbytes);
  if (!total.has_value()) return InvalidArgument("frame: more than 2^63 bytes");
  const int64_t chunksize = staged_.header.chunksize > 0 ? staged_.header.chunksize : chunksize_;
  const int64_t count = staged_.fixed_chunks() ? CeilDiv(nbytes, chunksize) : 1;
  // A frame over the limit could not be opened again.
  const int64_t limit = std::min<int64_t>(kMaxChunks, base_->env()->limits.max_nchunks);
  if (staged_.nchunks() + count <= limit) return absl::OkStatus();
  return ResourceExhausted("frame: more than %d chunks", limit);
}

absl::StatusOr<chunk::Header> StagedEdits::HeaderOf(const IndexEntry& entry) {
  ScratchBuffer scratch;
  if (sink_.IsPending(entry.value)) CAIRN_RETURN_IF_ERROR(Remember(sink_.Flush()));
  if (base_->chunk_source->Locate(entry.value).ok()) {
    if (base_->header().layout == Layout::kSparse) {
      return base_->chunk_source->ReadHeader(entry.value, scratch);
    }
    // By a system call: in a large frame the page is hardly ever mapped, and the rest of the chunk
    // is not read.
    const ContiguousChunkSource unmapped(base_->region.Unmapped(), base_->header().header_len,
                                         base_->chunks_end);
    return unmapped.ReadHeader(entry.value, scratch);
  }
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const ChunkSource> source, sink_.Source(*base_));
  return source->ReadHeader(entry.value, scratch);
}

absl::StatusOr<ChunkCost> StagedEdits::CostOf(int64_t nchunk) {
  CAIRN_ASSIGN_OR_RETURN(const IndexEntry entry, staged_.chunks.Get(nchunk));
  ChunkCost cost;
  if (staged_.fixed_chunks()) cost.nbytes = staged_.NbytesOf(nchunk);
  if (format::IsSpecialEntry(entry.value)) {
    if (staged_.fixed_chunks()) return cost;
    return DataLoss(
        "chunk %d: the size of a special chunk is not known in a frame of variable "
        "chunks",
        nchunk);
  }
  if (staged_.fixed_chunks() && entry.cbytes > 0) {
    cost.stored = entry.cbytes;
    return cost;
  }
  const absl::StatusOr<chunk::Header> header = HeaderOf(entry);
  if (!staged_.fixed_chunks()) {
    if (!header.ok()) return AnnotateChunk(nchunk, header.status());
    cost.nbytes = header->nbytes;
  }
  // A damaged chunk can go where its size is known without it.
  cost.stored = header.ok() ? std::optional<int64_t>(header->cbytes) : std::nullopt;
  return cost;
}

absl::StatusOr<ChunkCost> StagedEdits::CostOf(int64_t first, int64_t count) {
  ChunkCost sum;
  for (int64_t i = first; i < first + count; ++i) {
    CAIRN_ASSIGN_OR_RETURN(const ChunkCost cost, CostOf(i));
    sum.nbytes += cost.nbytes;
    sum.stored = sum.stored.has_value() && cost.stored.has_value()
                     ? std::optional(*sum.stored + *cost.stored)
                     : std::nullopt;
  }
  return sum;
}

absl::Status StagedEdits::Insert(int64_t nchunk, absl::StatusOr<format::IndexedChunk> made) {
  CAIRN_ASSIGN_OR_RETURN(const format::IndexedChunk chunk, Remember(std::move(made)));
  staged_.Insert(nchunk, chunk);
  return absl::OkStatus();
}

absl::Status StagedEdits::Append(absl::StatusOr<format::IndexedChunk> made) {
  return Insert(staged_.chunks.size(), std::move(made));
}

void StagedEdits::Replace(int64_t nchunk, const ChunkCost& old, const format::IndexedChunk& chunk) {
  if (staged_.HasReplaced(nchunk)) {
    const absl::StatusOr<IndexEntry> before = staged_.chunks.Get(nchunk);
    if (before.ok() && sink_.TakeBack(*before)) return staged_.ReplaceAgain(nchunk, old, chunk);
  }
  staged_.Replace(nchunk, old, chunk);
}

absl::Status StagedEdits::StoreSpecials() {
  for (int64_t i = 0; i < staged_.chunks.size(); ++i) {
    CAIRN_ASSIGN_OR_RETURN(const IndexEntry entry, staged_.chunks.Get(i));
    if (!format::IsSpecialEntry(entry.value)) continue;
    CAIRN_ASSIGN_OR_RETURN(const SpecialValue special, format::SpecialOfEntry(entry.value));
    CAIRN_ASSIGN_OR_RETURN(const ChunkCost old, CostOf(i));
    CAIRN_ASSIGN_OR_RETURN(const format::IndexedChunk stored,
                           chunk_writer_.FromSpecial(special, old.nbytes, {}));
    Replace(i, old, stored);
  }
  return absl::OkStatus();
}

absl::Status StagedEdits::FreeChunkSizes() {
  chunk_writer_.set_fixed_chunks(false);
  CAIRN_RETURN_IF_ERROR(Remember(StoreSpecials()));
  staged_.header.chunksize = format::kChunksizeVariable;
  staged_.edited = true;
  staged_.needs_same_chunks = true;
  return absl::OkStatus();
}

void StagedEdits::SetChunksize(int32_t chunksize) {
  CAIRN_DCHECK(staged_.nchunks() == 0);
  staged_.edited = staged_.edited || staged_.header.chunksize != chunksize;
  staged_.needs_same_chunks = true;
  staged_.header.chunksize = chunksize;
  chunk_writer_.set_fixed_chunks(staged_.fixed_chunks());
}

std::shared_ptr<State> StagedEdits::MakeState() const {
  staged_.CheckCounts();
  auto state = std::make_shared<State>(*base_);
  state->nbytes = staged_.nbytes();
  state->chunksize = staged_.header.chunksize;
  state->vlblocks = staged_.header.vlblocks;
  state->chunks = staged_.chunks;
  state->partial = staged_.partial;
  state->stored_bytes = staged_.stored_bytes;
  state->metadata = staged_.metadata;
  return state;
}

absl::StatusOr<StatePtr> StagedEdits::StoredView() {
  CAIRN_RETURN_IF_ERROR(sink_.Flush());
  const std::shared_ptr<State> state = MakeState();
  CAIRN_ASSIGN_OR_RETURN(state->chunk_source, sink_.Source(*base_));
  state->chunks_end = state->chunk_source->end();
  state->staged = true;
  return state;
}

absl::StatusOr<StatePtr> StagedEdits::StateWith(int64_t nchunk) {
  if (!staged_.edited) return base_;
  const int64_t chunksize = staged_.header.chunksize;
  const bool complete = chunksize > 0 && base_->chunksize == chunksize &&
                        nchunk < std::min(base_->nbytes, staged_.nbytes()) / chunksize &&
                        nchunk < std::min(base_->chunks.size(), staged_.chunks.size());
  if (complete) {
    const absl::StatusOr<IndexEntry> before = base_->chunks.Get(nchunk);
    const absl::StatusOr<IndexEntry> now = staged_.chunks.Get(nchunk);
    if (before.ok() && now.ok() && *before == *now) return base_;
  }
  return StoredView();
}

void StagedEdits::SetBase(StatePtr committed) {
  base_ = std::move(committed);
  is_array_ = !free_shapes_ && IsArray(*base_);
  staged_.Settle();
  chunk_writer_.set_fixed_chunks(staged_.fixed_chunks());
}

StagedState StagedEdits::RestartOn(StatePtr base) {
  base_ = std::move(base);
  is_array_ = !free_shapes_ && IsArray(*base_);
  StagedState edits = std::exchange(staged_, StagedState(*base_));
  chunk_writer_.set_fixed_chunks(staged_.fixed_chunks());
  return edits;
}

}  // namespace cairn::frame
