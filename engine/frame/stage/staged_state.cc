#include "engine/frame/stage/staged_state.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/base/checked.h"

namespace cairn::frame {

namespace {

format::IndexedChunk Indexed(const StagedChunk& chunk) {
  return {.entry = chunk.entry,
          .nbytes = static_cast<int32_t>(chunk.cost.nbytes),
          .cbytes = static_cast<int32_t>(chunk.cost.stored.value_or(0))};
}

}  // namespace

void StagedState::Count(const ChunkCost& cost, int64_t sign) {
  header.nbytes += sign * cost.nbytes;
  stored_bytes = stored_bytes.has_value() && cost.stored.has_value()
                     ? CheckedAdd(*stored_bytes, sign * *cost.stored)
                     : std::nullopt;
  // What the base said was not so.
  if (stored_bytes.has_value() && *stored_bytes < 0) stored_bytes.reset();
  edited = true;
}

void StagedState::Insert(int64_t nchunk, const StagedChunk& chunk) {
  chunks.Insert(nchunk, chunk.entry);
  chunk_edits.Add(format::InsertEdit{.nchunk = nchunk, .chunk = Indexed(chunk)});
  Count(chunk.cost, 1);
}

void StagedState::Replace(int64_t nchunk, const ChunkCost& old, const StagedChunk& chunk) {
  chunks.Replace(nchunk, chunk.entry);
  chunk_edits.Add(format::ReplaceEdit{.nchunk = nchunk, .chunk = Indexed(chunk)});
  Count(old, -1);
  Count(chunk.cost, 1);
}

void StagedState::Erase(int64_t first, int64_t count, const ChunkCost& old) {
  chunks.Erase(first, count);
  chunk_edits.Add(format::EraseEdit{.first = first, .count = count});
  Count(old, -1);
  // A frame without chunks can have either kind next, and C-Blosc2 says so in its header.
  if (chunks.size() == 0) header.vlblocks = false;
}

void StagedState::Reorder(std::span<const int64_t> order, std::vector<IndexEntry> entries) {
  format::ReorderEdit edit;
  edit.order.reserve(order.size());
  for (const int64_t nchunk : order) edit.order.push_back(static_cast<uint32_t>(nchunk));
  chunk_edits.Add(edit);
  chunks = ChunkIndex(std::move(entries));
  edited = true;
}

void StagedState::Settle() {
  edited = false;
  chunk_edits.Clear();
  layer_edits.clear();
  tail_replaced = false;
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

void StagedState::ReopenLast(const ChunkCost& cost) {
  const int64_t last = chunks.size() - 1;
  const absl::StatusOr<IndexEntry> entry = chunks.Get(last);
  // Its stored bytes stay alive as the tail's.
  Erase(last, 1, {.nbytes = cost.nbytes, .stored = 0});
  tail.head = Indexed({.entry = *entry, .cost = cost});
  tail_replaced = true;
}

void StagedState::DropTail() {
  if (tail.head.has_value()) Count({.nbytes = 0, .stored = tail.head->cbytes}, -1);
  tail = {};
  tail_replaced = true;
  edited = true;
}

}  // namespace cairn::frame
