// The chunks of one state in order: those of the committed index, and what edits made of them.
#ifndef CAIRN_ENGINE_FRAME_INDEX_CHUNK_INDEX_H_
#define CAIRN_ENGINE_FRAME_INDEX_CHUNK_INDEX_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/base/shared_append_vector.h"
#include "engine/frame/index/committed_index.h"
#include "engine/frame/index/piece_tree.h"
#include "engine/frame/index/summarized_index.h"

namespace cairn::frame {

// A value: copies share the committed index and most of the edits. Every edit costs O(log edits),
// whatever the number of chunks. Not thread-safe for edits, yet copies may be used in different
// threads.
class ChunkIndex {
 public:
  ChunkIndex() = default;
  // `base` may be null: no chunks.
  explicit ChunkIndex(std::shared_ptr<const CommittedIndex> base);
  // The chunks of a summary, which is of the committed index of `committed`.
  ChunkIndex(const ChunkIndex& committed, std::shared_ptr<const SummarizedIndex> summary);
  // One of a committed index of so many entries that SetBase gives later; only edits until then.
  static ChunkIndex OfBase(int64_t size);
  void SetBase(const ChunkIndex& committed) { base_ = committed.base_; }
  // An index that no frame stores.
  explicit ChunkIndex(std::vector<IndexEntry> entries);

  int64_t size() const { return tree_.size() + static_cast<int64_t>(appended_.size()); }
  absl::StatusOr<IndexEntry> Get(int64_t nchunk) const;
  absl::StatusOr<FoundEntry> Find(int64_t nchunk) const;
  // Which entry of the committed index that is; -1: none.
  int64_t CommittedNumberOf(int64_t nchunk) const;
  uint64_t FingerprintOf(const FoundEntry& found) const {
    return found.committed < 0 ? found.entry.fingerprint : base_->FingerprintOf(found.committed);
  }
  // Of the stored chunk; 0 where that is not known.
  int64_t StoredSizeOf(const FoundEntry& found) const {
    return found.committed < 0 ? found.entry.cbytes : base_->SizeOf(found.committed);
  }
  // The entries [first, first + count) in order, as many as there are, until one fails.
  absl::Status ForEach(absl::FunctionRef<absl::Status(const IndexEntry&)> visit, int64_t first = 0,
                       int64_t count = INT64_MAX) const;
  // The committed index, or null; and how many of the first entries are still its first ones.
  const CommittedIndex* base() const { return base_.get(); }
  int64_t unchanged() const;
  // Grows with edits elsewhere than at the end, and with it what each of them costs.
  int64_t pieces() const;
  // What a summary says. `entries` are those that it has to add to the tables of `summary()`.
  struct Flat {
    std::vector<format::IndexPiece> pieces;
    std::vector<IndexEntry> entries;
  };
  Flat Flatten() const;
  // Pieces since the last summary, whose number bounds what Flatten costs beside it.
  int64_t new_pieces() const { return tree_.pieces(); }
  // The summary that this goes on from, or null.
  const SummarizedIndex* summary() const { return summary_.get(); }

  void Append(IndexEntry entry);
  void Insert(int64_t nchunk, IndexEntry entry);
  void Replace(int64_t nchunk, IndexEntry entry);
  void Erase(int64_t first, int64_t count);

 private:
  void Freeze();
  absl::Status ForEachOfBase(absl::FunctionRef<absl::Status(const IndexEntry&)> visit,
                             int64_t first, int64_t count) const;

  std::shared_ptr<const CommittedIndex> base_;
  // Null: pieces without a run are of the committed index; else of this, which refers to it.
  std::shared_ptr<const SummarizedIndex> summary_;
  PieceTree tree_;
  SharedAppendVector<IndexEntry> appended_;  // after the tree, until they are many
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_INDEX_CHUNK_INDEX_H_
