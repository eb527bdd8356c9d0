// The items of the last chunk while it is being filled.
#ifndef CAIRN_ENGINE_FRAME_TAIL_H_
#define CAIRN_ENGINE_FRAME_TAIL_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "cairn/types.h"
#include "engine/frame/offsets_index.h"

namespace cairn::frame {

// A buffer that only grows. Copies cost nothing and share their bytes; the first copy that appends
// goes on in the same memory, behind what the others see. Appending is amortised O(1) a byte.
// Different copies may be used in different threads.
class GrowingBytes {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Bytes bytes() const;
  void Append(Bytes more);

 private:
  struct Buffer {
    explicit Buffer(size_t size) : bytes(std::make_unique_for_overwrite<std::byte[]>(size)) {}
    std::unique_ptr<std::byte[]> bytes;
    std::atomic<size_t> used = 0;  // by the longest of the copies
  };

  std::shared_ptr<Buffer> buffer_;
  size_t capacity_ = 0;
  size_t size_ = 0;
};

// A stored chunk, no longer in the index, with which a tail begins.
struct TailHead {
  IndexEntry entry;
  int64_t nbytes = 0;
  int64_t stored = 0;
};

// Cheap to copy. Only frames of fixed chunks have one.
struct Tail {
  std::optional<TailHead> head;
  GrowingBytes items;  // behind the head's

  int64_t nbytes() const {
    return (head.has_value() ? head->nbytes : 0) + static_cast<int64_t>(items.size());
  }
  bool empty() const { return nbytes() == 0; }
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_TAIL_H_
