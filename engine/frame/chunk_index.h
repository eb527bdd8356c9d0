// The chunks of one state in order: those of the committed index, and what edits made of them.
#ifndef CAIRN_ENGINE_FRAME_CHUNK_INDEX_H_
#define CAIRN_ENGINE_FRAME_CHUNK_INDEX_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/frame/offsets_index.h"

namespace cairn::frame {

// A value; copies share the committed index.
class ChunkIndex {
 public:
  ChunkIndex() = default;
  // `base` may be null: no chunks.
  explicit ChunkIndex(std::shared_ptr<const OffsetsIndex> base)
      : base_(std::move(base)), base_size_(base_ == nullptr ? 0 : base_->size()) {}

  int64_t size() const { return base_size_ + static_cast<int64_t>(added_.size()); }
  absl::StatusOr<IndexEntry> Get(int64_t nchunk) const;
  void Append(IndexEntry entry) { added_.push_back(entry); }
  void RemoveLast();

  // Fingerprints are checked once for each chunk of the committed index; staged ones were made
  // here.
  bool IsVerified(int64_t nchunk) const {
    return nchunk >= base_size_ || base_->IsVerified(nchunk);
  }
  void MarkVerified(int64_t nchunk) const {
    if (nchunk < base_size_) base_->MarkVerified(nchunk);
  }

 private:
  std::shared_ptr<const OffsetsIndex> base_;
  int64_t base_size_ = 0;  // chunks of base_ that are still there
  std::vector<IndexEntry> added_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_CHUNK_INDEX_H_
