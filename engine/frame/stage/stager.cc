#include "engine/frame/stage/stager.h"

#include <algorithm>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/check.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/chunk/encode_options.h"
#include "engine/chunk/special.h"
#include "engine/format/index_entry.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/read/chunk_reader.h"

namespace cairn::frame {

namespace {

constexpr int64_t kMaxChunks = kMaxChunkBytes / format::kIndexTypesize;

}  // namespace

Stager::Stager(StatePtr base, ChunkSink& sink, StagerOptions options)
    : base_(std::move(base)),
      sink_(sink),
      options_(std::move(options)),
      staged_(*base_),
      chunk_writer_(options_.compression, staged_.fixed_chunks(), base_->env(), sink_),
      dirty_(options_.staged_memory),
      is_array_(IsArray(*base_)) {}

absl::Status Stager::Remember(absl::Status status) {
  if (!status.ok() && failure_.ok()) failure_ = status;
  return status;
}

absl::StatusOr<format::IndexedChunk> Stager::Remembered(absl::StatusOr<format::IndexedChunk> made) {
  CAIRN_RETURN_IF_ERROR(Remember(made.status()));
  return made;
}

absl::Status Stager::CheckCapacity(int64_t nbytes) const {
  const std::optional<int64_t> total = CheckedAdd(staged_.nbytes(), nbytes);
  if (!total.has_value()) return InvalidArgument("frame: more than 2^63 bytes");
  const int64_t chunksize =
      staged_.header.chunksize > 0 ? staged_.header.chunksize : int64_t{options_.chunksize};
  const int64_t count = staged_.fixed_chunks() ? CeilDiv(nbytes, chunksize) : 1;
  // A frame over the limit could not be opened again.
  const int64_t limit = std::min<int64_t>(kMaxChunks, base_->env()->limits.max_nchunks);
  if (staged_.nchunks() + count <= limit) return absl::OkStatus();
  return ResourceExhausted("frame: more than %d chunks", limit);
}

absl::Status Stager::CheckTakesItems() const {
  if (!staged_.header.vlblocks || staged_.nbytes() == 0) return absl::OkStatus();
  return FailedPrecondition("a frame of variable blocks takes whole chunks only");
}

// Whether the frame may hold a chunk of another program.
absl::Status Stager::CheckChunk(const chunk::Header& header) const {
  const int32_t typesize = staged_.header.typesize;
  if (header.nbytes == 0) return InvalidArgument("an empty chunk cannot stand in a frame");
  CAIRN_RETURN_IF_ERROR(CheckChunkNbytes(*base_, header.nbytes));
  if (header.typesize != chunk::HeaderTypesize(typesize)) {
    return InvalidArgument("chunk of typesize %d in a frame of typesize %d", header.typesize,
                           typesize);
  }
  if (staged_.nbytes() > 0 && header.vlblocks != staged_.header.vlblocks) {
    return FailedPrecondition("chunks with and without variable blocks do not mix in a frame");
  }
  return absl::OkStatus();
}

void Stager::FixChunksize(int32_t chunksize) {
  if (staged_.header.chunksize == format::kChunksizeUnknown) staged_.header.chunksize = chunksize;
}

// A last chunk of which `used` bytes are items, and which has room for more, becomes the head of
// the partial chunk; 0: there is none.
absl::Status Stager::ReopenShortChunk(int64_t used) {
  if (!staged_.partial.empty()) return LoadHead();
  if (used == 0) return absl::OkStatus();
  const int64_t last = staged_.chunks.size() - 1;
  if (dirty_.Has(last)) CAIRN_RETURN_IF_ERROR(EncodeDirty());
  CAIRN_ASSIGN_OR_RETURN(head_items_, ReadWhole(last));
  head_items_.resize(static_cast<size_t>(used));
  CAIRN_ASSIGN_OR_RETURN(const ChunkCost cost, CostOf(last));
  return staged_.ReopenLast(cost, used);
}

// Nothing is built upon a head that cannot be read.
absl::Status Stager::LoadHead() {
  const std::optional<format::IndexedChunk>& head = staged_.partial.head;
  if (!head.has_value() || std::ssize(head_items_) == head->nbytes) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(head_items_, ReadWhole(staged_.chunks.size()));
  head_items_.resize(static_cast<size_t>(head->nbytes));
  return absl::OkStatus();
}

absl::Status Stager::StageInsert(int64_t nchunk, absl::StatusOr<format::IndexedChunk> made) {
  CAIRN_ASSIGN_OR_RETURN(const format::IndexedChunk chunk, Remembered(std::move(made)));
  staged_.Insert(nchunk, chunk);
  return absl::OkStatus();
}

absl::Status Stager::AddLast(absl::StatusOr<format::IndexedChunk> made) {
  return StageInsert(staged_.chunks.size(), std::move(made));
}

absl::Status Stager::ClosePartialChunk() {
  if (staged_.partial.empty()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(LoadHead());
  if (staged_.partial.is_padded()) RecordLength();
  const PartialChunk partial = staged_.partial;
  staged_.DropPartialChunk();
  if (!partial.head.has_value())
    return AddLast(chunk_writer_.FromPadded(partial.items.span(), partial.padded_to));
  std::vector<std::byte> items = std::exchange(head_items_, {});
  const Bytes added = partial.items.span();
  items.insert(items.end(), added.begin(), added.end());
  return AddLast(chunk_writer_.FromPadded(items, partial.padded_to));
}

absl::Status Stager::StageFixed(Bytes items) {
  return StageInChunks(items, staged_.header.chunksize, 0);
}

// In chunks of so many bytes of items each, padded unless `padded_to` is 0.
absl::Status Stager::StageInChunks(Bytes items, int64_t capacity, int32_t padded_to) {
  const auto most = static_cast<size_t>(capacity);
  staged_.edited = true;
  while (!items.empty()) {
    if (staged_.partial.empty() && items.size() >= most) {
      CAIRN_RETURN_IF_ERROR(AddLast(chunk_writer_.FromPadded(items.first(most), padded_to)));
      items = items.subspan(most);
      continue;
    }
    const auto filled = static_cast<size_t>(staged_.partial.filled());
    const size_t n = std::min(items.size(), most - filled);
    staged_.AppendPending(items.first(n), padded_to);
    items = items.subspan(n);
    if (filled + n == most) CAIRN_RETURN_IF_ERROR(ClosePartialChunk());
  }
  return absl::OkStatus();
}

absl::Status Stager::Append(Bytes items) {
  if (items.empty()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(CheckMayRecut("append"));
  CAIRN_RETURN_IF_ERROR(CheckTakesItems());
  if (!staged_.fixed_chunks() && items.size() > kMaxChunkBytes) {
    return InvalidArgument("a chunk has at most %d bytes, got %d", kMaxChunkBytes, items.size());
  }
  CAIRN_RETURN_IF_ERROR(CheckCapacity(static_cast<int64_t>(items.size())));
  CAIRN_RETURN_IF_ERROR(chunk_writer_.CheckOptions());
  FixChunksize(options_.chunksize);
  if (staged_.fixed_chunks()) {
    CAIRN_RETURN_IF_ERROR(ReopenShortChunk(staged_.header.nbytes % staged_.header.chunksize));
  }
  staged_.header.vlblocks = false;
  return Remember(staged_.fixed_chunks() ? StageFixed(items)
                                         : AddLast(chunk_writer_.FromItems(items)));
}

absl::Status Stager::AppendCompressed(Bytes chunk) {
  return InsertCompressed(staged_.nchunks(), chunk);
}

// The bytes of a short last chunk that repeats `special` too. It leaves the index: the run that
// follows begins with it, and no item of either has to be stored.
int64_t Stager::TakeShortRun(SpecialValue special) {
  const format::FrameHeader& header = staged_.header;
  const int64_t nbytes = header.nbytes % header.chunksize;
  const bool whole_items = header.chunksize % header.typesize == 0;
  if (!staged_.partial.empty() || nbytes == 0 || !format::IsIndexSpecial(special) || !whole_items)
    return 0;
  const int64_t last = staged_.chunks.size() - 1;
  const absl::StatusOr<IndexEntry> entry = staged_.chunks.Get(last);
  if (!entry.ok() || entry->value != format::EntryOfSpecial(special)) return 0;
  staged_.Erase(last, 1, {.nbytes = nbytes});
  return nbytes;
}

absl::Status Stager::StageSpecialItems(SpecialValue special, int64_t nbytes, Bytes value) {
  constexpr int64_t kPieceSize = 1 << 20;
  for (int64_t done = 0; done < nbytes; done += kPieceSize) {
    std::vector<std::byte> items(static_cast<size_t>(std::min(kPieceSize, nbytes - done)));
    CAIRN_RETURN_IF_ERROR(chunk::FillSpecial(
        {.kind = special, .typesize = staged_.header.typesize, .value = value}, done, items));
    CAIRN_RETURN_IF_ERROR(StageFixed(items));
  }
  return absl::OkStatus();
}

absl::Status Stager::StageSpecial(SpecialValue special, int64_t nbytes, Bytes value) {
  if (!staged_.fixed_chunks()) return AddLast(chunk_writer_.FromSpecial(special, nbytes, value));
  if (staged_.header.chunksize % staged_.header.typesize != 0) {
    return StageSpecialItems(special, nbytes, value);
  }
  const int64_t chunksize = staged_.header.chunksize;
  if (!staged_.partial.empty()) {
    const auto filled = staged_.partial.nbytes();
    const int64_t n = std::min(nbytes, chunksize - filled);
    CAIRN_RETURN_IF_ERROR(StageSpecialItems(special, n, value));
    nbytes -= n;
  }
  for (; nbytes >= chunksize; nbytes -= chunksize) {
    CAIRN_RETURN_IF_ERROR(AddLast(chunk_writer_.FromSpecial(special, chunksize, value)));
  }
  if (nbytes == 0) return absl::OkStatus();
  // A short stored chunk would be dead as soon as more items follow it.
  return format::IsIndexSpecial(special)
             ? AddLast(chunk_writer_.FromSpecial(special, nbytes, value))
             : StageSpecialItems(special, nbytes, value);
}

absl::Status Stager::AppendSpecial(SpecialValue special, int64_t nitems, Bytes value) {
  const int64_t typesize = staged_.header.typesize;
  const std::optional<int64_t> nbytes = CheckedMul(nitems, typesize);
  if (nitems < 0 || !nbytes.has_value()) return InvalidArgument("%d items", nitems);
  const int64_t value_size = special == SpecialValue::kRepeat ? typesize : 0;
  if (special == SpecialValue::kNone || std::ssize(value) != value_size) {
    return InvalidArgument("special value %d takes a value of %d bytes, got %d",
                           static_cast<int>(special), value_size, value.size());
  }
  if (special == SpecialValue::kNans && typesize != 4 && typesize != 8) {
    return InvalidArgument("NaNs need a typesize of 4 or 8, got %d", typesize);
  }
  if (nitems > 0) CAIRN_RETURN_IF_ERROR(CheckMayRecut("append"));
  CAIRN_RETURN_IF_ERROR(CheckTakesItems());
  if (!staged_.fixed_chunks() && *nbytes > kMaxChunkBytes) {
    return InvalidArgument("a chunk has at most %d bytes, got %d", kMaxChunkBytes, *nbytes);
  }
  if (staged_.nbytes() % typesize != 0) {
    return FailedPrecondition("the last item is not whole: no special values can follow");
  }
  CAIRN_RETURN_IF_ERROR(CheckCapacity(*nbytes));
  CAIRN_RETURN_IF_ERROR(chunk_writer_.CheckOptions());
  if (nitems == 0) return absl::OkStatus();
  FixChunksize(options_.chunksize);
  int64_t run = *nbytes;
  if (staged_.fixed_chunks()) {
    run += TakeShortRun(special);
    CAIRN_RETURN_IF_ERROR(ReopenShortChunk(staged_.header.nbytes % staged_.header.chunksize));
  }
  staged_.header.vlblocks = false;
  return Remember(StageSpecial(special, run, value));
}

absl::Status Stager::Finish() {
  CAIRN_RETURN_IF_ERROR(EncodeDirty());
  CAIRN_RETURN_IF_ERROR(ClosePartialChunk());
  return Remember(sink_.Flush());
}

format::CommitRecordParts Stager::MakeCommit(const format::CommitLinks& links) const {
  staged_.CheckCounts();
  // Unless they were replaced, the pending items are those of the base and others after them.
  CAIRN_DCHECK(staged_.partial_replaced ||
               staged_.partial.items.size() >= base_->partial.items.size());
  format::CommitRecordParts commit{.links = links,
                                   .chunks = staged_.chunk_edits,
                                   .layers = staged_.layer_edits,
                                   .partial_replaced = staged_.partial_replaced,
                                   .partial_items = staged_.partial.items.span()};
  if (!staged_.partial_replaced) {
    commit.partial_items = commit.partial_items.subspan(base_->partial.items.size());
  } else {
    commit.partial_head = staged_.partial.head;
    commit.partial_padded = staged_.partial.is_padded();
  }
  const bool only_appends = staged_.chunk_edits.count() == 0 && staged_.layer_edits.empty() &&
                            !staged_.partial_replaced &&
                            staged_.header.chunksize == base_->chunksize &&
                            staged_.header.vlblocks == base_->vlblocks;
  if (!only_appends) {
    commit.totals = {.nchunks = staged_.chunks.size(),
                     .nbytes = staged_.nbytes(),
                     .stored_bytes = staged_.stored_bytes.value_or(-1),
                     .chunksize = staged_.header.chunksize,
                     .vlblocks = staged_.header.vlblocks};
  }
  return commit;
}

std::shared_ptr<State> Stager::MakeState() const {
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

void Stager::SetBase(StatePtr committed) {
  base_ = std::move(committed);
  is_array_ = IsArray(*base_);
  staged_.Settle();
}

absl::StatusOr<StatePtr> Stager::View() {
  CAIRN_RETURN_IF_ERROR(EncodeDirty());
  absl::StatusOr<StatePtr> view = StoredView();
  CAIRN_RETURN_IF_ERROR(Remember(view.status()));
  return view;
}

absl::StatusOr<StatePtr> Stager::StoredView() {
  CAIRN_RETURN_IF_ERROR(sink_.Flush());
  const std::shared_ptr<State> state = MakeState();
  CAIRN_ASSIGN_OR_RETURN(state->chunk_source, sink_.Source(*base_));
  state->chunks_end = state->chunk_source->end();
  state->staged = true;
  return state;
}

}  // namespace cairn::frame
