#include "engine/frame/tail.h"

#include <algorithm>

#include "engine/base/bytes.h"

namespace cairn::frame {

Bytes GrowingBytes::bytes() const {
  return buffer_ == nullptr ? Bytes() : Bytes(buffer_->bytes.get(), size_);
}

void GrowingBytes::Append(Bytes more) {
  if (more.empty()) return;
  const size_t end = size_ + more.size();
  // Whoever moves `used` on owns the bytes that it passes.
  size_t used = size_;
  if (end > capacity_ || !buffer_->used.compare_exchange_strong(used, end)) {
    const size_t capacity = std::max<size_t>({end, 2 * size_, 256});
    auto moved = std::make_shared<Buffer>(capacity);
    CopyBytes(bytes(), {moved->bytes.get(), capacity});
    moved->used = end;
    buffer_ = std::move(moved);
    capacity_ = capacity;
  }
  CopyBytes(more, {buffer_->bytes.get() + size_, more.size()});
  size_ = end;
}

}  // namespace cairn::frame
