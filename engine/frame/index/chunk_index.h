// The chunks of one state in order: those of the committed index, changed by edits.
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
// whatever the number of chunks is. Not thread-safe for edits, but copies may be used in different
// threads.
class ChunkIndex {
 public:
  ChunkIndex() = default;
  // `base` may be null, which means no chunks.
  explicit ChunkIndex(std::shared_ptr<const CommittedIndex> base);
  // Makes the index of a summary. `committed` is the committed index that the summary belongs to.
  ChunkIndex(const ChunkIndex& committed, std::shared_ptr<const SummarizedIndex> summary);
  // Makes the index of a committed one with this many entries, which SetBase gives later. Until
  // then only edits are allowed.
  static ChunkIndex OfBase(int64_t size);
  void SetBase(const ChunkIndex& committed) { base_ = committed.base_; }
  // Makes an index that no frame stores.
  explicit ChunkIndex(std::vector<IndexEntry> entries);

  int64_t size() const { return tree_.size() + static_cast<int64_t>(appended_.size()); }
  absl::StatusOr<IndexEntry> Get(int64_t nchunk) const;
  absl::StatusOr<FoundEntry> Find(int64_t nchunk) const;
  // Returns the number of the chunk's entry in the committed index, or -1 if it has none there.
  int64_t CommittedNumberOf(int64_t nchunk) const;
  uint64_t FingerprintOf(const FoundEntry& found) const {
    return found.committed < 0 ? found.entry.fingerprint : base_->FingerprintOf(found.committed);
  }
  // Returns the size of the stored chunk, or 0 if that is not known.
  int64_t StoredSizeOf(const FoundEntry& found) const {
    return found.committed < 0 ? found.entry.cbytes : base_->SizeOf(found.committed);
  }
  // Visits the entries [first, first + count) in order, or as many as there are, until a call
  // fails.
  absl::Status ForEach(absl::FunctionRef<absl::Status(const IndexEntry&)> visit, int64_t first = 0,
                       int64_t count = INT64_MAX) const;
  // Returns the committed index, or null. `unchanged` tells how many of the first entries are still
  // its first ones.
  const CommittedIndex* base() const { return base_.get(); }
  int64_t unchanged() const;
  // The number of pieces grows with edits elsewhere than at the end. So does the cost of each such
  // edit.
  int64_t pieces() const;
  // The content of a summary. `entries` are those that it must add to the tables of `summary()`.
  struct Flat {
    std::vector<format::IndexPiece> pieces;
    std::vector<IndexEntry> entries;
  };
  Flat Flatten() const;
  // Returns the pieces since the last summary. Their number bounds the cost of Flatten, apart from
  // that summary.
  int64_t new_pieces() const { return tree_.pieces(); }
  // Returns the summary that this index continues, or null.
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
  // If null, pieces without a run belong to the committed index. Otherwise they belong to this one,
  // which refers to it.
  std::shared_ptr<const SummarizedIndex> summary_;
  PieceTree tree_;
  SharedAppendVector<IndexEntry> appended_;  // come after the tree, until there are many
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_INDEX_CHUNK_INDEX_H_
