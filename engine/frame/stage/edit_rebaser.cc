#include "engine/frame/stage/edit_rebaser.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/format/b2nd.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/read/content.h"
#include "engine/frame/read/range_reader.h"
#include "engine/frame/stage/array_editor.h"
#include "engine/frame/stage/metadata_edits.h"

namespace cairn::frame {

namespace {

// Bytes of memory for items that are appended again.
constexpr int64_t kPieceBytes = int64_t{4} << 20;

// The changes that edits made to a state, told by the numbers that its chunks had: the complete
// ones first, then the rest at the end.
class Changes {
 public:
  explicit Changes(const State& base)
      : line_(ItemsOfChunk(*base.metadata) > 0 ? base.metadata->array->shape[0] : -1),
        chunksize_(base.chunksize),
        complete_(CompleteChunks(base)),
        end_(static_cast<size_t>(base.chunks.size() - complete_)) {}

  void Add(const format::ChunkEdit& edit);
  void Add(const format::LayerEdit& edit);
  void Add(const format::CommitRecord& commit);
  void NoteEnd() { at_end_ = true; }

  int64_t complete() const { return complete_; }
  bool any_chunk() const { return rearranged_ || at_end_ || !replaced_.empty(); }
  // Chunks were inserted before the end, deleted or moved.
  bool rearranged() const { return rearranged_; }
  bool at_end() const { return at_end_; }
  const std::map<int64_t, format::IndexedChunk>& replaced() const { return replaced_; }
  // The chunks of the index after the complete ones; empty where the state had them before.
  const std::vector<std::optional<format::IndexedChunk>>& end() const { return end_; }
  const std::set<std::string>& layers() const { return layers_; }

 private:
  // Notes an edit of the index after the complete chunks.
  bool IsAtEnd(int64_t nchunk) {
    if (nchunk < complete_) return false;
    at_end_ = true;
    return true;
  }
  auto EndAt(int64_t nchunk) { return end_.begin() + static_cast<ptrdiff_t>(nchunk - complete_); }

  const int64_t line_;  // items of an array of one dimension; else -1
  const int32_t chunksize_;
  const int64_t complete_;
  bool rearranged_ = false;
  bool at_end_ = false;
  std::map<int64_t, format::IndexedChunk> replaced_;
  std::vector<std::optional<format::IndexedChunk>> end_;
  std::set<std::string> layers_;
};

void Changes::Add(const format::ChunkEdit& edit) {
  if (rearranged_) return;  // no number means what it did
  if (const auto* insert = std::get_if<format::InsertEdit>(&edit)) {
    if (IsAtEnd(insert->nchunk)) {
      end_.insert(EndAt(insert->nchunk), insert->chunk);
    } else {
      rearranged_ = true;
    }
  } else if (const auto* replace = std::get_if<format::ReplaceEdit>(&edit)) {
    if (IsAtEnd(replace->nchunk)) {
      *EndAt(replace->nchunk) = replace->chunk;
    } else if (chunksize_ > 0 && replace->chunk.nbytes != chunksize_) {
      rearranged_ = true;  // the items end there now
    } else {
      replaced_[replace->nchunk] = replace->chunk;
    }
  } else if (const auto* erase = std::get_if<format::EraseEdit>(&edit)) {
    if (IsAtEnd(erase->first)) {
      end_.erase(EndAt(erase->first), EndAt(erase->first + erase->count));
    } else {
      rearranged_ = true;
    }
  } else {
    rearranged_ = true;
  }
}

// The length of a line follows from its items, unless it was resized. One that was cut off has lost
// items of chunks that the edits may leave alone: those that hold nothing but zeros.
void Changes::Add(const format::LayerEdit& edit) {
  if (line_ < 0 || !SaysShape(edit.name)) layers_.insert(edit.name);
  if (!SaysShape(edit.name)) return;
  at_end_ = true;
  const absl::StatusOr<ArrayInfo> array = format::ParseB2nd(edit.content);
  if (line_ < 0 || !array.ok() || array->shape.size() != 1 || array->shape[0] < line_) {
    rearranged_ = true;
  }
}

void Changes::Add(const format::CommitRecord& commit) {
  for (const format::ChunkEdit& edit : commit.chunks) Add(edit);
  for (const format::LayerEdit& edit : commit.layers) Add(edit);
  if (commit.partial.replaces || !commit.partial.items.empty()) at_end_ = true;
  if (commit.totals.has_value() && commit.totals->chunksize != chunksize_) at_end_ = true;
}

// Returns the changes that are staged.
Changes ChangesOf(const StagedEdits& edits) {
  const StagedState& staged = edits.staged();
  Changes ours(*edits.base());
  for (const format::ChunkEdit& edit : staged.chunk_edits.Decode()) ours.Add(edit);
  for (const format::LayerEdit& edit : staged.layer_edits) ours.Add(edit);
  const PartialChunk& before = edits.base()->partial;
  if (staged.partial_replaced || staged.partial.items.size() != before.items.size()) {
    ours.NoteEnd();
  }
  return ours;
}

absl::Status Collides(std::string_view what) {
  return absl::AbortedError(absl::StrFormat("another writer's commit came before: %s", what));
}

// Refuses changes of the same thing.
absl::Status FindCollision(const Changes& ours, bool end_changed, const Changes& theirs) {
  if (ours.rearranged() && theirs.any_chunk()) {
    return Collides("both change chunks, and this one moves some");
  }
  if (theirs.rearranged() && (end_changed || !ours.replaced().empty())) {
    return Collides("it moved chunks, and this one changes some");
  }
  if (end_changed && theirs.at_end()) return Collides("both change the last chunk");
  for (const auto& [nchunk, chunk] : ours.replaced()) {
    if (theirs.replaced().contains(nchunk)) {
      return Collides(absl::StrFormat("both change chunk %d", nchunk));
    }
  }
  for (const std::string& layer : ours.layers()) {
    if (theirs.layers().contains(layer)) {
      return Collides(absl::StrFormat("both change the metadata layer %s", layer));
    }
  }
  return absl::OkStatus();
}

// Returns true if chunks that were staged on `base` may stand in `newest`, too: both have chunks of
// one size or of any size, and chunks with and without variable blocks do not mix.
bool TakesChunksAlike(const StagedState& staged, const State& base, const State& newest) {
  if (base.variable_chunks() != newest.variable_chunks()) return false;
  return newest.nbytes == 0 || staged.nbytes() == 0 || newest.vlblocks == staged.header.vlblocks;
}

// The items of a state in their order, where padding is left out.
class ItemRuns {
 public:
  explicit ItemRuns(const State& state)
      : state_(state), capacity_(ItemsOfChunk(*state.metadata) * state.header().typesize) {}

  // Bytes of all items.
  int64_t nbytes() const {
    if (capacity_ == 0) return state_.nbytes;
    return state_.metadata->array->shape[0] * state_.header().typesize;
  }
  absl::Status Read(int64_t begin, MutableBytes dst) const {
    if (capacity_ == 0) return ReadRange(state_, begin, dst);
    while (!dst.empty()) {
      const int64_t in_chunk = begin % capacity_;
      const auto count =
          static_cast<size_t>(std::min(capacity_ - in_chunk, static_cast<int64_t>(dst.size())));
      CAIRN_RETURN_IF_ERROR(
          ReadRange(state_, begin / capacity_ * state_.chunksize + in_chunk, dst.first(count)));
      begin += static_cast<int64_t>(count);
      dst = dst.subspan(count);
    }
    return absl::OkStatus();
  }

 private:
  const State& state_;
  const int64_t capacity_;  // of a chunk of an array of one dimension; else 0
};

absl::StatusOr<std::vector<std::byte>> ReadItems(const ItemRuns& items, int64_t begin,
                                                 int64_t end) {
  std::vector<std::byte> bytes(static_cast<size_t>(end - begin));
  CAIRN_RETURN_IF_ERROR(items.Read(begin, bytes));
  return bytes;
}

}  // namespace

// Returns true if the items that the base has after its complete chunks are not those of the view,
// or chunks have another size.
absl::StatusOr<bool> EditRebaser::ChangesEnd(const State& view, int64_t complete) const {
  if (!staged_.fixed_chunks()) return false;
  const int32_t chunksize = edits_.base()->chunksize;
  if (chunksize > 0 && staged_.header.chunksize != chunksize) return true;
  const ItemRuns before(*edits_.base());
  const ItemRuns after(view);
  if (after.nbytes() < before.nbytes()) return true;
  const int64_t line = ItemsOfChunk(*edits_.base()->metadata) * edits_.base()->header().typesize;
  const int64_t begin = complete * (line > 0 ? line : std::max(chunksize, 0));
  CAIRN_ASSIGN_OR_RETURN(const auto old_end, ReadItems(before, begin, before.nbytes()));
  CAIRN_ASSIGN_OR_RETURN(const auto new_end, ReadItems(after, begin, before.nbytes()));
  return old_end != new_end;
}

// The edits of `old`, which were made to `old_base`, as they were made: others have at most
// replaced chunks that these leave alone.
absl::Status EditRebaser::Redo(const StagedState& old, const State& old_base) {
  for (const format::ChunkEdit& edit : old.chunk_edits.Decode()) {
    if (const auto* insert = std::get_if<format::InsertEdit>(&edit)) {
      staged_.Insert(insert->nchunk, insert->chunk);
    } else if (const auto* replace = std::get_if<format::ReplaceEdit>(&edit)) {
      staged_.Replace(replace->nchunk, {}, replace->chunk);
    } else if (const auto* erase = std::get_if<format::EraseEdit>(&edit)) {
      staged_.Erase(erase->first, erase->count, {});
    } else {
      const auto& order = std::get<format::ReorderEdit>(edit).order;
      CAIRN_RETURN_IF_ERROR(
          staged_.ReorderChunks(std::vector<int64_t>(order.begin(), order.end())));
    }
  }
  staged_.header.nbytes = old.header.nbytes;
  staged_.header.chunksize = old.header.chunksize;
  staged_.header.vlblocks = old.header.vlblocks;
  const bool is_known = old.stored_bytes && old_base.stored_bytes && edits_.base()->stored_bytes;
  staged_.stored_bytes.reset();
  if (is_known) {
    staged_.stored_bytes =
        *old.stored_bytes + *edits_.base()->stored_bytes - *old_base.stored_bytes;
  }
  staged_.partial = old.partial;
  staged_.partial_replaced = old.partial_replaced;
  staged_.needs_same_chunks = old.needs_same_chunks;
  staged_.needs_same_content = old.needs_same_content;
  staged_.removed = old.removed;
  staged_.edited = old.edited;
  return absl::OkStatus();
}

// Appends what `view` has after the first `begin` bytes of its items.
absl::Status EditRebaser::AppendAgain(const State& view, int64_t begin) {
  const ItemRuns items(view);
  const int64_t typesize = view.header().typesize;
  const int64_t piece = std::max<int64_t>(kPieceBytes / typesize, 1) * typesize;
  for (int64_t at = begin; at < items.nbytes(); at += piece) {
    CAIRN_ASSIGN_OR_RETURN(const auto bytes,
                           ReadItems(items, at, std::min(at + piece, items.nbytes())));
    CAIRN_RETURN_IF_ERROR(edits_.is_array() ? ArrayEditor(stager_).AppendSlices(0, bytes)
                                            : stager_.Append(bytes));
  }
  return absl::OkStatus();
}

absl::Status EditRebaser::RebaseOnto(StatePtr newest, const OtherCommits& between) {
  CAIRN_ASSIGN_OR_RETURN(const StatePtr view, stager_.View());
  const Changes ours = ChangesOf(edits_);
  CAIRN_ASSIGN_OR_RETURN(const bool end_changed, ChangesEnd(*view, ours.complete()));
  Changes theirs(*edits_.base());
  if (between.has_value()) {
    for (const format::CommitRecord& commit : *between) theirs.Add(commit);
    CAIRN_RETURN_IF_ERROR(FindCollision(ours, end_changed, theirs));
    if (staged_.needs_same_content && !between->empty()) {
      return Collides("this one is right only on the content before");
    }
    if (staged_.needs_same_chunks && theirs.any_chunk()) {
      return Collides("it changed chunks, and this one sets their number or size");
    }
  } else if (ours.rearranged() || end_changed || !ours.replaced().empty() ||
             !ours.layers().empty() || staged_.needs_same_chunks || staged_.needs_same_content) {
    return Collides("what the commits since then changed is not known any more");
  }
  if (ours.any_chunk() && !TakesChunksAlike(staged_, *edits_.base(), *newest)) {
    return Collides("chunks are of another kind now");
  }
  const int64_t begin = ItemRuns(*edits_.base()).nbytes();
  const StatePtr old_base = edits_.base();
  const StagedState old = edits_.RestartOn(std::move(newest));
  stager_.pending().ForgetHead();
  // Chunks of any size may have changed what all hold together.
  const bool same_places =
      between.has_value() &&
      (!theirs.any_chunk() || (staged_.fixed_chunks() && !theirs.rearranged() && !theirs.at_end()));
  return edits_.Remember(same_places ? RedoAll(old, *old_base)
                                     : Merge(old, *view, begin, *old_base));
}

absl::Status EditRebaser::RedoAll(const StagedState& old, const State& old_base) {
  CAIRN_RETURN_IF_ERROR(Redo(old, old_base));
  CAIRN_RETURN_IF_ERROR(MetadataEdits(stager_).Repeat(old.layer_edits, true));
  staged_.metadata = MetadataWith(staged_.metadata, staged_.chunks.size(), staged_.partial,
                                  staged_.header.typesize);
  return absl::OkStatus();
}

// The edits of `old`, which were made to `old_base` and gave `view`, on the base as it is now.
// Appended chunks are taken as they are where they come to begin at a chunk's border again.
absl::Status EditRebaser::Merge(const StagedState& old, const State& view, int64_t begin,
                                const State& old_base) {
  Changes ours(old_base);
  for (const format::ChunkEdit& edit : old.chunk_edits.Decode()) ours.Add(edit);
  for (const auto& [nchunk, chunk] : ours.replaced()) {
    CAIRN_ASSIGN_OR_RETURN(const ChunkCost cost, edits_.CostOf(nchunk));
    staged_.Replace(nchunk, cost, chunk);
  }
  const bool whole = std::ranges::all_of(ours.end(), [](const auto& c) { return c.has_value(); });
  const bool at_border = old_base.partial.empty() && edits_.base()->partial.empty() &&
                         ShortChunkNbytes(old_base) == 0 && ShortChunkNbytes(*edits_.base()) == 0 &&
                         staged_.header.chunksize == old.header.chunksize;
  if (!staged_.fixed_chunks() ||
      (whole && at_border && !edits_.is_array() && !old.partial.head.has_value())) {
    for (const auto& chunk : ours.end()) {
      if (!chunk.has_value()) continue;
      staged_.Insert(staged_.chunks.size(), *chunk);
      staged_.header.vlblocks = old.header.vlblocks;
    }
    // Items of the base that wait for more are not part of the edits.
    if (staged_.fixed_chunks() && !old.partial.empty()) {
      staged_.edited = true;
      staged_.AppendPending(old.partial.items.span(), 0);
    }
  } else {
    CAIRN_RETURN_IF_ERROR(AppendAgain(view, begin));
  }
  return MetadataEdits(stager_).Repeat(
      old.layer_edits, !edits_.is_array() || ItemsOfChunk(*edits_.base()->metadata) == 0);
}

}  // namespace cairn::frame
