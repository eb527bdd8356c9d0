#include "tools/bench/results/markdown.h"

#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace cairn::bench {

namespace {

std::string RowOf(const std::vector<std::string>& cells) {
  return absl::StrCat("| ", absl::StrJoin(cells, " | "), " |\n");
}

std::string HeadOf(const std::vector<std::string>& cells) {
  return absl::StrCat("\n", RowOf(cells), RowOf(std::vector<std::string>(cells.size(), "---")));
}

std::string CellOf(const Question& question, const Score& score) {
  std::string cell = absl::StrFormat("%s (%.2fx)", Amount(question, score.median), score.ratio);
  if (score.p99.has_value()) absl::StrAppend(&cell, ", p99 ", Amount(question, *score.p99));
  return cell;
}

}  // namespace

std::string TableOf(std::span<const Result> results) {
  std::string text;
  std::vector<std::string> head;
  for (const Result& result : results) {
    std::vector<std::string> names = {"question"};
    std::vector<std::string> cells = {result.question.text};
    for (const Score& score : result.scores) {
      names.push_back(score.name);
      cells.push_back(CellOf(result.question, score));
    }
    if (names != head) text += HeadOf(names);
    head = names;
    text += RowOf(cells);
  }
  return text;
}

std::string TableOf(const Growth& growth) {
  std::set<double> places;
  for (const Curve& curve : growth.curves) {
    for (const auto& [x, y] : curve.points) places.insert(x);
  }
  std::vector<std::string> head = {absl::StrCat(growth.y_title, " by ", growth.x_title)};
  for (const double x : places) head.push_back(absl::StrFormat("%.0f", x));
  std::string text = absl::StrCat("\n", growth.question, "\n", HeadOf(head));
  for (const Curve& curve : growth.curves) {
    const std::map<double, double> points(curve.points.begin(), curve.points.end());
    std::vector<std::string> cells = {curve.name};
    for (const double x : places) {
      const auto point = points.find(x);
      cells.push_back(point == points.end() ? "" : absl::StrFormat("%.4g", point->second));
    }
    text += RowOf(cells);
  }
  return text;
}

}  // namespace cairn::bench
