// An n-dimensional array in plain memory, of which some items are not known.
#ifndef CAIRN_TESTS_BLOSC2_API_RANDOM_ARRAY_MODEL_H_
#define CAIRN_TESTS_BLOSC2_API_RANDOM_ARRAY_MODEL_H_

#include <algorithm>
#include <array>
#include <b2nd.h>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tests/blosc2_api/random/player.h"

namespace cairn::blosc2_api {

using Index = std::array<int64_t, B2ND_MAX_DIM>;

inline int64_t ItemsIn(const Index& shape, size_t ndim) {
  int64_t items = 1;
  for (size_t i = 0; i < ndim; ++i) items *= shape[i];
  return items;
}

// The items of an array. Those that come into a chunk which is there already may have any content
// until they are written.
class ArrayModel {
 public:
  ArrayModel() = default;
  ArrayModel(size_t ndim, const Index& shape, int32_t typesize)
      : ndim_(ndim), shape_(shape), typesize_(static_cast<size_t>(typesize)) {
    const auto items = static_cast<size_t>(ItemsIn(shape, ndim));
    items_.resize(items * typesize_);
    known_.resize(items, true);
  }

  const Index& shape() const { return shape_; }
  const Buffer& items() const { return items_; }

  // Writes a box that begins at `start`.
  void Write(const Index& start, const Index& extent, const Buffer& content) {
    ForEach(extent, [&](const Index& at, size_t i) {
      const size_t place = PlaceOf(start, at);
      std::copy_n(content.begin() + i * typesize_, typesize_, items_.begin() + place * typesize_);
      known_[place] = true;
    });
  }

  // Makes items that may have any content 0. Returns false if another one is wrong.
  bool Check(const Index& start, const Index& extent, Buffer& content) const {
    bool right = true;
    ForEach(extent, [&](const Index& at, size_t i) {
      const size_t place = PlaceOf(start, at);
      const auto item = content.begin() + i * typesize_;
      if (!known_[place]) {
        std::fill_n(item, typesize_, uint8_t{0});
      } else if (!std::equal(item, item + typesize_, items_.begin() + place * typesize_)) {
        right = false;
      }
    });
    return right;
  }

  // Returns the array with another shape. Items come or go at the end, or at `start` along `axis`.
  ArrayModel Resized(const Index& shape, const int32_t* chunkshape, std::optional<size_t> axis = {},
                     int64_t start = 0) const {
    ArrayModel other(ndim_, shape, static_cast<int32_t>(typesize_));
    ForEach(shape, [&](const Index& at, size_t i) {
      Index from = at;
      bool is_new = false;
      bool in_old_chunk = true;
      for (size_t k = 0; k < ndim_; ++k) {
        const int64_t more = shape[k] - shape_[k];
        if (axis == k) {
          is_new = is_new || (at[k] >= start && at[k] < start + more);
          in_old_chunk = in_old_chunk && !is_new;
          if (at[k] >= start + std::max<int64_t>(more, 0)) from[k] -= more;
          continue;
        }
        const int64_t chunk = chunkshape[k];
        const int64_t end = chunk == 0 ? 0 : (shape_[k] + chunk - 1) / chunk * chunk;
        is_new = is_new || at[k] >= shape_[k];
        in_old_chunk = in_old_chunk && at[k] < end;
      }
      if (is_new) {
        other.known_[i] = !in_old_chunk;
        return;
      }
      const size_t place = PlaceOf(from, Index{});
      std::copy_n(items_.begin() + place * typesize_, typesize_,
                  other.items_.begin() + i * typesize_);
      other.known_[i] = known_[place];
    });
    return other;
  }

 private:
  // Calls visit(at, i) with each index below `extent`, and with its number in C order.
  void ForEach(const Index& extent,
               const std::function<void(const Index& at, size_t i)>& visit) const {
    const auto items = static_cast<size_t>(ItemsIn(extent, ndim_));
    for (size_t i = 0; i < items; ++i) {
      Index at{};
      auto rest = static_cast<int64_t>(i);
      for (size_t k = ndim_; k-- > 0;) {
        at[k] = rest % extent[k];
        rest /= extent[k];
      }
      visit(at, i);
    }
  }
  size_t PlaceOf(const Index& start, const Index& at) const {
    int64_t place = 0;
    for (size_t k = 0; k < ndim_; ++k) place = place * shape_[k] + start[k] + at[k];
    return static_cast<size_t>(place);
  }

  size_t ndim_ = 0;
  Index shape_{};
  size_t typesize_ = 1;
  Buffer items_;
  std::vector<bool> known_;
};

}  // namespace cairn::blosc2_api

#endif  // CAIRN_TESTS_BLOSC2_API_RANDOM_ARRAY_MODEL_H_
