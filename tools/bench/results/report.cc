#include "tools/bench/results/report.h"

#include <algorithm>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "tools/bench/results/markdown.h"
#include "tools/bench/results/plot.h"

namespace cairn::bench {

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

std::string Report::ToJson() const {
  nlohmann::json all = {
      {"results", nlohmann::json::array()}, {"growth", nlohmann::json::array()}, {"notes", notes_}};
  for (const Result& result : results_) {
    nlohmann::json scores = nlohmann::json::array();
    for (const Score& score : result.scores) {
      nlohmann::json one = {{"name", score.name},
                            {"median_seconds", score.median},
                            {"best_seconds", score.best},
                            {"ratio", score.ratio}};
      if (score.p99.has_value()) one["p99_seconds"] = *score.p99;
      scores.push_back(std::move(one));
    }
    all["results"].push_back({{"question", result.question.text},
                              {"op_bytes", result.question.op_bytes},
                              {"clock", result.question.clock == Clock::kCpu ? "cpu" : "wall"},
                              {"scores", std::move(scores)}});
  }
  for (const Growth& growth : growths_) {
    nlohmann::json curves = nlohmann::json::array();
    for (const Curve& curve : growth.curves) {
      curves.push_back({{"name", curve.name}, {"points", curve.points}});
    }
    all["growth"].push_back({{"question", growth.question},
                             {"x", growth.x_title},
                             {"y", growth.y_title},
                             {"curves", std::move(curves)}});
  }
  return all.dump(1) + "\n";
}

std::string Report::ToMarkdown() const {
  std::string text = TableOf(results_);
  for (const Growth& growth : growths_) text += TableOf(growth);
  return text;
}

std::string Report::ToSvg() const {
  std::vector<Panel> panels;
  for (const Result& result : results_) panels.push_back(DrawBars(result));
  for (const Growth& growth : growths_) panels.push_back(DrawCurves(growth));
  return Stack(panels);
}

}  // namespace cairn::bench
