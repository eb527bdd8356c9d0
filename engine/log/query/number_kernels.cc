#include "engine/log/query/number_kernels.h"

#include <algorithm>
#include <tuple>

#include "engine/base/kernel_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/log/query/number_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace cairn::log::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
void Add(const T* HWY_RESTRICT numbers, const uint8_t* HWY_RESTRICT chosen, size_t count,
         LaneSums<T>& sums) {
  const hn::CappedTag<T, kSumLanes> d;
  const hn::Rebind<uint64_t, decltype(d)> wide;
  const hn::Rebind<int64_t, decltype(d)> counts;
  const hn::Rebind<uint32_t, decltype(d)> middle;
  const hn::Rebind<uint8_t, decltype(d)> narrow;
  const size_t lanes = hn::Lanes(d);
  LaneSums<T> own = sums;
  for (size_t i = 0; i < count; i += kSumLanes) {
    for (size_t lane = 0; lane < kSumLanes; lane += lanes) {
      const auto x = hn::LoadU(d, numbers + i + lane);
      const auto bytes = hn::LoadU(narrow, chosen + i + lane);
      const auto flags = hn::PromoteTo(wide, hn::PromoteTo(middle, bytes));
      auto taken = hn::RebindMask(d, hn::Ne(flags, hn::Zero(wide)));
      if constexpr (LaneSums<T>::kReal) taken = hn::And(taken, hn::Eq(x, x));
      int64_t* const n = own.count.data() + lane;
      const auto one = hn::IfThenElseZero(hn::RebindMask(counts, taken), hn::Set(counts, 1));
      hn::StoreU(hn::Add(hn::LoadU(counts, n), one), counts, n);
      const auto keep = [&](T* to, auto is_more) HWY_ATTR {
        const auto old = hn::LoadU(d, to);
        hn::StoreU(hn::IfThenElse(hn::And(taken, is_more(x, old)), x, old), d, to);
      };
      keep(own.least.data() + lane, [](auto a, auto b) HWY_ATTR { return hn::Lt(a, b); });
      keep(own.greatest.data() + lane, [](auto a, auto b) HWY_ATTR { return hn::Lt(b, a); });
      const auto value = hn::IfThenElseZero(taken, x);
      T* const high = own.high.data() + lane;
      if constexpr (LaneSums<T>::kReal) {
        hn::StoreU(hn::Add(hn::LoadU(d, high), value), d, high);
      } else {
        uint64_t* const low = own.low.data() + lane;
        hn::StoreU(hn::Add(hn::LoadU(d, high), hn::ShiftRight<32>(value)), d, high);
        const auto below = hn::And(hn::BitCast(wide, value), hn::Set(wide, 0xFFFFFFFF));
        hn::StoreU(hn::Add(hn::LoadU(wide, low), below), wide, low);
      }
    }
  }
  sums = own;
}

template <typename T, typename Holds>
void ClearWhere(const T* HWY_RESTRICT numbers, T wanted, size_t count, uint8_t* HWY_RESTRICT chosen,
                const Holds& holds) {
  const hn::CappedTag<T, kSumLanes> d;
  const hn::Rebind<uint64_t, decltype(d)> wide;
  const hn::Rebind<uint8_t, decltype(d)> narrow;
  const auto value = hn::Set(d, wanted);
  for (size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto held = hn::RebindMask(wide, holds(hn::LoadU(d, numbers + i), value));
    const auto flags = hn::TruncateTo(narrow, hn::IfThenElseZero(held, hn::Set(wide, 1)));
    hn::StoreU(hn::And(hn::LoadU(narrow, chosen + i), flags), narrow, chosen + i);
  }
}

template <typename T>
void Clear(const T* numbers, Comparison comparison, T wanted, size_t count, uint8_t* chosen) {
  const auto clear = [&](auto holds) { ClearWhere(numbers, wanted, count, chosen, holds); };
  switch (comparison) {
    case Comparison::kEqual:
      return clear([](auto a, auto b) HWY_ATTR { return hn::Eq(a, b); });
    case Comparison::kNotEqual:
      // A NaN differs from everything, which Ne leaves open.
      return clear([](auto a, auto b) HWY_ATTR { return hn::Not(hn::Eq(a, b)); });
    case Comparison::kLess:
      return clear([](auto a, auto b) HWY_ATTR { return hn::Lt(a, b); });
    case Comparison::kLessOrEqual:
      return clear([](auto a, auto b) HWY_ATTR { return hn::Or(hn::Lt(a, b), hn::Eq(a, b)); });
    case Comparison::kGreater:
      return clear([](auto a, auto b) HWY_ATTR { return hn::Lt(b, a); });
    case Comparison::kGreaterOrEqual:
      return clear([](auto a, auto b) HWY_ATTR { return hn::Or(hn::Lt(b, a), hn::Eq(a, b)); });
  }
}

template <typename T>
constexpr NumberKernels<T> kKernels = {&Add<T>, &Clear<T>};

std::tuple<NumberKernels<double>, NumberKernels<int64_t>, NumberKernels<uint64_t>>
AllNumberKernels() {
  return {kKernels<double>, kKernels<int64_t>, kKernels<uint64_t>};
}

}  // namespace cairn::log::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cairn::log {

namespace {

CAIRN_EXPORT_KERNEL(AllNumberKernels);

template <typename T>
NumberKernels<T> KernelsFor() {
  return std::get<NumberKernels<T>>(CAIRN_KERNEL(AllNumberKernels)());
}

// The numbers that are left when all lanes were filled as often as they can be.
template <typename T>
struct Rest {
  std::array<T, kSumLanes> numbers = {};
  std::array<uint8_t, kSumLanes> chosen = {};

  Rest(std::span<const T> from, std::span<const uint8_t> bytes) {
    std::ranges::copy(from, numbers.begin());
    std::ranges::copy(bytes, chosen.begin());
  }
};

}  // namespace

template <typename T>
void AddChosen(std::span<const T> numbers, std::span<const uint8_t> chosen, LaneSums<T>& sums) {
  const NumberKernels<T> kernels = KernelsFor<T>();
  const size_t full = numbers.size() / kSumLanes * kSumLanes;
  kernels.add(numbers.data(), chosen.data(), full, sums);
  const Rest<T> rest(numbers.subspan(full), chosen.subspan(full));
  kernels.add(rest.numbers.data(), rest.chosen.data(), kSumLanes, sums);
}

template <typename T>
void ClearUnless(std::span<const T> numbers, Comparison comparison, T wanted,
                 std::span<uint8_t> chosen) {
  const NumberKernels<T> kernels = KernelsFor<T>();
  const size_t full = numbers.size() / kSumLanes * kSumLanes;
  kernels.clear(numbers.data(), comparison, wanted, full, chosen.data());
  Rest<T> rest(numbers.subspan(full), chosen.subspan(full));
  kernels.clear(rest.numbers.data(), comparison, wanted, kSumLanes, rest.chosen.data());
  std::copy_n(rest.chosen.begin(), numbers.size() - full,
              chosen.begin() + static_cast<ptrdiff_t>(full));
}

template void AddChosen(std::span<const double>, std::span<const uint8_t>, LaneSums<double>&);
template void AddChosen(std::span<const int64_t>, std::span<const uint8_t>, LaneSums<int64_t>&);
template void AddChosen(std::span<const uint64_t>, std::span<const uint8_t>, LaneSums<uint64_t>&);
template void ClearUnless(std::span<const double>, Comparison, double, std::span<uint8_t>);
template void ClearUnless(std::span<const int64_t>, Comparison, int64_t, std::span<uint8_t>);
template void ClearUnless(std::span<const uint64_t>, Comparison, uint64_t, std::span<uint8_t>);

}  // namespace cairn::log
#endif  // HWY_ONCE
