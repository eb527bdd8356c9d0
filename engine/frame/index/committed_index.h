// The index of a checkpoint, decoded page by page on first use.
#ifndef CAIRN_ENGINE_FRAME_INDEX_COMMITTED_INDEX_H_
#define CAIRN_ENGINE_FRAME_INDEX_COMMITTED_INDEX_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "engine/base/owner_process.h"
#include "engine/chunk/decoder.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"
#include "engine/frame/index/chunk_table.h"

namespace cairn::frame {

using format::IndexEntry;

// What seals the index: both or none.
struct IndexSeal {
  ChunkTable table;
  std::vector<uint64_t> pages;  // a hash for each page
  uint64_t index_hash = 0;      // of the index chunk
  int64_t uncovered = 0;        // stored chunks that the table has no fingerprint of
};

// Thread-safe. Memory: 8 bytes a page of 2,048 chunks, and up to 17 KiB for each page that was
// touched: next to nothing where a few entries are repeated all over a page, as in an index that
// takes a few bytes to store.
class CommittedIndex {
 public:
  // `chunk` is the index chunk of `nchunks` entries. One that cannot be opened is an error where it
  // has no seal; with one, each entry is.
  static absl::StatusOr<std::unique_ptr<CommittedIndex>> Open(Chunk chunk, int64_t nchunks,
                                                              std::optional<IndexSeal> seal,
                                                              chunk::WorkspacePool* pool);
  ~CommittedIndex();
  CommittedIndex(const CommittedIndex&) = delete;
  CommittedIndex& operator=(const CommittedIndex&) = delete;

  int64_t size() const { return nchunks_; }
  // Why no entry can be read; OK if that depends on the entry.
  const absl::Status& damage() const { return damage_; }
  // kDataLoss when the page does not decode or is not what was sealed. nchunk is in [0, size()).
  absl::StatusOr<int64_t> ValueOf(int64_t nchunk) const;
  // Only good once ValueOf gave the value: the page was checked then. 0: none.
  uint64_t FingerprintOf(int64_t nchunk) const {
    return seal_.has_value() ? seal_->table.FingerprintAt(nchunk) : 0;
  }
  // The same of the stored size.
  int32_t SizeOf(int64_t nchunk) const {
    return seal_.has_value() ? seal_->table.SizeAt(nchunk) : 0;
  }

  // Entries [first, first + count) in order, until one fails.
  absl::Status ForEach(int64_t first, int64_t count,
                       absl::FunctionRef<absl::Status(const IndexEntry&)> visit) const;
  // What the next index may take over as it is.
  Bytes stored() const { return chunk_.bytes(); }
  const std::optional<IndexSeal>& seal() const { return seal_; }

  // Whether marks of verified chunks count: a forked child trusts none of its parent's.
  bool keeps_marks() const { return owner_.is_here(); }
  // Whether the bytes of a chunk were verified through this index; see VerifyPolicy::kFirstTouch.
  bool IsVerified(int64_t nchunk) const;
  void MarkVerified(int64_t nchunk) const;

 private:
  struct Page {
    int64_t At(size_t i) const { return entries[i < count ? i : i % count]; }

    std::unique_ptr<int64_t[]> entries;
    size_t count = 0;  // of entries, which repeat after it
    std::array<std::atomic<uint64_t>, format::kPageEntries / 64> verified{};
  };

  CommittedIndex(Chunk chunk, chunk::Decoder decoder, absl::Status damage, int64_t nchunks,
                 std::optional<IndexSeal> seal);
  absl::StatusOr<const Page*> GetPage(int64_t page) const;
  absl::StatusOr<std::unique_ptr<Page>> DecodePage(int64_t page) const;
  absl::Status CheckPage(int64_t page, Bytes raw) const;

  Chunk chunk_;
  chunk::Decoder decoder_;
  absl::Status damage_;  // why there is no decoder
  int64_t nchunks_;
  std::optional<IndexSeal> seal_;
  const OwnerProcess owner_;
  // Filled on first touch; a page never changes once it is here.
  mutable std::vector<std::atomic<Page*>> pages_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_INDEX_COMMITTED_INDEX_H_
