// Memory for a caller's intermediate bytes.
#ifndef CAIRN_ENGINE_BASE_SCRATCH_BUFFER_H_
#define CAIRN_ENGINE_BASE_SCRATCH_BUFFER_H_

#include <cstddef>
#include <memory>
#include <new>

#include "cairn/types.h"

namespace cairn {

// A reusable, uninitialised buffer. It is aligned to a cache line because a vector store that
// splits a line costs up to twice as much.
class ScratchBuffer {
 public:
  // Returns the first `size` bytes. Invalidates what Get returned before.
  MutableBytes Get(size_t size) {
    if (size > capacity_) {
      bytes_.reset();
      bytes_.reset(static_cast<std::byte*>(::operator new[](size, kLine)));
      capacity_ = size;
    }
    return {bytes_.get(), size};
  }

 private:
  static constexpr std::align_val_t kLine{64};
  struct Free {
    void operator()(std::byte* bytes) const { ::operator delete[](bytes, kLine); }
  };

  std::unique_ptr<std::byte[], Free> bytes_;
  size_t capacity_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_SCRATCH_BUFFER_H_
