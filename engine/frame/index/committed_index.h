// The index of a checkpoint, whose pages are decoded on first use.
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

// The parts that seal the index. There are both or none.
struct IndexSeal {
  ChunkTable table;
  std::vector<uint64_t> pages;  // a hash for each page
  uint64_t index_hash = 0;      // of the index chunk
  int64_t uncovered = 0;        // stored chunks without a fingerprint in the table
};

// Thread-safe. It takes 8 bytes for each page of 2,048 chunks, and up to 17 KiB for each page that
// was read. A page takes almost nothing if it repeats a few entries, as in an index that takes a
// few bytes to store.
class CommittedIndex {
 public:
  // Opens an index. `chunk` is the index chunk of `nchunks` entries. If it cannot be opened, this
  // fails without a seal. With a seal, each read of an entry fails instead.
  static absl::StatusOr<std::unique_ptr<CommittedIndex>> Open(Chunk chunk, int64_t nchunks,
                                                              std::optional<IndexSeal> seal,
                                                              chunk::WorkspacePool* pool);
  ~CommittedIndex();
  CommittedIndex(const CommittedIndex&) = delete;
  CommittedIndex& operator=(const CommittedIndex&) = delete;

  int64_t size() const { return nchunks_; }
  // Returns why no entry can be read, or OK if that depends on the entry.
  const absl::Status& damage() const { return damage_; }
  // Returns an entry's value. nchunk is in [0, size()). Errors: kDataLoss if the page does not
  // decode or does not match the seal.
  absl::StatusOr<int64_t> ValueOf(int64_t nchunk) const;
  // Returns a fingerprint, or 0 if there is none. Call ValueOf first, because that checks the page.
  uint64_t FingerprintOf(int64_t nchunk) const {
    return seal_.has_value() ? seal_->table.FingerprintAt(nchunk) : 0;
  }
  // Returns a stored size, or 0 if it is not known. Call ValueOf first, because that checks the
  // page.
  int32_t SizeOf(int64_t nchunk) const {
    return seal_.has_value() ? seal_->table.SizeAt(nchunk) : 0;
  }

  // Visits entries [first, first + count) in order, until a call fails.
  absl::Status ForEach(int64_t first, int64_t count,
                       absl::FunctionRef<absl::Status(const IndexEntry&)> visit) const;
  // Returns the stored chunk, which the next index may take over unchanged.
  Bytes stored() const { return chunk_.bytes(); }
  const std::optional<IndexSeal>& seal() const { return seal_; }

  // Returns true if marks of verified chunks count. A forked child does not trust its parent's
  // marks.
  bool keeps_marks() const { return owner_.is_here(); }
  // Returns true if the bytes of a chunk were verified through this index; see
  // VerifyPolicy::kFirstTouch.
  bool IsVerified(int64_t nchunk) const;
  void MarkVerified(int64_t nchunk) const;

 private:
  struct Page {
    int64_t At(size_t i) const { return entries[i < count ? i : i % count]; }

    std::unique_ptr<int64_t[]> entries;
    size_t count = 0;  // number of entries, after which they repeat
    std::array<std::atomic<uint64_t>, format::kPageEntries / 64> verified{};
  };

  CommittedIndex(Chunk chunk, chunk::Decoder decoder, absl::Status damage, int64_t nchunks,
                 std::optional<IndexSeal> seal);
  absl::StatusOr<const Page*> GetPage(int64_t page) const;
  absl::StatusOr<std::unique_ptr<Page>> DecodePage(int64_t page) const;
  absl::Status CheckPage(int64_t page, Bytes raw) const;

  Chunk chunk_;
  chunk::Decoder decoder_;
  absl::Status damage_;  // tells why there is no decoder
  int64_t nchunks_;
  std::optional<IndexSeal> seal_;
  const OwnerProcess owner_;
  // Pages are decoded on first use. A page never changes once it is here.
  mutable std::vector<std::atomic<Page*>> pages_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_INDEX_COMMITTED_INDEX_H_
