// Blocks for the tests of filters.
#ifndef CAIRN_TESTS_FILTER_TEST_BLOCKS_H_
#define CAIRN_TESTS_FILTER_TEST_BLOCKS_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "cairn/types.h"
#include "engine/base/bytes.h"
#include "engine/base/kernel_targets.h"

namespace cairn::filter {

inline constexpr int kTypesizes[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,   10, 11,
                                     12, 13, 14, 15, 16, 17, 24, 32, 100, 255};

// A block that ends where its heap memory ends, so that AddressSanitizer sees one byte too many.
// `misaligned` moves its start off the alignment of the heap.
class Block {
 public:
  explicit Block(size_t size, size_t misaligned = 0)
      : memory_(std::make_unique<std::byte[]>(size + misaligned)),
        bytes_(memory_.get() + misaligned, size) {}

  MutableBytes bytes() const { return bytes_; }
  operator Bytes() const { return bytes_; }         // NOLINT(google-explicit-constructor)
  operator MutableBytes() const { return bytes_; }  // NOLINT(google-explicit-constructor)

 private:
  std::unique_ptr<std::byte[]> memory_;
  MutableBytes bytes_;
};

inline Block RandomBlock(size_t size, uint32_t seed, size_t misaligned = 0) {
  Block block(size, misaligned);
  std::mt19937 random(seed);
  for (std::byte& byte : block.bytes()) byte = static_cast<std::byte>(random());
  return block;
}

inline std::vector<std::byte> MakeBytes(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// Calls f once for each instruction set that this machine has.
template <typename F>
void ForEachTarget(const F& f) {
  const int64_t all = SupportedTargets();
  for (int64_t rest = all; rest != 0; rest &= rest - 1) {
    const int64_t target = rest & -rest;
    SCOPED_TRACE(hwy::TargetName(target));
    SetSupportedTargetsForTest(target);
    f();
  }
  SetSupportedTargetsForTest(0);
}

}  // namespace cairn::filter

#endif  // CAIRN_TESTS_FILTER_TEST_BLOCKS_H_
