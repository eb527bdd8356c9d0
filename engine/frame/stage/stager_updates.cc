#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/frame/read/chunk_reader.h"
#include "engine/frame/read/range_reader.h"
#include "engine/frame/stage/stager.h"

namespace cairn::frame {

// A complete chunk, as all but the last are.
bool Stager::MayKeep(int64_t nchunk) const {
  const int64_t chunksize = staged_.header.chunksize;
  return dirty_.Suits(chunksize) && nchunk < staged_.header.nbytes / chunksize &&
         CheckChunkNbytes(*base_, chunksize).ok();
}

absl::Status Stager::UpdateChunk(int64_t nchunk, Bytes items) {
  CAIRN_RETURN_IF_ERROR(CheckTakesItems());
  CAIRN_RETURN_IF_ERROR(CheckUpdate(nchunk, std::ssize(items)));
  CAIRN_RETURN_IF_ERROR(chunk_writer_.CheckOptions());
  CAIRN_RETURN_IF_ERROR(ClosePartialChunk());
  if (MayKeep(nchunk) && std::ssize(items) == staged_.header.chunksize) {
    CAIRN_RETURN_IF_ERROR(MakeRoom(nchunk, nchunk));
    CopyBytes(items, Keep(nchunk));
    return absl::OkStatus();
  }
  CAIRN_RETURN_IF_ERROR(EncodeDirty());
  return UpdateMade(nchunk, std::ssize(items), [&] { return chunk_writer_.FromItems(items); });
}

// For updates of these chunks, whose entries can be read.
absl::Status Stager::MakeRoom(int64_t first, int64_t last) {
  int64_t more = 0;
  for (int64_t i = first; i <= last; ++i) {
    if (dirty_.Has(i)) continue;
    CAIRN_RETURN_IF_ERROR(staged_.chunks.Get(i).status());
    ++more;
  }
  return dirty_.HasRoomFor(more, staged_.header.chunksize) ? absl::OkStatus() : EncodeDirty();
}

MutableBytes Stager::Keep(int64_t nchunk) {
  staged_.edited = true;
  return dirty_.Put(nchunk, staged_.header.chunksize);
}

absl::Status Stager::EncodeDirty() {
  for (const int64_t nchunk : dirty_.Numbers()) {
    CAIRN_ASSIGN_OR_RETURN(const ChunkCost old, CostOf(nchunk));
    CAIRN_ASSIGN_OR_RETURN(const format::IndexedChunk chunk,
                           Remembered(chunk_writer_.FromItems(dirty_.Find(nchunk))));
    RenewCached(nchunk, chunk.entry);
    Replace(nchunk, old, chunk);
  }
  dirty_.Clear();
  return absl::OkStatus();
}

// Readers who have asked for the chunk again and again will ask for what it becomes.
void Stager::RenewCached(int64_t nchunk, const IndexEntry& entry) const {
  if (base_->env()->blocks.kept_bytes() == 0) return;
  const absl::StatusOr<FoundEntry> found = staged_.chunks.Find(nchunk);
  if (!found.ok() || format::IsSpecialEntry(entry.value) || !base_->checkpoint->seal_holds) return;
  const BlockKey before = BlockKeyOf(*base_, *found, BlockKey::kWholeChunk);
  BlockKey after = before;
  after.entry = {.value = entry.value, .fingerprint = entry.fingerprint};
  if (before.owner == base_->checkpoint->seal->nonce) {
    base_->env()->blocks.Replace(before, after, dirty_.Find(nchunk));
  }
}

void Stager::Replace(int64_t nchunk, const ChunkCost& old, const format::IndexedChunk& chunk) {
  if (staged_.HasReplaced(nchunk)) {
    const absl::StatusOr<IndexEntry> before = staged_.chunks.Get(nchunk);
    if (before.ok() && sink_.TakeBack(*before)) return staged_.ReplaceAgain(nchunk, old, chunk);
  }
  staged_.Replace(nchunk, old, chunk);
}

// A state that has this chunk as it is staged, if it is not kept: the base, where that has the
// same.
absl::StatusOr<StatePtr> Stager::StateWith(int64_t nchunk) {
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

absl::Status Stager::ReadChunk(int64_t nchunk, MutableBytes dst) {
  const int64_t count = staged_.nchunks();
  if (nchunk < 0 || nchunk >= count) return OutOfRange("chunk %d of %d", nchunk, count);
  const Bytes kept = dirty_.Find(nchunk);
  if (kept.empty()) {
    const absl::StatusOr<StatePtr> state = StateWith(nchunk);
    if (state.ok()) return frame::ReadChunk(**state, nchunk, dst);
    // Chunks that wait to be written are written first. A full disk refuses that, and they wait on:
    // nothing is lost, so the writer stays usable.
    return absl::IsResourceExhausted(state.status()) ? state.status() : Remember(state.status());
  }
  CAIRN_RETURN_IF_ERROR(CheckChunkBuffer(nchunk, std::ssize(kept), dst));
  CopyBytes(kept, dst);
  return absl::OkStatus();
}

// The items of a staged chunk.
absl::StatusOr<std::vector<std::byte>> Stager::ReadWhole(int64_t nchunk) {
  const Bytes kept = dirty_.Find(nchunk);
  if (!kept.empty()) return ToVector(kept);
  const absl::StatusOr<StatePtr> state = StateWith(nchunk);
  CAIRN_RETURN_IF_ERROR(Remember(state.status()));
  return ReadWholeChunk(**state, nchunk, (*state)->env()->verify);
}

// Makes the chunk that holds byte `begin` anew, with as many of the items as it takes. Returns how
// many bytes those are.
absl::StatusOr<int64_t> Stager::OverwriteAt(const State& state, int64_t begin, Bytes items,
                                            std::vector<Update>& updates) {
  CAIRN_ASSIGN_OR_RETURN(const DecodedOffsets::Place at, FindByte(state, begin));
  CAIRN_ASSIGN_OR_RETURN(const ChunkCost old, CostOf(at.nchunk));
  const int64_t from = begin - at.begin;
  const int64_t taken = std::min<int64_t>(std::ssize(items), old.nbytes - from);
  std::vector<std::byte> content;
  if (taken < old.nbytes) {
    CAIRN_ASSIGN_OR_RETURN(content, ReadWholeChunk(state, at.nchunk, state.env()->verify));
  } else {
    content.resize(static_cast<size_t>(taken));
  }
  // Another process may have changed the chunk's own header since it was read.
  if (taken <= 0 || !RangeFits(from, taken, std::ssize(content))) {
    return DataLoss("chunk %d: its size has changed", at.nchunk);
  }
  CopyBytes(items.first(static_cast<size_t>(taken)),
            MutableBytes(content).subspan(static_cast<size_t>(from)));
  CAIRN_RETURN_IF_ERROR(Recode(at.nchunk, old, content, updates));
  return taken;
}

// Of all items that the chunk is to hold.
absl::Status Stager::Recode(int64_t nchunk, const ChunkCost& old, Bytes content,
                            std::vector<Update>& updates) {
  CAIRN_ASSIGN_OR_RETURN(const format::IndexedChunk chunk,
                         Remembered(chunk_writer_.FromItems(content)));
  updates.push_back({.nchunk = nchunk, .old = old, .chunk = chunk});
  return absl::OkStatus();
}

void Stager::Apply(const std::vector<Update>& updates) {
  for (const Update& update : updates) Replace(update.nchunk, update.old, update.chunk);
}

// Of chunks that may be kept. Only the first and the last of them can be covered in part: what
// cannot be read leaves nothing half changed.
absl::Status Stager::UpdateKept(int64_t begin, Bytes items) {
  const int64_t chunksize = staged_.header.chunksize;
  const int64_t end = begin + std::ssize(items);
  const int64_t first = begin / chunksize;
  const int64_t last = (end - 1) / chunksize;
  CAIRN_RETURN_IF_ERROR(MakeRoom(first, last));
  std::vector<std::pair<int64_t, std::vector<std::byte>>> parts;
  for (const int64_t nchunk : {first, last}) {
    const bool all = begin <= nchunk * chunksize && (nchunk + 1) * chunksize <= end;
    if (all || dirty_.Has(nchunk)) continue;
    CAIRN_ASSIGN_OR_RETURN(std::vector<std::byte> content, ReadWhole(nchunk));
    if (std::ssize(content) != chunksize) return DataLoss("chunk %d: its size has changed", nchunk);
    parts.emplace_back(nchunk, std::move(content));
  }
  for (const auto& [nchunk, content] : parts) CopyBytes(content, Keep(nchunk));
  for (int64_t nchunk = first; nchunk <= last; ++nchunk) {
    const int64_t from = std::max(begin - nchunk * chunksize, int64_t{0});
    const auto size = static_cast<size_t>(std::min<int64_t>(chunksize - from, std::ssize(items)));
    CopyBytes(items.first(size), Keep(nchunk).subspan(static_cast<size_t>(from)));
    items = items.subspan(size);
  }
  return absl::OkStatus();
}

absl::Status Stager::WriteItems(int64_t start, Bytes items) {
  const int64_t typesize = staged_.header.typesize;
  const auto size = static_cast<int64_t>(items.size());
  if (size % typesize != 0) {
    return InvalidArgument("%d bytes are no whole items of %d", size, typesize);
  }
  if (!RangeFits(start, size / typesize, staged_.nbytes() / typesize)) {
    return OutOfRange("items from %d on, %d of them, of %d", start, size / typesize,
                      staged_.nbytes() / typesize);
  }
  if (items.empty()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(CheckTakesItems());
  CAIRN_RETURN_IF_ERROR(chunk_writer_.CheckOptions());
  CAIRN_RETURN_IF_ERROR(ClosePartialChunk());
  int64_t begin = start * typesize;
  const int64_t chunksize = staged_.header.chunksize;
  if (chunksize > 0 && MayKeep((begin + size - 1) / chunksize) &&
      dirty_.HasRoomInAllFor(size / chunksize + 2, chunksize)) {
    return UpdateKept(begin, items);
  }
  CAIRN_ASSIGN_OR_RETURN(const StatePtr state, View());
  // All chunks are made before the first takes its place, so that one that cannot be read leaves
  // nothing half changed.
  std::vector<Update> updates;
  while (!items.empty()) {
    CAIRN_ASSIGN_OR_RETURN(const int64_t taken, OverwriteAt(*state, begin, items, updates));
    items = items.subspan(static_cast<size_t>(taken));
    begin += taken;
  }
  Apply(updates);
  return absl::OkStatus();
}

}  // namespace cairn::frame
