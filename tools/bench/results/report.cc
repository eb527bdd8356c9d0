#include "tools/bench/results/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include <nlohmann/json.hpp>

namespace cairn::bench {

namespace {

using Json = nlohmann::ordered_json;

// No measurement has more digits that mean something.
double Rounded(double value) {
  constexpr int kDigits = 5;
  if (value == 0 || !std::isfinite(value)) return value;
  const int after = kDigits - 1 - static_cast<int>(std::floor(std::log10(std::abs(value))));
  return after > 0 ? std::stod(absl::StrFormat("%.*f", after, value)) : std::round(value);
}

double InUnit(const Question& question, double seconds) {
  const bool rate = question.op_bytes > 0;
  return Rounded(rate ? static_cast<double>(question.op_bytes) / seconds / 1e9 : 1e6 * seconds);
}

// Writes one entry a line, so that changes of the file are read easily.
std::string ListOf(const std::vector<std::string>& entries) {
  return entries.empty() ? "[]" : absl::StrCat("[\n  ", absl::StrJoin(entries, ",\n  "), "\n]");
}

}  // namespace

void Report::Add(Result result) {
  std::printf("\n%s\n", result.question.text.c_str());
  for (const Score& score : result.scores) {
    const std::string p99 =
        score.p99.has_value() ? "  p99 " + Amount(result.question, *score.p99) : "";
    std::printf("  %-34s %14s  best %14s  %8.3fx%s\n", score.name.c_str(),
                Amount(result.question, score.median).c_str(),
                Amount(result.question, score.best).c_str(), score.ratio, p99.c_str());
  }
  std::fflush(stdout);
  results_.push_back(std::move(result));
}

void Report::Add(Growth growth) {
  std::printf("\n%s: %s by %s\n", growth.question.c_str(), growth.y_title.c_str(),
              growth.x_title.c_str());
  for (const Curve& curve : growth.curves) {
    std::printf("  %s:", curve.name.c_str());
    for (const auto& [x, y] : curve.points) std::printf("  %.0f: %.4g", x, y);
    std::printf("\n");
  }
  std::fflush(stdout);
  growths_.push_back(std::move(growth));
}

void Report::Note(const std::string& note) {
  if (std::find(notes_.begin(), notes_.end(), note) != notes_.end()) return;
  std::printf("%s\n", note.c_str());
  notes_.push_back(note);
}

std::string Report::ToJson(const std::string& command) const {
  std::vector<std::string> results;
  for (const Result& result : results_) {
    const bool rate = result.question.op_bytes > 0;
    Json scores = Json::array();
    for (const Score& score : result.scores) {
      scores.push_back({{"name", score.name},
                        {"value", InUnit(result.question, score.median)},
                        {"best", InUnit(result.question, score.best)},
                        {"ratio", Rounded(score.ratio)}});
      if (score.p99.has_value()) scores.back()["p99"] = InUnit(result.question, *score.p99);
    }
    results.push_back(Json{{"question", result.question.text},
                           {"unit", rate ? "GB/s" : "us"},
                           {"better", rate ? "higher" : "lower"},
                           {"clock", result.question.clock == Clock::kCpu ? "cpu" : "wall"},
                           {"scores", std::move(scores)}}
                          .dump());
  }
  std::vector<std::string> growths;
  for (const Growth& growth : growths_) {
    Json curves = Json::array();
    for (const Curve& curve : growth.curves) {
      Json points = Json::array();
      for (const auto& [x, y] : curve.points) points.push_back({Rounded(x), Rounded(y)});
      curves.push_back({{"name", curve.name}, {"points", std::move(points)}});
    }
    growths.push_back(Json{{"question", growth.question},
                           {"x", growth.x_title},
                           {"y", growth.y_title},
                           {"curves", std::move(curves)}}
                          .dump());
  }
  std::vector<std::string> notes;
  for (const std::string& note : notes_) notes.push_back(Json(note).dump());
  return absl::StrCat("{\n\"command\": ", Json(command).dump(), ",\n\"results\": ", ListOf(results),
                      ",\n\"growth\": ", ListOf(growths), ",\n\"notes\": ", ListOf(notes), "\n}\n");
}

}  // namespace cairn::bench
