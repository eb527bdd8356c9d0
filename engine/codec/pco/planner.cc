#include "engine/codec/pco/planner.h"

#include <algorithm>

namespace cairn::pco {

namespace {

// Plans are estimated by this many runs of neighbours: short ones for all plans, and long ones for
// those that the short ones say are near the best.
constexpr size_t kRuns = 8;
constexpr size_t kShortRun = 64;
constexpr size_t kLongRun = 256;
constexpr double kNear = 1.1;
constexpr int kBinsLog = 6;
constexpr int kMostTriedOrders = 4;

}  // namespace

template <Latent L>
void Planner<L>::TakeSample(size_t run, std::span<const L> latents) {
  run_ = run;
  if (latents.size() <= kRuns * run) {
    sample_.assign(latents.begin(), latents.end());
    return;
  }
  sample_.clear();
  for (size_t i = 0; i < kRuns; ++i) {
    const auto part = latents.subspan((latents.size() - run) * i / (kRuns - 1), run);
    sample_.insert(sample_.end(), part.begin(), part.end());
  }
}

template <Latent L>
double Planner<L>::Split(const Splitting& splitting, int64_t count) {
  order_ = 0;
  if (splitting.mode == Mode::kClassic) {
    primary_ = sample_;
    return 0;
  }
  primary_.resize(sample_.size());
  secondary_.resize(sample_.size());
  kernels_.split(splitting, sample_, primary_.data(), secondary_.data());
  return bins_.EstimateBits(kBinsLog, count, secondary_);
}

template <Latent L>
void Planner<L>::TakeDeltas() {
  const auto done = static_cast<size_t>(order_);
  for (size_t begin = 0; begin + done < primary_.size(); begin += run_) {
    const auto run = std::span(primary_).subspan(begin);
    const auto left = run.first(std::min(run_, run.size()) - done);
    kernels_.differ(left, kMid<L>, left.data());  // 0 is in the middle
  }
  ++order_;
}

template <Latent L>
double Planner<L>::EstimatePrimary(int64_t count, int64_t page_count) {
  // Runs are estimated apart from each other, since they are not neighbours.
  const auto done = static_cast<size_t>(order_);
  sorted_.clear();
  for (size_t begin = 0; begin + done < primary_.size(); begin += run_) {
    const auto run = std::span(primary_).subspan(begin);
    const auto left = run.first(std::min(run_, run.size()) - done);
    sorted_.insert(sorted_.end(), left.begin(), left.end());
  }
  const int64_t pages = (count + page_count - 1) / page_count;
  return bins_.EstimateBits(kBinsLog, count, sorted_) +
         static_cast<double>(pages * order_ * kBits<L>);
}

template <Latent L>
void Planner<L>::TrySplitting(const Splitting& splitting, int64_t count, int64_t page_count) {
  const double secondary_bits = Split(splitting, count);
  double before = std::numeric_limits<double>::max();
  const int64_t most_orders = std::clamp<int64_t>(count - 1, 1, kMostTriedOrders);
  for (int order = 0; order < most_orders; ++order) {
    if (order > 0) TakeDeltas();
    const double bits = EstimatePrimary(count, page_count) + secondary_bits;
    plans_.push_back({.splitting = splitting, .order = order, .bits = bits});
    // Higher orders do not help after one that made it worse.
    if (bits > before) break;
    before = bits;
  }
}

template <Latent L>
Plan Planner<L>::Choose(NumberKind kind, std::span<const L> latents, int64_t page_count) {
  const auto count = static_cast<int64_t>(latents.size());
  TakeSample(kLongRun, latents);
  const std::vector<Splitting> splittings = FindSplittings<L>(kind, sample_);
  TakeSample(kShortRun, latents);
  plans_.clear();
  for (const Splitting& splitting : splittings) TrySplitting(splitting, count, page_count);
  const auto fewer_bits = [](const Plan& a, const Plan& b) { return a.bits < b.bits; };
  const double most = std::ranges::min_element(plans_, fewer_bits)->bits * kNear;
  std::erase_if(plans_, [=](const Plan& plan) { return plan.bits > most; });
  TakeSample(kLongRun, latents);
  for (Plan& plan : plans_) {
    plan.bits = Split(plan.splitting, count);
    while (order_ < plan.order) TakeDeltas();
    plan.bits += EstimatePrimary(count, page_count);
  }
  return *std::ranges::min_element(plans_, fewer_bits);
}

template class Planner<uint8_t>;
template class Planner<uint16_t>;
template class Planner<uint32_t>;
template class Planner<uint64_t>;

}  // namespace cairn::pco
