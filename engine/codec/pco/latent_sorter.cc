#include "engine/codec/pco/latent_sorter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace cairn::pco {

namespace {

constexpr int kMaxDigit = 11;  // bits
constexpr size_t kBuckets = size_t{1} << kMaxDigit;
constexpr size_t kFew = 48;  // latents that std::sort sorts faster

constexpr size_t kVeryFew = 12;  // latents that are sorted in place

using Buckets = std::array<uint32_t, kBuckets>;

// Sorts latents of which only the number of each is needed.
template <Latent L>
void SortByCounts(L least, std::span<L> latents) {
  // Neighbours, which are often the same, are counted apart: the processor waits for a count.
  std::array<Buckets, 2> counts = {};
  size_t i = 0;
  for (; i + 2 <= latents.size(); i += 2) {
    ++counts[0][static_cast<L>(latents[i] - least)];
    ++counts[1][static_cast<L>(latents[i + 1] - least)];
  }
  if (i < latents.size()) ++counts[0][static_cast<L>(latents[i] - least)];
  auto to = latents.begin();
  for (size_t value = 0; to != latents.end(); ++value) {
    to = std::fill_n(to, counts[0][value] + counts[1][value], static_cast<L>(least + value));
  }
}

template <Latent L>
void SortByInsertion(std::span<L> latents) {
  for (size_t i = 1; i < latents.size(); ++i) {
    const L latent = latents[i];
    size_t to = i;
    for (; to > 0 && latents[to - 1] > latent; --to) latents[to] = latents[to - 1];
    latents[to] = latent;
  }
}

// Counts different latents, as long as they are few.
template <Latent L>
class Census {
 public:
  // An unused slot holds `first`, which has its slot already.
  explicit Census(L first) : first_(first), slot_of_first_(SlotOf(first)) { keys_.fill(first); }

  // Returns false if there are too many.
  bool Count(std::span<const L> latents) {
    for (size_t i = 0; i < latents.size(); ++i) {
      const size_t slot = Find(latents[i]);
      if (keys_[slot] != latents[i]) {
        const size_t most = i < kEarly ? kMostEarly : kMostDifferent;
        if (different_.size() == most) return false;
        keys_[slot] = latents[i];
      }
      // Neighbours are counted apart, as above.
      if (counts_[0][slot] + counts_[1][slot] == 0) different_.push_back(latents[i]);
      ++counts_[i % 2][slot];
    }
    return true;
  }

  void Fill(std::span<L> latents) {
    std::ranges::sort(different_);
    auto to = latents.begin();
    for (const L latent : different_) {
      const size_t slot = Find(latent);
      to = std::fill_n(to, counts_[0][slot] + counts_[1][slot], latent);
    }
  }

 private:
  static constexpr int kSlotsLog = 10;
  static constexpr size_t kSlots = size_t{1} << kSlotsLog;
  static constexpr size_t kMostDifferent = kSlots * 3 / 8;
  // More at the begin mean that there are too many in all.
  static constexpr size_t kEarly = 256;
  static constexpr size_t kMostEarly = 160;

  static size_t SlotOf(L latent) {
    return static_cast<size_t>(uint64_t{latent} * 0x9E3779B97F4A7C15 >> (64 - kSlotsLog));
  }

  // Returns the slot of the latent, or an unused one.
  size_t Find(L latent) const {
    size_t slot = SlotOf(latent);
    while (keys_[slot] != latent && (keys_[slot] != first_ || slot == slot_of_first_)) {
      slot = (slot + 1) % kSlots;
    }
    return slot;
  }

  L first_;
  size_t slot_of_first_;
  std::array<L, kSlots> keys_;
  std::array<std::array<uint32_t, kSlots>, 2> counts_ = {};
  std::vector<L> different_;
};

}  // namespace

template <Latent L>
void LatentSorter<L>::SortByDigits(L least, int shift, int bits, std::span<L> latents) {
  const int low = shift;
  const int high = shift + bits / 2;
  const uint64_t low_mask = (uint64_t{1} << (high - low)) - 1;
  const size_t low_count = size_t{1} << (high - low);
  const size_t high_count = size_t{1} << (bits - bits / 2);
  Buckets low_places;
  Buckets high_places;
  std::fill_n(low_places.begin(), low_count, 0);
  std::fill_n(high_places.begin(), high_count, 0);
  for (const L latent : latents) {
    const uint64_t distance = static_cast<L>(latent - least);
    ++low_places[distance >> low & low_mask];
    ++high_places[distance >> high];
  }
  uint32_t sum = 0;
  for (uint32_t& place : std::span(low_places).first(low_count)) {
    place = std::exchange(sum, sum + place);
  }
  sum = 0;
  for (uint32_t& place : std::span(high_places).first(high_count)) {
    place = std::exchange(sum, sum + place);
  }
  if (other_.size() < latents.size()) other_.resize(latents.size());
  for (const L latent : latents) {
    const uint64_t distance = static_cast<L>(latent - least);
    other_[low_places[distance >> low & low_mask]++] = latent;
  }
  for (const L latent : std::span(other_).first(latents.size())) {
    const uint64_t distance = static_cast<L>(latent - least);
    latents[high_places[distance >> high]++] = latent;
  }
}

template <Latent L>
void LatentSorter<L>::SortRuns(L least, int shift, std::span<L> latents) {
  const auto key = [=](L latent) { return static_cast<L>(latent - least) >> shift; };
  for (size_t begin = 0; begin < latents.size();) {
    size_t end = begin + 1;
    while (end < latents.size() && key(latents[end]) == key(latents[begin])) ++end;
    if (end - begin > kVeryFew) {
      Sort(latents.subspan(begin, end - begin));
    } else if (end - begin > 1) {
      SortByInsertion(latents.subspan(begin, end - begin));
    }
    begin = end;
  }
}

template <Latent L>
void LatentSorter<L>::Sort(std::span<L> latents) {
  if (latents.size() < kFew) {
    std::ranges::sort(latents);
    return;
  }
  L least = latents[0];
  L greatest = latents[0];
  for (const L latent : latents) {
    least = std::min(least, latent);
    greatest = std::max(greatest, latent);
  }
  const int width = static_cast<int>(std::bit_width(static_cast<L>(greatest - least)));
  if (width <= kMaxDigit) return SortByCounts(least, latents);
  Census<L> census(latents[0]);
  if (census.Count(latents)) return census.Fill(latents);
  const int shift = std::max(width - 2 * kMaxDigit, 0);
  SortByDigits(least, shift, width - shift, latents);
  if (shift > 0) SortRuns(least, shift, latents);
}

template class LatentSorter<uint8_t>;
template class LatentSorter<uint16_t>;
template class LatentSorter<uint32_t>;
template class LatentSorter<uint64_t>;

}  // namespace cairn::pco
