#include "tools/cairn/plot/figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "absl/strings/str_replace.h"

#include "tools/cairn/text/controls.h"

namespace cairn::tool {

namespace {

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  double size() const { return std::max(high - low, 0.0); }
  Extent operator|(const Extent& other) const {
    return {.low = std::min(low, other.low), .high = std::max(high, other.high)};
  }
};

Extent ExtentOf(const Series& series) {
  Extent extent;
  for (const PlotPoint& point : series.points) {
    extent = extent | Extent{.low = point.min, .high = point.max};
  }
  return extent;
}

// Adds space around the values, also if all are equal.
void AddMargin(Panel& panel) {
  if (panel.low > panel.high) panel = {.series = panel.series, .low = 0, .high = 1};
  double margin = (panel.high - panel.low) * 0.05;
  if (margin <= 0) margin = std::max(std::abs(panel.high) * 0.1, 1e-9);
  if (panel.high == 0 && panel.low == 0) margin = 1;
  constexpr double kMost = std::numeric_limits<double>::max() / 4;
  panel.low = std::clamp(panel.low - margin, -kMost, kMost);
  panel.high = std::clamp(panel.high + margin, -kMost, kMost);
}

}  // namespace

std::vector<Panel> MakePanels(const Figure& figure) {
  // The part of the height that each series of a panel takes at least.
  constexpr double kLeastPart = 0.2;
  std::vector<Panel> panels;
  std::vector<double> least;  // the smallest extent of a series in each panel
  for (size_t i = 0; i < figure.series.size(); ++i) {
    const Extent extent = ExtentOf(figure.series[i]);
    size_t chosen = panels.size();
    for (size_t p = panels.size(); p-- > 0;) {
      const Extent both = extent | Extent{.low = panels[p].low, .high = panels[p].high};
      if (std::min(least[p], extent.size()) >= kLeastPart * both.size()) chosen = p;
    }
    if (chosen == panels.size()) {
      panels.push_back({.series = {i}, .low = extent.low, .high = extent.high});
      least.push_back(extent.size());
      continue;
    }
    Panel& panel = panels[chosen];
    panel.series.push_back(i);
    panel.low = std::min(panel.low, extent.low);
    panel.high = std::max(panel.high, extent.high);
    least[chosen] = std::min(least[chosen], extent.size());
  }
  for (Panel& panel : panels) AddMargin(panel);
  return panels;
}

std::vector<PointRun> RunsOf(const std::vector<PlotPoint>& points) {
  if (points.empty()) return {};
  const auto distance = [&points](size_t i) {
    return static_cast<uint64_t>(points[i].time) - static_cast<uint64_t>(points[i - 1].time);
  };
  std::vector<uint64_t> distances;
  for (size_t i = 1; i < points.size(); ++i) distances.push_back(distance(i));
  uint64_t usual = 0;
  if (!distances.empty()) {
    const auto middle = distances.begin() + std::ssize(distances) / 2;
    std::ranges::nth_element(distances, middle);
    usual = *middle;
  }
  constexpr uint64_t kGap = 8;  // times the usual distance
  std::vector<PointRun> runs = {{.begin = 0, .end = 1}};
  for (size_t i = 1; i < points.size(); ++i) {
    if (distance(i) / kGap > usual) runs.push_back({.begin = i, .end = i});
    runs.back().end = i + 1;
  }
  return runs;
}

std::string_view ColourOf(size_t series) {
  // These are the colours of Okabe and Ito, which people with any kind of colour vision can tell
  // apart.
  constexpr std::array<std::string_view, 7> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                        "#e69f00", "#56b4e9", "#444444"};
  return kColours[series % kColours.size()];
}

std::string LabelOf(const Series& series) {
  return series.unit.empty() ? series.name : series.name + " (" + series.unit + ")";
}

std::string EscapeXml(std::string_view text) {
  return absl::StrReplaceAll(
      OneLine(text),
      {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

}  // namespace cairn::tool
