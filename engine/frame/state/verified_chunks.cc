#include "engine/frame/state/verified_chunks.h"

#include <memory>

#include "engine/base/owner_process.h"

namespace cairn::frame {

namespace {

constexpr uint64_t kOdd1 = 0x9E3779B97F4A7C15;
constexpr uint64_t kOdd2 = 0xBF58476D1CE4E5B9;

// A fingerprint is a hash already. The other numbers are mixed into it, also the process, because a
// forked child does not trust its parent's marks. The result is never 0, which means an empty slot.
uint64_t TagOf(uint64_t checkpoint_id, const format::IndexEntry& entry) {
  const auto process = static_cast<uint64_t>(ThisProcess());
  const uint64_t place =
      static_cast<uint64_t>(entry.value) * kOdd1 + checkpoint_id * kOdd2 + (process << 32);
  return (entry.fingerprint ^ place ^ (place >> 29)) | 1;
}

}  // namespace

bool VerifiedChunks::Has(uint64_t checkpoint_id, const format::IndexEntry& entry) const {
  const Slots* const slots = slots_.load(std::memory_order_acquire);
  if (slots == nullptr) return false;
  const uint64_t tag = TagOf(checkpoint_id, entry);
  return (*slots)[(tag >> 1) % kSlots].load(std::memory_order_relaxed) == tag;
}

void VerifiedChunks::Add(uint64_t checkpoint_id, const format::IndexEntry& entry) {
  Slots* slots = slots_.load(std::memory_order_acquire);
  if (slots == nullptr) {
    auto made = std::make_unique<Slots>();
    if (slots_.compare_exchange_strong(slots, made.get(), std::memory_order_acq_rel)) {
      slots = made.release();
    }
  }
  const uint64_t tag = TagOf(checkpoint_id, entry);
  (*slots)[(tag >> 1) % kSlots].store(tag, std::memory_order_relaxed);
}

}  // namespace cairn::frame
