#include "engine/frame/chunk_index.h"

#include <utility>

#include "engine/base/status.h"

namespace cairn::frame {

namespace {

// Few enough to be copied with the index, many enough that appending makes few pieces.
constexpr size_t kMaxAppended = 128;

Piece RunOf(std::vector<IndexEntry> entries) {
  Piece piece{.count = static_cast<int64_t>(entries.size()), .first = 0, .run = nullptr};
  piece.run = std::make_shared<const std::vector<IndexEntry>>(std::move(entries));
  return piece;
}

}  // namespace

ChunkIndex::ChunkIndex(std::shared_ptr<const OffsetsIndex> base) : base_(std::move(base)) {
  if (base_ != nullptr) tree_.Insert(0, {.count = base_->size(), .first = 0, .run = nullptr});
}

ChunkIndex::ChunkIndex(std::vector<IndexEntry> entries) {
  tree_.Insert(0, RunOf(std::move(entries)));
}

absl::StatusOr<FoundEntry> ChunkIndex::FindAt(const PieceTree::Place& place) const {
  const int64_t number = place.piece->first + place.offset;
  if (place.piece->run != nullptr) {
    return FoundEntry{.entry = (*place.piece->run)[static_cast<size_t>(number)]};
  }
  const absl::StatusOr<int64_t> value = base_->ValueOf(number);
  if (!value.ok()) return value.status();
  return FoundEntry{.entry = {.value = *value}, .committed = number};
}

absl::StatusOr<FoundEntry> ChunkIndex::Find(int64_t nchunk) const {
  if (nchunk < tree_.size()) return FindAt(tree_.Find(nchunk));
  return FoundEntry{.entry = appended_[static_cast<size_t>(nchunk - tree_.size())]};
}

absl::StatusOr<IndexEntry> ChunkIndex::Get(int64_t nchunk) const {
  const absl::StatusOr<FoundEntry> found = Find(nchunk);
  if (!found.ok()) return found.status();
  return EntryOf(*found);
}

absl::Status ChunkIndex::ForEach(absl::FunctionRef<absl::Status(const IndexEntry&)> visit) const {
  for (int64_t n = 0; n < tree_.size();) {
    PieceTree::Place place = tree_.Find(n);
    n += place.piece->count - place.offset;
    for (; place.offset < place.piece->count; ++place.offset) {
      CAIRN_ASSIGN_OR_RETURN(const FoundEntry found, FindAt(place));
      CAIRN_RETURN_IF_ERROR(visit(EntryOf(found)));
    }
  }
  for (const IndexEntry& entry : appended_) CAIRN_RETURN_IF_ERROR(visit(entry));
  return absl::OkStatus();
}

void ChunkIndex::Freeze() {
  if (!appended_.empty()) tree_.Insert(tree_.size(), RunOf(std::exchange(appended_, {})));
}

void ChunkIndex::Append(IndexEntry entry) {
  if (appended_.size() == kMaxAppended) Freeze();
  appended_.push_back(entry);
}

void ChunkIndex::Insert(int64_t nchunk, IndexEntry entry) {
  if (nchunk == size()) return Append(entry);
  Freeze();
  tree_.Insert(nchunk, RunOf({entry}));
}

void ChunkIndex::Replace(int64_t nchunk, IndexEntry entry) {
  if (nchunk >= tree_.size()) {
    appended_[static_cast<size_t>(nchunk - tree_.size())] = entry;
    return;
  }
  tree_.Erase(nchunk, 1);
  tree_.Insert(nchunk, RunOf({entry}));
}

void ChunkIndex::Erase(int64_t first, int64_t count) {
  if (count == 1 && first + 1 == size() && !appended_.empty()) return appended_.pop_back();
  Freeze();
  tree_.Erase(first, count);
}

}  // namespace cairn::frame
