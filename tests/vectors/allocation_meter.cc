#include "tests/vectors/allocation_meter.h"

#include <atomic>
#include <cstdlib>
#include <malloc.h>
#include <new>

namespace cairn::vectors {
namespace {

// Replacing operator new leaves no other place for these.
std::atomic<int64_t> live_bytes{0};
std::atomic<int64_t> peak_bytes{0};
std::atomic<int64_t> largest_bytes{0};

void RaiseTo(std::atomic<int64_t>& mark, int64_t value) {
  int64_t old = mark.load();
  while (old < value && !mark.compare_exchange_weak(old, value)) {
  }
}

void* Count(void* pointer) {
  if (pointer == nullptr) std::abort();
  const auto size = static_cast<int64_t>(malloc_usable_size(pointer));
  RaiseTo(peak_bytes, live_bytes.fetch_add(size) + size);
  RaiseTo(largest_bytes, size);
  return pointer;
}

void Release(void* pointer) {
  if (pointer == nullptr) return;
  live_bytes.fetch_sub(static_cast<int64_t>(malloc_usable_size(pointer)));
  std::free(pointer);
}

void* Allocate(size_t size) { return Count(std::malloc(size == 0 ? 1 : size)); }

void* AllocateAligned(size_t size, std::align_val_t alignment) {
  const auto step = static_cast<size_t>(alignment);
  return Count(std::aligned_alloc(step, (size + step - 1) / step * step));
}

}  // namespace

AllocationMeter::AllocationMeter() : start_(live_bytes.load()) {
  peak_bytes = start_;
  largest_bytes = 0;
}

int64_t AllocationMeter::largest() const { return largest_bytes.load(); }

int64_t AllocationMeter::peak() const { return peak_bytes.load() - start_; }

}  // namespace cairn::vectors

using cairn::vectors::Allocate;
using cairn::vectors::AllocateAligned;
using cairn::vectors::Release;

// All forms, for a sanitizer would otherwise bring its own for those left out.
void* operator new(size_t size) { return Allocate(size); }
void* operator new[](size_t size) { return Allocate(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return Allocate(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return Allocate(size); }
void* operator new(size_t size, std::align_val_t align) { return AllocateAligned(size, align); }
void* operator new[](size_t size, std::align_val_t align) { return AllocateAligned(size, align); }
void operator delete(void* pointer) noexcept { Release(pointer); }
void operator delete[](void* pointer) noexcept { Release(pointer); }
void operator delete(void* pointer, size_t) noexcept { Release(pointer); }
void operator delete[](void* pointer, size_t) noexcept { Release(pointer); }
void operator delete(void* pointer, const std::nothrow_t&) noexcept { Release(pointer); }
void operator delete[](void* pointer, const std::nothrow_t&) noexcept { Release(pointer); }
void operator delete(void* pointer, std::align_val_t) noexcept { Release(pointer); }
void operator delete[](void* pointer, std::align_val_t) noexcept { Release(pointer); }
void operator delete(void* pointer, size_t, std::align_val_t) noexcept { Release(pointer); }
void operator delete[](void* pointer, size_t, std::align_val_t) noexcept { Release(pointer); }
