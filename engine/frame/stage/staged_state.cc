#include "engine/frame/stage/staged_state.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"

namespace cairn::frame {

void StagedState::Count(const ChunkCost& cost, int64_t sign) {
  header.nbytes += sign * cost.nbytes;
  stored_bytes = stored_bytes.has_value() && cost.stored.has_value()
                     ? CheckedAdd(*stored_bytes, sign * *cost.stored)
                     : std::nullopt;
  // Else what the base said was not so.
  if (stored_bytes.has_value()) stored_bytes = BelievedBytes(*stored_bytes);
  edited = true;
}

void StagedState::NoteRemoved(const IndexEntry& entry) {
  if (HasBytesOfItsOwn(entry)) removed.push_back(entry);
}

void StagedState::NoteRemoved(int64_t first, int64_t count) {
  for (int64_t i = first; i < first + count; ++i) {
    const absl::StatusOr<IndexEntry> entry = chunks.Get(i);
    if (entry.ok()) NoteRemoved(*entry);
  }
}

void StagedState::Insert(int64_t nchunk, const format::IndexedChunk& chunk) {
  if (nchunk < chunks.size()) replaced_.clear();
  chunks.Insert(nchunk, chunk.entry);
  chunk_edits.Add(format::InsertEdit{.nchunk = nchunk, .chunk = chunk});
  Count({.nbytes = chunk.nbytes, .stored = chunk.entry.cbytes}, 1);
}

void StagedState::Replace(int64_t nchunk, const ChunkCost& old, const format::IndexedChunk& chunk) {
  NoteRemoved(nchunk, 1);
  chunks.Replace(nchunk, chunk.entry);
  replaced_[nchunk] = chunk_edits.bytes().size();
  chunk_edits.Add(format::ReplaceEdit{.nchunk = nchunk, .chunk = chunk});
  Count(old, -1);
  Count({.nbytes = chunk.nbytes, .stored = chunk.entry.cbytes}, 1);
}

void StagedState::ReplaceAgain(int64_t nchunk, const ChunkCost& old,
                               const format::IndexedChunk& chunk) {
  CAIRN_DCHECK(HasReplaced(nchunk));
  chunks.Replace(nchunk, chunk.entry);
  chunk_edits.SetChunk(replaced_[nchunk], chunk);
  Count(old, -1);
  Count({.nbytes = chunk.nbytes, .stored = chunk.entry.cbytes}, 1);
}

void StagedState::Erase(int64_t first, int64_t count, const ChunkCost& old) {
  NoteRemoved(first, count);
  if (first + count < chunks.size()) {
    replaced_.clear();
  } else {
    absl::erase_if(replaced_, [&](const auto& each) { return each.first >= first; });
  }
  chunks.Erase(first, count);
  chunk_edits.Add(format::EraseEdit{.first = first, .count = count});
  Count(old, -1);
  // A frame without chunks can have either kind next, and C-Blosc2 says so in its header.
  if (chunks.size() == 0) header.vlblocks = false;
}

absl::Status StagedState::ReorderChunks(std::span<const int64_t> order) {
  CAIRN_DCHECK(std::ssize(order) <= chunks.size());
  format::ReorderEdit edit;
  std::vector<IndexEntry> entries;
  edit.order.reserve(static_cast<size_t>(chunks.size()));
  entries.reserve(static_cast<size_t>(chunks.size()));
  for (int64_t i = 0; i < chunks.size(); ++i) {
    const int64_t nchunk = i < std::ssize(order) ? order[static_cast<size_t>(i)] : i;
    CAIRN_ASSIGN_OR_RETURN(entries.emplace_back(), chunks.Get(nchunk));
    edit.order.push_back(static_cast<uint32_t>(nchunk));
  }
  replaced_.clear();
  chunk_edits.Add(edit);
  chunks = ChunkIndex(std::move(entries));
  edited = true;
  return absl::OkStatus();
}

void StagedState::Settle() {
  edited = false;
  chunk_edits.Clear();
  layer_edits.clear();
  removed.clear();
  replaced_.clear();
  partial_replaced = false;
  needs_same_chunks = needs_same_content = false;
}

void StagedState::Record(format::LayerEdit edit) {
  edited = true;
  // Only the last content of a name counts.
  const auto same = std::ranges::find_if(layer_edits, [&](const format::LayerEdit& other) {
    return other.name == edit.name && other.kind == edit.kind;
  });
  const bool sets = edit.kind != format::LayerEdit::Kind::kDeleteVlmeta;
  if (sets && same != layer_edits.end() && std::next(same) == layer_edits.end()) {
    same->content = std::move(edit.content);
  } else {
    layer_edits.push_back(std::move(edit));
  }
}

absl::Status StagedState::ReopenLast(const ChunkCost& cost, int64_t used) {
  const int64_t last = chunks.size() - 1;
  CAIRN_ASSIGN_OR_RETURN(const IndexEntry entry, chunks.Get(last));
  // Its stored bytes stay alive as the partial chunk's.
  const size_t removed_before = removed.size();
  Erase(last, 1, {.nbytes = cost.nbytes, .stored = 0});
  removed.resize(removed_before);
  partial.head = {.entry = entry, .nbytes = static_cast<int32_t>(used)};
  partial.head->entry.cbytes = static_cast<int32_t>(cost.stored.value_or(0));
  if (used < cost.nbytes) partial.padded_to = static_cast<int32_t>(cost.nbytes);
  partial_replaced = true;
  return absl::OkStatus();
}

void StagedState::AppendPending(Bytes items, int32_t padded_to) {
  if (partial.empty() && padded_to > 0) {
    partial.padded_to = padded_to;
    partial_replaced = true;
  }
  partial.items.Append(items);
}

void StagedState::DropPartialChunk() {
  if (partial.head.has_value()) {
    NoteRemoved(partial.head->entry);
    Count({.nbytes = 0, .stored = partial.head->entry.cbytes}, -1);
  }
  partial = {};
  partial_replaced = true;
  edited = true;
}

}  // namespace cairn::frame
