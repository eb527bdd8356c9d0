// An n-dimensional array in plain memory, and random ones to compare with.
#ifndef CAIRN_TESTS_SUPPORT_ARRAY_MODEL_H_
#define CAIRN_TESTS_SUPPORT_ARRAY_MODEL_H_

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <random>
#include <vector>

#include "cairn/array.h"
#include "cairn/types.h"
#include "tests/support/bytes.h"

namespace cairn::test {

struct BoxPlace {
  std::vector<int64_t> start;
  std::vector<int64_t> shape;
};

inline int64_t CountItems(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

// Holds the items in C order. They are zeros at first. Finds each item by its coordinates, one at a
// time.
class ArrayModel {
 public:
  ArrayModel(std::vector<int64_t> shape, int32_t typesize)
      : shape_(std::move(shape)),
        typesize_(typesize),
        items_(static_cast<size_t>(CountItems(shape_) * typesize)) {}

  const std::vector<int64_t>& shape() const { return shape_; }
  const Buffer& items() const { return items_; }

  size_t NbytesOf(const BoxPlace& box) const {
    return static_cast<size_t>(CountItems(box.shape) * typesize_);
  }

  Buffer Read(const BoxPlace& box) const {
    Buffer out;
    for (int64_t i = 0; i < CountItems(box.shape); ++i) {
      const std::byte* item = items_.data() + PlaceOf(box, i);
      out.insert(out.end(), item, item + typesize_);
    }
    return out;
  }

  void Write(const BoxPlace& box, Bytes items) {
    for (int64_t i = 0; i < CountItems(box.shape); ++i) {
      const Bytes item = items.subspan(static_cast<size_t>(i * typesize_), Size(typesize_));
      std::copy(item.begin(), item.end(), items_.begin() + PlaceOf(box, i));
    }
  }

 private:
  static size_t Size(int64_t n) { return static_cast<size_t>(n); }

  // Returns the position of the first byte of item number i of the box.
  std::ptrdiff_t PlaceOf(const BoxPlace& box, int64_t i) const {
    int64_t place = 0;
    int64_t stride = typesize_;
    for (size_t d = shape_.size(); d-- > 0;) {
      place += (box.start[d] + i % box.shape[d]) * stride;
      i /= box.shape[d];
      stride *= shape_[d];
    }
    return static_cast<std::ptrdiff_t>(place);
  }

  std::vector<int64_t> shape_;
  int32_t typesize_;
  Buffer items_;
};

// Makes random arrays and boxes. Equal seeds give equal ones.
class ArrayMaker {
 public:
  explicit ArrayMaker(uint64_t seed) : random_(seed) {}

  // Returns a number in [low, high]; all are equally likely.
  int64_t Between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  // Returns an array with random extents, which are smaller with more dimensions. Chunks and blocks
  // rarely divide what they cut.
  ArrayInfo MakeArray(int ndim) {
    constexpr int64_t kMost[] = {1, 200, 30, 12, 7, 5, 4, 4, 3};
    const int64_t most = ndim > 8 ? 2 : kMost[ndim];
    ArrayInfo array;
    for (int d = 0; d < ndim; ++d) {
      array.shape.push_back(Between(1, most));
      array.chunkshape.push_back(static_cast<int32_t>(Between(1, array.shape.back())));
      array.blockshape.push_back(static_cast<int32_t>(Between(1, array.chunkshape.back())));
    }
    return array;
  }

  // Returns a random box of the array. Some boxes are empty and some are the whole array.
  BoxPlace MakeBox(const std::vector<int64_t>& shape) {
    BoxPlace box;
    const bool all = Between(0, 9) == 0;
    const int64_t least = Between(0, 9) == 0 ? 0 : 1;
    for (const int64_t extent : shape) {
      box.start.push_back(all ? 0 : Between(0, extent - 1));
      box.shape.push_back(all ? extent : Between(least, extent - box.start.back()));
    }
    return box;
  }

  // Returns bytes that compress a little.
  Buffer MakeItems(size_t size) {
    Buffer items(size);
    for (std::byte& byte : items) byte = static_cast<std::byte>(Between(0, 5));
    return items;
  }

 private:
  std::mt19937_64 random_;
};

inline std::ostream& operator<<(std::ostream& stream, const BoxPlace& box) {
  for (size_t d = 0; d < box.start.size(); ++d) {
    stream << (d == 0 ? "" : ",") << box.start[d] << ':' << box.start[d] + box.shape[d];
  }
  return stream;
}

}  // namespace cairn::test

namespace cairn {

inline void PrintTo(const ArrayInfo& array, std::ostream* stream) {
  for (size_t d = 0; d < array.shape.size(); ++d) {
    *stream << (d == 0 ? "" : " x ") << array.shape[d] << '/' << array.chunkshape[d] << '/'
            << array.blockshape[d];
  }
}

}  // namespace cairn

#endif  // CAIRN_TESTS_SUPPORT_ARRAY_MODEL_H_
