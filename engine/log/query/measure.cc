#include "engine/log/query/measure.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "engine/log/stats/values.h"

namespace cairn::log {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void LoadNumbers(const Field& field, Bytes column, Numbers& numbers) {
  const auto step = static_cast<size_t>(field.size);
  const size_t count = column.size() / step;
  numbers.reals.resize(count);
  VisitLoader(field, [&](const auto& load) {
    constexpr bool kWhole = std::is_integral_v<decltype(load(column.data()))>;
    if (kWhole) numbers.wholes.resize(count);
    for (size_t i = 0; i < count; ++i) {
      const auto value = load(column.data() + i * step);
      numbers.reals[i] = IsNone(field, value) ? kNone : static_cast<double>(value);
      if constexpr (kWhole) numbers.wholes[i] = value;
    }
  });
}

void Measurer::Add(const Numbers& numbers, size_t i, int64_t time) {
  const double value = numbers.reals[i];
  if (std::isnan(value)) return;
  if (what_.values) values_.push_back(value);
  if (what_.deviation) {
    ++count_;
    const double distance = value - mean_;
    mean_ += distance / static_cast<double>(count_);
    squares_ += distance * (value - mean_);
  }
  if (!what_.increase) return;
  const absl::int128 whole = numbers.wholes.empty() ? absl::int128(0) : numbers.wholes[i];
  if (last_.exists) {
    if (steps_++ == 0) since_ = last_.time;
    // A counter that is less than before has begun again at 0.
    const bool reset = numbers.wholes.empty() ? value < last_.real : whole < last_.whole;
    if (reset) {
      increase_ += value;
    } else if (numbers.wholes.empty()) {
      increase_ += value - last_.real;
    } else {
      increase_ += static_cast<double>(whole - last_.whole);
    }
  }
  last_ = {.exists = true, .real = value, .whole = whole, .time = time};
}

double Measurer::Quantile(double quantile) {
  if (values_.empty()) return kNone;
  const double place = quantile * static_cast<double>(values_.size() - 1);
  const double below = std::floor(place);
  const auto lower = values_.begin() + static_cast<ptrdiff_t>(below);
  std::nth_element(values_.begin(), lower, values_.end());
  if (place == below) return *lower;
  const double upper = *std::min_element(lower + 1, values_.end());
  return *lower == upper ? upper : *lower + (upper - *lower) * (place - below);
}

double Measurer::Get(const LogMeasure& measure, int64_t units_per_second) {
  switch (measure.kind) {
    case MeasureKind::kQuantile:
      return Quantile(measure.quantile);
    case MeasureKind::kDeviation:
      return count_ < 2 ? kNone : std::sqrt(squares_ / static_cast<double>(count_ - 1));
    case MeasureKind::kIncrease:
      return steps_ == 0 ? kNone : increase_;
    case MeasureKind::kRate:
      break;
  }
  const double units = static_cast<double>(last_.time) - static_cast<double>(since_);
  if (steps_ == 0 || last_.time == since_) return kNone;
  return increase_ / (units / static_cast<double>(units_per_second));
}

void Measurer::EndBucket() {
  values_.clear();
  count_ = 0;
  mean_ = 0;
  squares_ = 0;
  increase_ = 0;
  steps_ = 0;
}

}  // namespace cairn::log
