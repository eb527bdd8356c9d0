#include "tools/bench/results/contest.h"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "absl/strings/str_format.h"

#include "tools/status.h"

namespace cairn::bench {

double Now(Clock clock) {
  timespec now = {};
  clock_gettime(clock == Clock::kCpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string Amount(const Question& question, double seconds) {
  if (question.op_bytes > 0) {
    const double rate = static_cast<double>(question.op_bytes) / seconds / 1e9;
    return rate < 10 ? absl::StrFormat("%.3f GB/s", rate) : absl::StrFormat("%.1f GB/s", rate);
  }
  const double us = seconds * 1e6;
  return us < 10 ? absl::StrFormat("%.3f us", us) : absl::StrFormat("%.1f us", us);
}

double Percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at =
      static_cast<std::ptrdiff_t>(std::floor(share * static_cast<double>(values.size() - 1) + 0.5));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<size_t>(at)];
}

double Median(std::vector<double> values) { return Percentile(std::move(values), 0.5); }

Result Judge(Question question, const std::vector<Samples>& samples) {
  Result result{.question = std::move(question), .scores = {}};
  for (const Samples& one : samples) {
    Score score{.name = one.name};
    score.median = Median(one.rounds);
    score.best = Percentile(one.rounds, 0);
    std::vector<double> ratios;
    const size_t rounds = std::min(one.rounds.size(), samples.front().rounds.size());
    for (size_t i = 0; i < rounds; ++i) {
      ratios.push_back(one.rounds[i] / samples.front().rounds[i]);
    }
    score.ratio = Median(ratios);
    if (!one.single_ops.empty()) score.p99 = Percentile(one.single_ops, 0.99);
    result.scores.push_back(std::move(score));
  }
  return result;
}

void Contest::Add(std::string name, Step run, Step prepare) {
  contestants_.push_back({std::move(name), std::move(run), std::move(prepare)});
}

absl::StatusOr<Result> Contest::Run(int rounds) const {
  std::vector<Samples> samples;
  for (const Contestant& contestant : contestants_) samples.push_back({contestant.name, {}});
  for (int round = 0; round <= rounds; ++round) {
    for (size_t i = 0; i < contestants_.size(); ++i) {
      const Contestant& contestant = contestants_[i];
      if (contestant.prepare != nullptr) {
        RETURN_IF_ERROR(contestant.prepare());
      }
      const double begin = Now(question_.clock);
      RETURN_IF_ERROR(contestant.run());
      const double took = Now(question_.clock) - begin;
      if (round > 0) samples[i].rounds.push_back(took / static_cast<double>(question_.ops));
    }
  }
  return Judge(question_, samples);
}

}  // namespace cairn::bench
