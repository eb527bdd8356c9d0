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

namespace cairn::frame {

// An entry, and where it comes from. That of the committed index has its value only: the rest
// lies elsewhere, and most reads can do without.
struct FoundEntry {
  IndexEntry entry;
  int64_t committed = -1;  // its number in the committed index; -1: an edit brought it
};

// A value: copies share the committed index and most of the edits. Every edit costs O(log edits),
// whatever the number of chunks. Not thread-safe for edits, yet copies may be used in different
// threads.
class ChunkIndex {
 public:
  ChunkIndex() = default;
  // `base` may be null: no chunks.
  explicit ChunkIndex(std::shared_ptr<const CommittedIndex> base);
  // One of a committed index of so many entries that SetBase gives later; only edits until then.
  static ChunkIndex OfBase(int64_t size);
  void SetBase(const ChunkIndex& committed) { base_ = committed.base_; }
  // An index that no frame stores.
  explicit ChunkIndex(std::vector<IndexEntry> entries);

  int64_t size() const { return tree_.size() + static_cast<int64_t>(appended_.size()); }
  absl::StatusOr<IndexEntry> Get(int64_t nchunk) const;
  absl::StatusOr<FoundEntry> Find(int64_t nchunk) const;
  uint64_t FingerprintOf(const FoundEntry& found) const {
    return found.committed < 0 ? found.entry.fingerprint : base_->FingerprintOf(found.committed);
  }
  // The entries [first, first + count) in order, as many as there are, until one fails.
  absl::Status ForEach(absl::FunctionRef<absl::Status(const IndexEntry&)> visit, int64_t first = 0,
                       int64_t count = INT64_MAX) const;
  // The committed index, or null; and how many of the first entries are still its first ones.
  const CommittedIndex* base() const { return base_.get(); }
  int64_t unchanged() const;
  // Grows with edits elsewhere than at the end, and with it what each of them costs.
  int64_t pieces() const { return tree_.pieces(); }

  void Append(IndexEntry entry);
  void Insert(int64_t nchunk, IndexEntry entry);
  void Replace(int64_t nchunk, IndexEntry entry);
  void Erase(int64_t first, int64_t count);

 private:
  void Freeze();

  std::shared_ptr<const CommittedIndex> base_;
  PieceTree tree_;
  SharedAppendVector<IndexEntry> appended_;  // after the tree, until they are many
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_INDEX_CHUNK_INDEX_H_
