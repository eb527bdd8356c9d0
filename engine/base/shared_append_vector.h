// An array that only grows, and whose copies share it.
#ifndef CAIRN_ENGINE_BASE_SHARED_APPEND_VECTOR_H_
#define CAIRN_ENGINE_BASE_SHARED_APPEND_VECTOR_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "engine/base/check.h"

namespace cairn {

// Copies cost nothing and share their elements. The first copy that appends continues in the same
// memory, after the elements that the others see. Appending is amortised O(1) per element.
// Different copies may be used in different threads.
template <typename T>
class SharedAppendVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::span<const T> span() const {
    return buffer_ == nullptr ? std::span<const T>() : std::span(buffer_->elements.get(), size_);
  }
  const T& operator[](size_t i) const {
    CAIRN_DCHECK(i < size_);
    return buffer_->elements[i];
  }
  // Shares the elements, which stay as long as the result lives.
  std::shared_ptr<const T> Share() const { return {buffer_, buffer_->elements.get()}; }

  void Append(std::span<const T> more);
  void Append(const T& element) { Append(std::span(&element, 1)); }
  void DropLast() {
    CAIRN_DCHECK(size_ > 0);
    --size_;
  }

 private:
  struct Buffer {
    explicit Buffer(size_t size) : elements(std::make_unique_for_overwrite<T[]>(size)) {}
    std::unique_ptr<T[]> elements;
    std::atomic<size_t> used = 0;  // elements of the longest copy
  };

  std::shared_ptr<Buffer> buffer_;
  size_t capacity_ = 0;
  size_t size_ = 0;
};

template <typename T>
void SharedAppendVector<T>::Append(std::span<const T> more) {
  if (more.empty()) return;
  constexpr size_t kMinCapacity = std::max<size_t>(256 / sizeof(T), 1);
  const size_t end = size_ + more.size();
  // The copy that moves `used` forward owns the elements that it passes.
  size_t used = size_;
  if (end > capacity_ || !buffer_->used.compare_exchange_strong(used, end)) {
    const size_t capacity = std::max({end, 2 * size_, kMinCapacity});
    auto moved = std::make_shared<Buffer>(capacity);
    std::ranges::copy(span(), moved->elements.get());
    moved->used = end;
    buffer_ = std::move(moved);
    capacity_ = capacity;
  }
  std::ranges::copy(more, buffer_->elements.get() + size_);
  size_ = end;
}

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_SHARED_APPEND_VECTOR_H_
