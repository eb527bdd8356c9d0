#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "tools/cairn/plot/render.h"
#include "tools/cairn/plot/ticks.h"

namespace cairn::tool {

namespace {

constexpr double kWidth = 900;
constexpr double kLeft = 80;  // for numbers
constexpr double kRight = 24;
constexpr double kTop = 58;     // for the title
constexpr double kLegend = 24;  // above each panel
constexpr double kBottom = 52;  // for times

constexpr std::string_view kStyle = R"(<style>
text{font:12px system-ui,"DejaVu Sans",sans-serif;fill:#333}
.title{font-size:16px;font-weight:600;fill:#111}
.note,.more{font-size:11px;fill:#777}
.frame{fill:#fff;stroke:#bbb}
.grid{stroke:#e6e6e6}
.line{fill:none;stroke-width:1.5;stroke-linejoin:round;stroke-linecap:round}
.band{stroke:none;fill-opacity:.22}
</style>
)";

int MostTicks(double height) { return std::max(4, static_cast<int>(height / 36)); }

std::string TextAt(double x, double y, std::string_view attributes, std::string_view text) {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", x, y,
                         std::string(attributes), EscapeXml(text));
}

// Draws the series of one panel.
class PanelPainter {
 public:
  PanelPainter(const Figure& figure, const Panel& panel, const PanelBox& box)
      : figure_(figure), panel_(panel), box_(box) {}

  std::string Paint(bool last) const {
    std::string out = "<g class=\"panel\">\n" + Legend();
    absl::StrAppendFormat(
        &out, "<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
        box_.x, box_.y, box_.width, box_.height);
    absl::StrAppend(&out, "<g class=\"yticks\">\n", ValueTicks(), "</g>\n<g class=\"xticks\">\n",
                    TimeLines(last), "</g>\n");
    // Points that a reader moves out of the panel must not be seen.
    const std::string clip = absl::StrFormat("panel-%.0f", box_.y);
    absl::StrAppendFormat(&out,
                          "<clipPath id=\"%s\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                          "height=\"%.1f\"/></clipPath>\n<g clip-path=\"url(#%s)\">\n",
                          clip, box_.x, box_.y, box_.width, box_.height, clip);
    for (const size_t series : panel_.series) out += Band(series);
    for (const size_t series : panel_.series) out += Line(series);
    return out + "</g>\n</g>\n";
  }

 private:
  double X(int64_t time) const {
    const auto from = [this](int64_t t) {
      return static_cast<double>(static_cast<uint64_t>(t) - static_cast<uint64_t>(figure_.begin));
    };
    return box_.x + std::clamp(from(time) / from(figure_.end), 0.0, 1.0) * box_.width;
  }
  double Y(double value) const {
    const double part = (value - panel_.low) / (panel_.high - panel_.low);
    return box_.y + (1 - std::clamp(part, 0.0, 1.0)) * box_.height;
  }

  std::string Legend() const {
    constexpr double kLetter = 6.8;
    constexpr size_t kMostBytes = 60;
    std::string out;
    double x = box_.x;
    for (const size_t i : panel_.series) {
      const std::string label = LabelOf(figure_.series[i]);
      const std::string shown =
          label.size() > kMostBytes ? label.substr(0, kMostBytes) + "…" : label;
      absl::StrAppendFormat(
          &out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"4\" rx=\"2\" fill=\"%s\"/>\n", x,
          box_.y - 12, std::string(ColourOf(i)));
      out += TextAt(x + 20, box_.y - 6, "class=\"legend\"", shown);
      x += 40 + kLetter * static_cast<double>(shown.size());
    }
    return out;
  }

  std::string ValueTicks() const {
    std::string out;
    for (const Tick& tick : NumberTicks(panel_.low, panel_.high, MostTicks(box_.height))) {
      const double y = box_.y + (1 - tick.at) * box_.height;
      absl::StrAppendFormat(
          &out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", box_.x,
          box_.x + box_.width, y, y);
      out += TextAt(box_.x - 8, y + 4, "text-anchor=\"end\"", tick.label);
    }
    return out;
  }

  // The labels are below the last panel.
  std::string TimeLines(bool last) const {
    constexpr int kMost = 9;
    std::string out;
    for (const Tick& tick : TimeTicks(figure_.begin, figure_.end, figure_.unit, kMost)) {
      const double x = box_.x + tick.at * box_.width;
      const double bottom = box_.y + box_.height;
      absl::StrAppendFormat(
          &out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", x, x,
          box_.y, bottom);
      if (!last) continue;
      out += TextAt(x, bottom + 18, "text-anchor=\"middle\"", tick.label);
      if (!tick.more.empty()) {
        out += TextAt(x, bottom + 34, "class=\"more\" text-anchor=\"middle\"", tick.more);
      }
    }
    return out;
  }

  std::string Line(size_t series) const {
    const std::vector<PlotPoint>& points = figure_.series[series].points;
    std::string path;
    for (const PointRun& run : RunsOf(points)) {
      for (size_t i = run.begin; i < run.end; ++i) {
        absl::StrAppendFormat(&path, "%c%.1f %.1f", i == run.begin ? 'M' : 'L', X(points[i].time),
                              Y(points[i].mean));
      }
      // A single point is drawn as a dot.
      if (run.end - run.begin == 1) path += "h.01";
    }
    return absl::StrFormat("<path class=\"line\" stroke=\"%s\" d=\"%s\"/>\n",
                           std::string(ColourOf(series)), path);
  }

  std::string Band(size_t series) const {
    const std::vector<PlotPoint>& points = figure_.series[series].points;
    std::string path;
    for (const PointRun& run : RunsOf(points)) {
      for (size_t i = run.begin; i < run.end; ++i) {
        absl::StrAppendFormat(&path, "%c%.1f %.1f", i == run.begin ? 'M' : 'L', X(points[i].time),
                              Y(points[i].max));
      }
      for (size_t i = run.end; i-- > run.begin;) {
        absl::StrAppendFormat(&path, "L%.1f %.1f", X(points[i].time), Y(points[i].min));
      }
      path += 'Z';
    }
    return absl::StrFormat("<path class=\"band\" fill=\"%s\" d=\"%s\"/>\n",
                           std::string(ColourOf(series)), path);
  }

  const Figure& figure_;
  const Panel& panel_;
  PanelBox box_;
};

}  // namespace

std::vector<PanelBox> LayOut(size_t panels) {
  const double height = panels <= 1 ? 320 : panels == 2 ? 200 : 150;
  std::vector<PanelBox> boxes;
  for (size_t i = 0; i < panels; ++i) {
    boxes.push_back({.x = kLeft,
                     .y = kTop + kLegend + static_cast<double>(i) * (height + kLegend + 8),
                     .width = kWidth - kLeft - kRight,
                     .height = height});
  }
  return boxes;
}

std::string RenderSvg(const Figure& figure) {
  const std::vector<Panel> panels = MakePanels(figure);
  const std::vector<PanelBox> boxes = LayOut(panels.size());
  const double height = (boxes.empty() ? kTop : boxes.back().y + boxes.back().height) + kBottom;
  std::string out = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
      "height=\"%.0f\">\n",
      kWidth, height, kWidth, height);
  absl::StrAppend(&out, std::string(kStyle),
                  "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
                  TextAt(kLeft, 26, "class=\"title\"", figure.title),
                  TextAt(kLeft, 46, "class=\"note\"", figure.note));
  for (size_t i = 0; i < panels.size(); ++i) {
    out += PanelPainter(figure, panels[i], boxes[i]).Paint(i + 1 == panels.size());
  }
  if (figure.unit && !boxes.empty()) {
    out += TextAt(kWidth - kRight, height - 8, "class=\"more\" text-anchor=\"end\"", "UTC");
  }
  return out + "</svg>\n";
}

}  // namespace cairn::tool
