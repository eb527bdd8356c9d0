#include "engine/codec/pco/split.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace cairn::pco {

namespace {

constexpr size_t kMinSample = 10;
constexpr size_t kMostTriples = 256;
constexpr size_t kMostFloats = 512;

template <FloatLatent L>
typename FloatOf<L>::Type FloatOfLatent(L latent) {
  return FloatOf<L>::FromBits(NumberOf<L>(NumberKind::kFloat, latent));
}

template <FloatLatent L>
L LatentOfFloat(typename FloatOf<L>::Type value) {
  return LatentOf<L>(NumberKind::kFloat, FloatOf<L>::ToBits(value));
}

// Returns the number that most differences of the latents are multiples of, if there is one.
template <Latent L>
std::optional<uint64_t> FindMultiple(std::span<const L> sample) {
  std::vector<L> divisors;
  const size_t step = std::max<size_t>(sample.size() / kMostTriples, 3);
  double triples = 0;
  for (size_t i = 0; i + 2 < sample.size(); i += step, ++triples) {
    const auto [least, greatest] = std::minmax({sample[i], sample[i + 1], sample[i + 2]});
    const L middle = sample[i] ^ sample[i + 1] ^ sample[i + 2] ^ least ^ greatest;
    const L divisor = std::gcd(static_cast<L>(middle - least), static_cast<L>(greatest - least));
    if (divisor > 1) divisors.push_back(divisor);
  }
  std::ranges::sort(divisors);
  L best = 0;
  size_t most = 0;
  for (size_t i = 0; i < divisors.size();) {
    size_t end = i;
    while (end < divisors.size() && divisors[end] == divisors[i]) ++end;
    if (end - i > most) {
      most = end - i;
      best = divisors[i];
    }
    i = end;
  }
  // By chance, one triple in 1.6 * divisor^2 has it.
  const double by_chance = triples / (1.6 * static_cast<double>(best) * static_cast<double>(best));
  const bool evident = static_cast<double>(most) > by_chance + 3 * std::sqrt(by_chance) + 3;
  return evident ? std::optional<uint64_t>(best) : std::nullopt;
}

// Returns true if nearly all of the numbers are, but for rounding, whole numbers times the base.
template <FloatLatent L>
bool AreMultiples(const std::vector<typename FloatOf<L>::Type>& numbers,
                  typename FloatOf<L>::Type base, typename FloatOf<L>::Type inverse) {
  constexpr L kNear = 8;  // units in the last place
  constexpr auto kMostWhole =
      static_cast<typename FloatOf<L>::Type>(L{1} << (FloatOf<L>::kDigits - 6));
  size_t bad = 0;
  for (const auto number : numbers) {
    if (bad * 10 > numbers.size()) return false;
    ++bad;
    const auto whole = std::round(number * inverse);
    // A number of that many multiples has no bits left that would say anything.
    if (std::fabs(whole) > kMostWhole) continue;
    const L distance =
        static_cast<L>(LatentOfFloat<L>(number) -
                       LatentOfFloat<L>(static_cast<typename FloatOf<L>::Type>(whole * base)));
    if (static_cast<L>(distance + kNear) <= 2 * kNear) --bad;
  }
  return bad * 10 <= numbers.size();
}

// Returns the greatest number of which both are, but for rounding, multiples. Returns 0 if that is
// so small that it says nothing.
double CommonDivisor(double greater, double lesser, double precision) {
  const double least = greater * std::sqrt(precision);
  double greater_error = greater * precision;
  double lesser_error = lesser * precision;
  while (lesser > least) {
    const double whole = std::round(greater / lesser);
    const double rest = std::fabs(greater - whole * lesser);
    const double error = greater_error + whole * lesser_error + greater * precision;
    if (rest <= error) return lesser > 16 * lesser_error ? lesser : 0;
    greater = std::exchange(lesser, rest);
    greater_error = std::exchange(lesser_error, error);
  }
  return 0;
}

// Returns a base of which many pairs of numbers are multiples, or 0.
double FindCommonDivisor(const std::vector<double>& numbers, double precision) {
  std::vector<double> divisors;
  for (size_t i = 0; i + 1 < numbers.size(); i += 2) {
    const auto [lesser, greater] = std::minmax({numbers[i], numbers[i + 1]});
    if (lesser == greater) continue;
    const double divisor = CommonDivisor(greater, lesser, precision);
    if (divisor > 0) divisors.push_back(divisor);
  }
  std::ranges::sort(divisors);
  // By far the most frequent one is the base, since most pairs have no other common divisor.
  double best = 0;
  size_t most = numbers.size() / 10;
  for (size_t begin = 0, end = 0; begin < divisors.size(); ++begin) {
    while (end < divisors.size() && divisors[end] <= divisors[begin] * 1.01) ++end;
    if (end - begin <= most) continue;
    most = end - begin;
    best = divisors[begin + most / 2];
  }
  if (best == 0) return 0;
  // The multiples are known now, so all numbers tell the base more exactly.
  long double sum = 0;  // rounding must not add up
  double wholes = 0;
  for (const double number : numbers) {
    const double whole = std::round(number / best);
    if (std::fabs(number - whole * best) > 0.01 * best) continue;
    sum += number;
    wholes += whole;
  }
  return wholes > 0 ? static_cast<double>(sum / wholes) : 0;
}

// Adds the bases of which the numbers are multiples: a power of ten, and a common divisor.
template <FloatLatent L>
void FindFloatMults(std::span<const L> sample, std::vector<Splitting>& found) {
  using Float = typename FloatOf<L>::Type;
  std::vector<Float> numbers;
  const size_t step = std::max<size_t>(sample.size() / kMostFloats, 1);
  for (size_t i = 0; i < sample.size(); i += step) {
    const Float value = std::fabs(FloatOfLatent<L>(sample[i]));
    if (std::isnormal(value)) numbers.push_back(value);
  }
  if (numbers.size() < kMinSample) return;
  const auto add = [&](Float base, Float inverse) {
    if (!std::isnormal(base) || !std::isfinite(inverse)) return false;
    if (!AreMultiples<L>(numbers, base, inverse)) return false;
    found.push_back({.mode = Mode::kFloatMult,
                     .mult = LatentOfFloat<L>(base),
                     .inverse = static_cast<double>(inverse)});
    return true;
  };
  constexpr int kMostDecimals = 12;
  Float power = 1;
  for (int decimals = 0; decimals <= kMostDecimals; ++decimals, power *= 10) {
    if (add(FloatOf<L>::FromBits(FloatOf<L>::ToBits(1 / power)), power)) break;
  }
  const std::vector<double> doubles(numbers.begin(), numbers.end());
  const double divisor = FindCommonDivisor(doubles, std::ldexp(1.0, -FloatOf<L>::kDigits));
  const Float base = FloatOf<L>::FromBits(FloatOf<L>::ToBits(static_cast<Float>(divisor)));
  if (divisor > 0) add(base, 1 / base);
}

// Returns how many low bits are zero in nearly all floats.
template <FloatLatent L>
std::optional<int> FindQuantization(std::span<const L> sample) {
  constexpr int kSignificand = FloatOf<L>::kDigits - 1;
  std::array<size_t, kSignificand + 1> counts = {};
  for (const L latent : sample) {
    const L bits = latent >= kMid<L> ? latent : static_cast<L>(~latent);
    ++counts[static_cast<size_t>(std::min(std::countr_zero(bits), kSignificand))];
  }
  size_t with_more = 0;
  for (int bits = kSignificand; bits >= 5; --bits) {
    with_more += counts[static_cast<size_t>(bits)];
    if (with_more * 10 >= sample.size() * 9) return bits;
  }
  return std::nullopt;
}

}  // namespace

template <Latent L>
std::vector<Splitting> FindSplittings(NumberKind kind, std::span<const L> sample) {
  std::vector<Splitting> found(1);
  if (sample.size() < kMinSample) return found;
  if (kind != NumberKind::kFloat) {
    if (const auto mult = FindMultiple(sample)) {
      found.push_back({.mode = Mode::kIntMult, .mult = *mult});
    }
    return found;
  }
  if constexpr (FloatLatent<L>) {
    FindFloatMults<L>(sample, found);
    if (const auto bits = FindQuantization(sample)) {
      found.push_back({.mode = Mode::kFloatQuant, .quant_bits = *bits});
    }
  }
  return found;
}

template std::vector<Splitting> FindSplittings(NumberKind kind, std::span<const uint8_t> sample);
template std::vector<Splitting> FindSplittings(NumberKind kind, std::span<const uint16_t> sample);
template std::vector<Splitting> FindSplittings(NumberKind kind, std::span<const uint32_t> sample);
template std::vector<Splitting> FindSplittings(NumberKind kind, std::span<const uint64_t> sample);

}  // namespace cairn::pco
