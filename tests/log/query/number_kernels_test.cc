#include "engine/log/query/number_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include "absl/numeric/int128.h"
#include <gtest/gtest.h>

#include "engine/base/kernel_targets.h"

namespace cairn::log {
namespace {

constexpr Comparison kComparisons[] = {Comparison::kEqual,   Comparison::kNotEqual,
                                       Comparison::kLess,    Comparison::kLessOrEqual,
                                       Comparison::kGreater, Comparison::kGreaterOrEqual};

template <typename T>
bool Holds(T a, Comparison comparison, T b) {
  switch (comparison) {
    case Comparison::kEqual:
      return a == b;
    case Comparison::kNotEqual:
      return a != b;
    case Comparison::kLess:
      return a < b;
    case Comparison::kLessOrEqual:
      return a <= b;
    case Comparison::kGreater:
      return a > b;
    case Comparison::kGreaterOrEqual:
      break;
  }
  return a >= b;
}

template <typename T>
class NumberKernelsTest : public testing::Test {
 protected:
  // Returns numbers of which many are equal, least, greatest, or no numbers.
  std::vector<T> SomeNumbers(size_t count) {
    std::vector<T> numbers(count);
    for (T& number : numbers) {
      number = static_cast<T>(static_cast<int64_t>(dice_() % 7) - 3);
      if (dice_() % 4 == 0) number = special_[dice_() % special_.size()];
    }
    return numbers;
  }
  std::vector<uint8_t> SomeChosen(size_t count) {
    std::vector<uint8_t> chosen(count);
    for (uint8_t& one : chosen) one = dice_() % 3 != 0 ? 1 : 0;
    return chosen;
  }
  // Calls `check` with each set of instructions.
  template <typename Check>
  static void ForEachTarget(const Check& check) {
    for (int64_t left = SupportedTargets(); left != 0; left &= left - 1) {
      SetSupportedTargetsForTest(left & -left);
      check();
      SetSupportedTargetsForTest(0);
    }
  }

  using Limits = std::numeric_limits<T>;
  std::mt19937_64 dice_{1};
  std::vector<T> special_ = {
      Limits::lowest(),
      Limits::max(),
      Limits::has_quiet_NaN ? Limits::quiet_NaN() : static_cast<T>(Limits::max() / 2),
      Limits::has_infinity ? Limits::infinity() : static_cast<T>(Limits::max() / 3),
      Limits::has_infinity ? -Limits::infinity() : static_cast<T>(Limits::lowest() / 3),
      static_cast<T>(-0.0)};
};

using NumberTypes = testing::Types<double, int64_t, uint64_t>;
TYPED_TEST_SUITE(NumberKernelsTest, NumberTypes);

TYPED_TEST(NumberKernelsTest, KeepWhatComparesAsTheLanguageDoes) {
  for (size_t count = 0; count < 40; ++count) {
    const std::vector<TypeParam> numbers = this->SomeNumbers(count);
    const std::vector<uint8_t> before = this->SomeChosen(count);
    for (const TypeParam wanted : this->SomeNumbers(5)) {
      for (const Comparison comparison : kComparisons) {
        std::vector<uint8_t> expected = before;
        for (size_t i = 0; i < count; ++i) {
          if (!Holds(numbers[i], comparison, wanted)) expected[i] = 0;
        }
        this->ForEachTarget([&] {
          std::vector<uint8_t> chosen = before;
          ClearUnless<TypeParam>(numbers, comparison, wanted, chosen);
          EXPECT_EQ(chosen, expected) << wanted << " " << static_cast<int>(comparison);
        });
      }
    }
  }
}

TYPED_TEST(NumberKernelsTest, CountChosenNumbersAndFindTheirEnds) {
  for (size_t count = 0; count < 40; ++count) {
    const std::vector<TypeParam> numbers = this->SomeNumbers(count);
    const std::vector<uint8_t> chosen = this->SomeChosen(count);
    std::vector<TypeParam> expected;
    for (size_t i = 0; i < count; ++i) {
      if (chosen[i] != 0 && numbers[i] == numbers[i]) expected.push_back(numbers[i]);
    }
    this->ForEachTarget([&] {
      LaneSums<TypeParam> sums;
      AddChosen<TypeParam>(numbers, chosen, sums);
      int64_t found = 0;
      for (const int64_t n : sums.count) found += n;
      ASSERT_EQ(found, std::ssize(expected));
      if (expected.empty()) return;
      EXPECT_EQ(std::ranges::min(sums.least), std::ranges::min(expected));
      EXPECT_EQ(std::ranges::max(sums.greatest), std::ranges::max(expected));
    });
  }
}

TYPED_TEST(NumberKernelsTest, AddIntegersExactly) {
  if constexpr (std::is_integral_v<TypeParam>) {
    const std::vector<TypeParam> numbers = this->SomeNumbers(1003);
    const std::vector<uint8_t> chosen = this->SomeChosen(1003);
    absl::int128 expected = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (chosen[i] != 0) expected += numbers[i];
    }
    this->ForEachTarget([&] {
      LaneSums<TypeParam> sums;
      AddChosen<TypeParam>(numbers, chosen, sums);
      absl::int128 sum = 0;
      for (size_t i = 0; i < kSumLanes; ++i) {
        sum += (absl::int128(sums.high[i]) << 32) + absl::int128(sums.low[i]);
      }
      EXPECT_EQ(sum, expected);
    });
  }
}

TEST(NumberKernels, SumsOfDoublesAreTheSameWithAllInstructions) {
  std::mt19937_64 dice(1);
  std::vector<double> numbers(1003);
  for (double& number : numbers) {
    number = std::ldexp(static_cast<double>(dice() >> 11), static_cast<int>(dice() % 60) - 30);
  }
  const std::vector<uint8_t> chosen(numbers.size(), 1);
  std::optional<std::array<double, kSumLanes>> first;
  for (int64_t left = SupportedTargets(); left != 0; left &= left - 1) {
    SetSupportedTargetsForTest(left & -left);
    LaneSums<double> sums;
    AddChosen<double>(numbers, chosen, sums);
    SetSupportedTargetsForTest(0);
    if (!first) first = sums.high;
    EXPECT_EQ(sums.high, *first);
  }
}

}  // namespace
}  // namespace cairn::log
