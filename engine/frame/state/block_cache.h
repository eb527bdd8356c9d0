// Keeps decoded blocks that small reads ask for again.
#ifndef CAIRN_ENGINE_FRAME_STATE_BLOCK_CACHE_H_
#define CAIRN_ENGINE_FRAME_STATE_BLOCK_CACHE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "cairn/types.h"
#include "engine/format/index_entry.h"

namespace cairn::frame {

// Names a block of a stored chunk, or all of it. The bytes that are stored at an offset never
// change within a checkpoint (see State::checkpoint_id). Within a frame they do not change as long
// as their fingerprint does not.
struct BlockKey {
  static constexpr int64_t kWholeChunk = -1;
  uint64_t owner = 0;        // the checkpoint, or the frame
  format::IndexEntry entry;  // its value, and the fingerprint
  int64_t block = 0;
  bool operator==(const BlockKey&) const = default;
};

// Keeps at most this many bytes. A block is kept when it is asked for a second time while the
// memory of the first is fresh. So bytes that are read once, as in a scan, evict nothing. No thread
// waits for another: while a thread works on a set, its blocks count as not kept. Thread-safe.
// Takes memory only when it is used.
class BlockCache {
 public:
  explicit BlockCache(int64_t capacity);
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
  // Replaces a block by another one of its size. If the old block is kept, the new one is kept from
  // now on.
  void Replace(const BlockKey& before, const BlockKey& key, Bytes bytes);

  int64_t kept_bytes() const { return kept_bytes_; }

 private:
  static constexpr size_t kWays = 4;

  struct Way {
    BlockKey key;
    int64_t nbytes = 0;                  // 0: the way is free
    int64_t used = 0;                    // number of the last use in its set
    std::unique_ptr<std::byte[]> bytes;  // null: asked for once
  };
  struct Set {
    std::atomic<bool> is_taken = false;
    int64_t uses = 0;
    std::array<Way, kWays> ways;
  };

  // Holds a set, or none if another thread works on it, so that nobody waits.
  class Turn {
   public:
    explicit Turn(Set* set)
        : set_(set != nullptr && !set->is_taken.exchange(true, std::memory_order_acquire)
                   ? set
                   : nullptr) {}
    ~Turn() {
      if (set_ != nullptr) set_->is_taken.store(false, std::memory_order_release);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    explicit operator bool() const { return set_ != nullptr; }

   private:
    Set* const set_;
  };

  // Returns null for blocks that are too large.
  Set* SetOf(const BlockKey& key, int64_t nbytes);
  // Returns the way of the key, or null.
  static Way* Find(Set& set, const BlockKey& key, int64_t nbytes);
  // Gives the key the way that was not used for longest. Returns the bytes that it had.
  std::unique_ptr<std::byte[]> MakeRoom(Set& set, const BlockKey& key, int64_t nbytes);

  const int64_t capacity_;
  std::vector<std::atomic<Set*>> sets_;
  std::atomic<int64_t> kept_bytes_ = 0;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_BLOCK_CACHE_H_
