// Decoded blocks that small reads come back to.
#ifndef CAIRN_ENGINE_FRAME_STATE_BLOCK_CACHE_H_
#define CAIRN_ENGINE_FRAME_STATE_BLOCK_CACHE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "cairn/types.h"
#include "engine/format/index_entry.h"

namespace cairn::frame {

// A block of a stored chunk. What is stored at an offset, with a fingerprint, never changes within
// a checkpoint; see State::checkpoint_id.
struct BlockKey {
  uint64_t checkpoint_id = 0;
  format::IndexEntry entry;
  int64_t block = 0;
  bool operator==(const BlockKey&) const = default;
};

// Keeps at most 8 MiB. A block is kept when it is asked for a second time while the memory of the
// first is fresh: what is read once, as in a scan, evicts nothing. No thread waits for another:
// where one is at work, a block counts as not kept. Thread-safe; takes memory only when it is used.
class BlockCache {
 public:
  static constexpr int64_t kCapacity = int64_t{8} << 20;

  BlockCache() = default;
  ~BlockCache();
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  enum class Answer {
    kHit,    // dst is filled
    kAgain,  // not kept, but worth it: decode all of the block, and Insert it
    kMiss,
  };
  // Reads bytes from `begin` on of a block of `nbytes`.
  Answer Read(const BlockKey& key, int64_t nbytes, int64_t begin, MutableBytes dst);
  void Insert(const BlockKey& key, int64_t nbytes, std::unique_ptr<std::byte[]> bytes);

  int64_t kept_bytes() const { return kept_bytes_; }

 private:
  static constexpr size_t kWays = 4;
  static constexpr size_t kSets = 256;

  struct Way {
    BlockKey key;
    int64_t nbytes = 0;                  // 0: the way is free
    int64_t used = 0;                    // the number of the last use in its set
    std::unique_ptr<std::byte[]> bytes;  // null: asked for once
  };
  struct Set {
    std::mutex mutex;
    int64_t uses = 0;
    std::array<Way, kWays> ways;
  };

  // Null for blocks that are too large.
  Set* SetOf(const BlockKey& key, int64_t nbytes);
  // The way of the key, or null.
  static Way* Find(Set& set, const BlockKey& key, int64_t nbytes);

  std::array<std::atomic<Set*>, kSets> sets_ = {};
  std::atomic<int64_t> kept_bytes_ = 0;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_BLOCK_CACHE_H_
