#include "tools/bench/results/latencies.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "absl/strings/str_format.h"

namespace cairn::bench {

namespace {

constexpr double kMicro = 1e6;

}  // namespace

void Latencies::Sort() { std::ranges::sort(seconds_); }

double Latencies::Quantile(double share) const {
  return seconds_[static_cast<size_t>(share * static_cast<double>(seconds_.size() - 1))];
}

double Latencies::Rate() const {
  return static_cast<double>(seconds_.size()) /
         std::accumulate(seconds_.begin(), seconds_.end(), 0.0);
}

std::string Latencies::ToString() const {
  return absl::StrFormat("median %.1f, p99 %.1f, p99.9 %.1f, p99.99 %.1f, longest %.0f",
                         kMicro * Quantile(0.5), kMicro * Quantile(0.99), kMicro * Quantile(0.999),
                         kMicro * Quantile(0.9999), kMicro * longest());
}

Curve Latencies::Histogram(const std::string& name) const {
  Curve curve{.name = name, .points = {}};
  for (double limit = 1e-6; limit < 10; limit *= 2) {
    const auto longer = seconds_.end() - std::ranges::upper_bound(seconds_, limit);
    const double million = 1e6 * static_cast<double>(longer) / static_cast<double>(seconds_.size());
    if (million == 0) break;
    curve.points.emplace_back(limit * kMicro, million);
  }
  return curve;
}

}  // namespace cairn::bench
