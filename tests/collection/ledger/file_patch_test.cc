#include "engine/collection/ledger/file_patch.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/bytes.h"
#include "tests/support/bytes.h"
#include "tests/support/dice.h"

namespace cairn::collection {
namespace {

FilePatch At(int64_t offset, std::string_view text) {
  const Bytes bytes = AsBytes(text);
  return {.offset = offset, .bytes = {bytes.begin(), bytes.end()}};
}

// Returns the first 64 bytes of a file of zeros after these writes.
std::vector<std::byte> Written(const std::vector<FilePatch>& patches) {
  std::vector<std::byte> file(64);
  for (const FilePatch& patch : patches)
    std::ranges::copy(patch.bytes, file.begin() + patch.offset);
  return file;
}

TEST(WithoutCoveredTest, LeavesPatchesThatTouchNoOther) {
  const std::vector<FilePatch> patches = {At(8, "abc"), At(0, "d"), At(11, "e")};
  EXPECT_EQ(WithoutCovered(patches), patches);
}

TEST(WithoutCoveredTest, LeavesTheLastOfSeveralAtOnePlace) {
  EXPECT_EQ(WithoutCovered(std::vector{At(4, "old"), At(0, "x"), At(4, "new")}),
            (std::vector{At(0, "x"), At(4, "new")}));
}

TEST(WithoutCoveredTest, CutsWhatLaterPatchesCoverInPart) {
  EXPECT_EQ(WithoutCovered(std::vector{At(0, "abcdef"), At(2, "XY")}),
            (std::vector{At(0, "ab"), At(4, "ef"), At(2, "XY")}));
  EXPECT_EQ(WithoutCovered(std::vector{At(2, "XY"), At(0, "abcdef")}),
            (std::vector{At(0, "abcdef")}));
}

TEST(WithoutCoveredTest, GivesTheSameFileAndWritesNoByteTwice) {
  test::Dice dice(1);
  for (int run = 0; run < 2'000; ++run) {
    std::vector<FilePatch> patches(dice.Below(8));
    for (FilePatch& patch : patches) {
      patch.offset = static_cast<int64_t>(dice.Below(50));
      patch.bytes.resize(dice.Below(15));
      for (std::byte& byte : patch.bytes) byte = static_cast<std::byte>(1 + dice.Below(255));
    }
    const std::vector<FilePatch> left = WithoutCovered(patches);
    ASSERT_EQ(Written(left), Written(patches));
    size_t size = 0;
    for (const FilePatch& patch : left) size += patch.bytes.size();
    const std::vector<std::byte> file = Written(left);
    ASSERT_EQ(size, static_cast<size_t>(std::ranges::count_if(
                        file, [](std::byte byte) { return byte != std::byte{0}; })));
  }
}

}  // namespace
}  // namespace cairn::collection
