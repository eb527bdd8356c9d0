#include "engine/log/query/field_sums.h"

#include <cmath>
#include <optional>
#include <type_traits>

#include "absl/numeric/int128.h"

#include "engine/base/status.h"
#include "engine/log/query/number_kernels.h"

namespace cairn::log {

namespace {

// The sum of values of one type.
template <typename T>
struct Found {
  int64_t count = 0;
  T least = {};
  T greatest = {};
  std::conditional_t<std::is_floating_point_v<T>, double, absl::int128> sum = 0;
};

template <typename T>
Found<T> Gather(const LaneSums<T>& lanes) {
  Found<T> found = {.least = lanes.least[0], .greatest = lanes.greatest[0]};
  for (size_t i = 0; i < kSumLanes; ++i) {
    found.count += lanes.count[i];
    found.least = std::min(found.least, lanes.least[i]);
    found.greatest = std::max(found.greatest, lanes.greatest[i]);
    if constexpr (LaneSums<T>::kReal) {
      found.sum += lanes.high[i];
    } else {
      constexpr absl::int128 kHigh = absl::int128(1) << 32;
      found.sum += absl::int128(lanes.high[i]) * kHigh + absl::int128(lanes.low[i]);
    }
  }
  return found;
}

// The first and the last row by time.
struct Ends {
  size_t first = 0;
  size_t last = 0;
};

// Finds the ends of the rows that count. At least one row does.
template <typename Counts>
Ends FindEnds(size_t rows, const RowTimes& times, size_t begin, const Counts& counts) {
  Ends ends = {.first = 0, .last = rows - 1};
  while (!counts(ends.first)) ++ends.first;
  while (!counts(ends.last)) --ends.last;
  if (times.in_order()) return ends;
  const auto time = [&](size_t row) { return times.loaded()[begin + row]; };
  const Ends outer = ends;
  for (size_t row = outer.first; row <= outer.last; ++row) {
    if (!counts(row)) continue;
    if (time(row) < time(ends.first)) ends.first = row;
    // Rows come in order, so the last of equal times is met last.
    if (row == outer.first || time(row) >= time(ends.last)) ends.last = row;
  }
  return ends;
}

}  // namespace

absl::Status RowTimes::Load() {
  if (!times_.empty() || rows_.size() == 0) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(times_, segment_.ReadTimes(rows_));
  return absl::OkStatus();
}

absl::StatusOr<int64_t> RowTimes::At(size_t row) const {
  if (!times_.empty()) return times_[row];
  const int32_t at = rows_.begin + static_cast<int32_t>(row);
  CAIRN_ASSIGN_OR_RETURN(const std::vector<int64_t> time,
                         segment_.ReadTimes({.chunk = rows_.chunk, .begin = at, .end = at + 1}));
  return time.front();
}

// Statistics of integers are kept as doubles, which are exact up to 2^53. A sum that was never
// beyond that is exact too.
bool IsExact(const FieldAggregate& values) {
  constexpr double kExact = 9007199254740992;
  const double largest = std::max(std::abs(values.min), std::abs(values.max));
  const bool one_sign = values.min >= 0 || values.max <= 0;
  const double sum = one_sign ? std::abs(values.sum) : largest * static_cast<double>(values.count);
  return largest < kExact && sum < kExact;
}

ExactSum FromStatistics(const Field& field, const FieldSum& sum) {
  const FieldAggregate& values = sum.values;
  if (!IsWhole(field)) return {.sum = sum};
  const auto whole = [](double value) { return absl::int128(value); };
  return {.sum = sum,
          .whole = {.min = whole(values.min),
                    .max = whole(values.max),
                    .sum = whole(values.sum),
                    .first = whole(values.first),
                    .last = whole(values.last)}};
}

absl::StatusOr<ExactSum> SumChosen(const Field& field, Bytes column,
                                   std::span<const uint8_t> chosen, const RowTimes& times,
                                   size_t begin) {
  ExactSum exact;
  std::optional<Ends> ends;
  VisitLoader(field, [&](const auto& load) {
    using T = decltype(load(column.data()));
    LaneSums<T> lanes;
    std::vector<uint8_t> has_time;  // as `chosen`, if timestamps may have no value
    std::span<const uint8_t> counted = chosen;
    if constexpr (std::is_same_v<T, int64_t>) {
      if (field.type == FieldType::kTimestamp) {
        has_time.assign(chosen.begin(), chosen.end());
        VisitNumbers(field, column, load, [&](size_t first, std::span<const T> numbers) {
          ClearUnless(numbers, Comparison::kNotEqual, kNoTime,
                      std::span(has_time).subspan(first, numbers.size()));
        });
        counted = has_time;
      }
    }
    VisitNumbers(field, column, load, [&](size_t first, std::span<const T> numbers) {
      AddChosen(numbers, counted.subspan(first, numbers.size()), lanes);
    });
    const Found<T> found = Gather(lanes);
    if (found.count == 0) return;
    const auto value = [&](size_t row) {
      return load(column.data() + row * static_cast<size_t>(field.size));
    };
    ends = FindEnds(counted.size(), times, begin,
                    [&](size_t row) { return counted[row] != 0 && !IsNone(field, value(row)); });
    exact.sum.values = {.count = found.count,
                        .min = static_cast<double>(found.least),
                        .max = static_cast<double>(found.greatest),
                        .sum = static_cast<double>(found.sum),
                        .first = static_cast<double>(value(ends->first)),
                        .last = static_cast<double>(value(ends->last))};
    if constexpr (std::is_integral_v<T>) {
      exact.whole = {.min = found.least,
                     .max = found.greatest,
                     .sum = found.sum,
                     .first = value(ends->first),
                     .last = value(ends->last)};
    }
  });
  if (!ends.has_value()) return exact;
  CAIRN_ASSIGN_OR_RETURN(exact.sum.first_time, times.At(begin + ends->first));
  CAIRN_ASSIGN_OR_RETURN(exact.sum.last_time, times.At(begin + ends->last));
  return exact;
}

void Merge(ExactSum& sum, const ExactSum& more) {
  if (more.sum.values.count == 0) return;
  const bool none = sum.sum.values.count == 0;
  WholeAggregate& a = sum.whole;
  const WholeAggregate& b = more.whole;
  a.min = none ? b.min : std::min(a.min, b.min);
  a.max = none ? b.max : std::max(a.max, b.max);
  a.sum += b.sum;
  if (none || more.sum.first_time < sum.sum.first_time) a.first = b.first;
  if (none || more.sum.last_time >= sum.sum.last_time) a.last = b.last;
  Merge(sum.sum, more.sum);
}

}  // namespace cairn::log
