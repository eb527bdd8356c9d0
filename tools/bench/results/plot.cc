#include "tools/bench/results/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace cairn::bench {

namespace {

constexpr double kWidth = 860;
constexpr double kBarHeight = 18;
constexpr double kBarsLeft = 230;
constexpr double kBarsWidth = 400;
constexpr double kChartLeft = 80;
constexpr double kChartWidth = 520;
constexpr double kChartTop = 34;
constexpr double kChartHeight = 260;

// The colour-blind can distinguish them too (Okabe and Ito).
constexpr std::array<const char*, 7> kColours = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                                 "#56b4e9", "#d55e00", "#8c8c8c"};

const char* ColourOf(size_t i) { return kColours[i % kColours.size()]; }

std::string Escaped(const std::string& text) {
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}});
}

std::string Text(double x, double y, const std::string& text, const std::string& more = "") {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\"%s>%s</text>\n", x, y, more, Escaped(text));
}

std::string Line(double x1, double y1, double x2, double y2) {
  return absl::StrFormat(
      "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n", x1, y1, x2,
      y2);
}

// Chooses powers of ten around all values of a logarithmic axis.
class LogAxis {
 public:
  void Cover(double value) {
    if (value <= 0) return;
    low_ = std::min(low_, std::floor(std::log10(value)));
    high_ = std::max(high_, std::ceil(std::log10(value)));
  }
  int low() const { return static_cast<int>(low_); }
  int high() const { return static_cast<int>(std::max(high_, low_ + 1)); }
  // Returns 0 at the low end, 1 at the high one. A value without a logarithm is at the low end.
  double At(double value) const {
    return value <= 0 ? 0 : (std::log10(value) - low()) / (high() - low());
  }

 private:
  double low_ = 12;
  double high_ = -12;
};

}  // namespace

Panel DrawBars(const Result& result) {
  const bool rates = result.question.op_bytes > 0;
  const auto length = [&](const Score& score) { return rates ? 1 / score.median : score.median; };
  double longest = 0;
  for (const Score& score : result.scores) longest = std::max(longest, length(score));
  Panel panel;
  panel.svg = Text(0, 16, result.question.text, " font-weight=\"bold\"");
  double y = 26;
  for (size_t i = 0; i < result.scores.size(); ++i) {
    const Score& score = result.scores[i];
    const double width = longest > 0 ? kBarsWidth * length(score) / longest : 0;
    absl::StrAppend(
        &panel.svg, Text(kBarsLeft - 8, y + 13, score.name, " text-anchor=\"end\""),
        absl::StrFormat(
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", kBarsLeft,
            y, std::max(width, 1.0), kBarHeight - 4, score.name == "Cairn" ? "#0072b2" : "#b8c4cc"),
        Text(kBarsLeft + width + 6, y + 12,
             absl::StrFormat("%s  (%.2fx)", Amount(result.question, score.median), score.ratio)));
    y += kBarHeight;
  }
  panel.height = y + 14;
  return panel;
}

Panel DrawCurves(const Growth& growth) {
  LogAxis across;
  LogAxis up;
  for (const Curve& curve : growth.curves) {
    for (const auto& [x, y] : curve.points) {
      across.Cover(x);
      up.Cover(y);
    }
  }
  const auto place = [&](double x, double y) {
    return std::pair(kChartLeft + kChartWidth * across.At(x),
                     kChartTop + kChartHeight * (1 - up.At(y)));
  };
  Panel panel;
  panel.svg = Text(0, 16, growth.question, " font-weight=\"bold\"");
  for (int power = across.low(); power <= across.high(); ++power) {
    const double x = place(std::pow(10, power), 1).first;
    absl::StrAppend(&panel.svg, Line(x, kChartTop, x, kChartTop + kChartHeight),
                    Text(x, kChartTop + kChartHeight + 16,
                         absl::StrFormat("%.0f", std::pow(10, power)), " text-anchor=\"middle\""));
  }
  for (int power = up.low(); power <= up.high(); ++power) {
    const double y = place(1, std::pow(10, power)).second;
    absl::StrAppend(&panel.svg, Line(kChartLeft, y, kChartLeft + kChartWidth, y),
                    Text(kChartLeft - 6, y + 4, absl::StrFormat("%g", std::pow(10, power)),
                         " text-anchor=\"end\""));
  }
  for (size_t i = 0; i < growth.curves.size(); ++i) {
    std::string points;
    for (const auto& [x, y] : growth.curves[i].points) {
      const auto [px, py] = place(x, y);
      absl::StrAppend(&points, absl::StrFormat("%.1f,%.1f ", px, py));
    }
    const double legend_y = kChartTop + 14 + 18 * static_cast<double>(i);
    absl::StrAppend(
        &panel.svg,
        absl::StrFormat(
            "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", points,
            ColourOf(i)),
        Text(kChartLeft + kChartWidth + 14, legend_y, growth.curves[i].name,
             absl::StrFormat(" fill=\"%s\"", ColourOf(i))));
  }
  const double bottom = kChartTop + kChartHeight + 34;
  absl::StrAppend(&panel.svg, Text(kChartLeft + kChartWidth / 2, bottom,
                                   absl::StrCat(growth.y_title, " by ", growth.x_title),
                                   " text-anchor=\"middle\""));
  panel.height = bottom + 22;
  return panel;
}

std::string Stack(const std::vector<Panel>& panels) {
  std::string body;
  double y = 10;
  for (const Panel& panel : panels) {
    absl::StrAppend(&body, absl::StrFormat("<g transform=\"translate(14,%.1f)\">\n", y), panel.svg,
                    "</g>\n");
    y += panel.height;
  }
  return absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n%s</svg>\n",
      kWidth, y + 10, body);
}

}  // namespace cairn::bench
