#include "engine/frame/index/chunk_index.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/status.h"

namespace cairn::frame {

namespace {

// This many are enough that appending makes few pieces.
constexpr size_t kMaxAppended = 1024;

}  // namespace

ChunkIndex::ChunkIndex(std::shared_ptr<const CommittedIndex> base) : base_(std::move(base)) {
  if (base_ != nullptr) tree_.Insert(0, {.count = base_->size()});
}

ChunkIndex::ChunkIndex(const ChunkIndex& committed, std::shared_ptr<const SummarizedIndex> summary)
    : base_(committed.base_), summary_(std::move(summary)) {
  tree_.Insert(0, {.count = summary_->size()});
}

ChunkIndex ChunkIndex::OfBase(int64_t size) {
  ChunkIndex index;
  index.tree_.Insert(0, {.count = size});
  return index;
}

ChunkIndex::ChunkIndex(std::vector<IndexEntry> entries) {
  const auto run = std::make_shared<const std::vector<IndexEntry>>(std::move(entries));
  tree_.Insert(0, {.count = std::ssize(*run), .run = {run, run->data()}});
}

absl::StatusOr<FoundEntry> ChunkIndex::Find(int64_t nchunk) const {
  if (nchunk >= tree_.size()) {
    return FoundEntry{.entry = appended_[static_cast<size_t>(nchunk - tree_.size())]};
  }
  const PieceTree::Place place = tree_.Find(nchunk);
  if (const IndexEntry* const entries = place.piece->entries(); entries != nullptr) {
    return FoundEntry{.entry = entries[place.offset]};
  }
  int64_t number = place.piece->first + place.offset;
  if (summary_ != nullptr) {
    const FoundEntry found = summary_->Find(number);
    if (found.committed < 0) return found;
    number = found.committed;
  }
  CAIRN_ASSIGN_OR_RETURN(const int64_t value, base_->ValueOf(number));
  return FoundEntry{.entry = {.value = value}, .committed = number};
}

int64_t ChunkIndex::CommittedNumberOf(int64_t nchunk) const {
  if (nchunk >= tree_.size()) return -1;
  const PieceTree::Place place = tree_.Find(nchunk);
  if (place.piece->entries() != nullptr) return -1;
  const int64_t number = place.piece->first + place.offset;
  return summary_ == nullptr ? number : summary_->Find(number).committed;
}

absl::StatusOr<IndexEntry> ChunkIndex::Get(int64_t nchunk) const {
  CAIRN_ASSIGN_OR_RETURN(const FoundEntry found, Find(nchunk));
  if (found.committed < 0) return found.entry;
  return IndexEntry{.value = found.entry.value,
                    .fingerprint = base_->FingerprintOf(found.committed),
                    .cbytes = base_->SizeOf(found.committed)};
}

absl::Status ChunkIndex::ForEachOfBase(absl::FunctionRef<absl::Status(const IndexEntry&)> visit,
                                       int64_t first, int64_t count) const {
  if (summary_ == nullptr) return base_->ForEach(first, count, visit);
  return summary_->ForEachPart(first, count, [&](int64_t source, int64_t size) {
    if (source >= 0) return base_->ForEach(source, size, visit);
    for (int64_t i = 0; i < size; ++i) CAIRN_RETURN_IF_ERROR(visit(summary_->EntryOf(~source + i)));
    return absl::OkStatus();
  });
}

absl::Status ChunkIndex::ForEach(absl::FunctionRef<absl::Status(const IndexEntry&)> visit,
                                 int64_t first, int64_t count) const {
  const int64_t end = first + std::min(count, size() - first);
  while (first < std::min(end, tree_.size())) {
    const PieceTree::Place place = tree_.Find(first);
    const Piece& piece = *place.piece;
    const int64_t run_count = std::min(piece.count - place.offset, end - first);
    first += run_count;
    if (piece.entries() == nullptr) {
      CAIRN_RETURN_IF_ERROR(ForEachOfBase(visit, piece.first + place.offset, run_count));
      continue;
    }
    const IndexEntry* const run = piece.entries() + place.offset;
    for (int64_t i = 0; i < run_count; ++i) CAIRN_RETURN_IF_ERROR(visit(run[i]));
  }
  for (; first < end; ++first) {
    CAIRN_RETURN_IF_ERROR(visit(appended_[static_cast<size_t>(first - tree_.size())]));
  }
  return absl::OkStatus();
}

int64_t ChunkIndex::unchanged() const {
  if (tree_.size() == 0) return 0;
  const Piece& piece = *tree_.Find(0).piece;
  if (piece.entries() != nullptr || piece.first != 0) return 0;
  return summary_ == nullptr ? piece.count : std::min(piece.count, summary_->unchanged());
}

int64_t ChunkIndex::pieces() const {
  return tree_.pieces() + (summary_ == nullptr ? 0 : std::ssize(summary_->pieces()) - 1);
}

ChunkIndex::Flat ChunkIndex::Flatten() const {
  Flat flat;
  int64_t end = 0;
  int64_t last_count = 0;
  const auto add = [&](int64_t source, int64_t count) {
    const int64_t last = flat.pieces.empty() ? 0 : flat.pieces.back().source;
    const bool goes_on = end > 0 && (source < 0) == (last < 0) &&
                         source == (last < 0 ? last - last_count : last + last_count);
    if (!goes_on) {
      flat.pieces.push_back({.begin = end, .source = source});
      last_count = 0;
    }
    last_count += count;
    end += count;
    return absl::OkStatus();
  };
  const int64_t before = summary_ == nullptr ? 0 : summary_->entries();
  const auto add_new = [&](std::span<const IndexEntry> entries) {
    add(~(before + std::ssize(flat.entries)), std::ssize(entries)).IgnoreError();
    flat.entries.insert(flat.entries.end(), entries.begin(), entries.end());
  };
  tree_.ForEach([&](const Piece& piece) {
    if (const IndexEntry* const entries = piece.entries(); entries != nullptr) {
      add_new({entries, static_cast<size_t>(piece.count)});
    } else if (summary_ != nullptr) {
      summary_->ForEachPart(piece.first, piece.count, add).IgnoreError();
    } else {
      add(piece.first, piece.count).IgnoreError();
    }
  });
  if (!appended_.empty()) add_new(appended_.span());
  CAIRN_DCHECK(end == size());
  return flat;
}

void ChunkIndex::Freeze() {
  if (appended_.empty()) return;
  tree_.Insert(tree_.size(),
               {.count = static_cast<int64_t>(appended_.size()), .run = appended_.Share()});
  appended_ = {};
}

void ChunkIndex::Append(IndexEntry entry) {
  if (appended_.size() == kMaxAppended) Freeze();
  appended_.Append(entry);
}

void ChunkIndex::Insert(int64_t nchunk, IndexEntry entry) {
  CAIRN_DCHECK(0 <= nchunk && nchunk <= size());
  if (nchunk == size()) return Append(entry);
  Freeze();
  tree_.Insert(nchunk, {.count = 1, .only = entry});
}

void ChunkIndex::Replace(int64_t nchunk, IndexEntry entry) {
  // Copies may share the appended entries.
  if (nchunk >= tree_.size()) Freeze();
  tree_.Replace(nchunk, {.count = 1, .only = entry});
}

void ChunkIndex::Erase(int64_t first, int64_t count) {
  if (count == 1 && first + 1 == size() && !appended_.empty()) return appended_.DropLast();
  Freeze();
  tree_.Erase(first, count);
}

}  // namespace cairn::frame
