// The content of a plot, whatever draws it.
#ifndef CAIRN_TOOLS_CAIRN_PLOT_FIGURE_H_
#define CAIRN_TOOLS_CAIRN_PLOT_FIGURE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/record.h"

namespace cairn::tool {

// The values of one span of time. All three are finite.
struct PlotPoint {
  int64_t time = 0;
  double mean = 0;
  double min = 0;
  double max = 0;
};

struct Series {
  std::string name;
  std::string unit;  // of its values; may be empty
  std::vector<PlotPoint> points;
};

struct Figure {
  std::string title;
  std::string note;              // below it
  std::optional<TimeUnit> unit;  // unit of times; empty: they are plain numbers
  int64_t begin = 0;             // begin of the time axis
  int64_t end = 1;               // end of it, greater than begin
  std::vector<Series> series;
};

// Series that share an axis of values, because their values are alike.
struct Panel {
  std::vector<size_t> series;
  double low = 0;
  double high = 1;
};
std::vector<Panel> MakePanels(const Figure& figure);

// Indices of points, the last excluded.
struct PointRun {
  size_t begin = 0;
  size_t end = 0;
};
// Returns the points between gaps. No line is drawn over a gap.
std::vector<PointRun> RunsOf(const std::vector<PlotPoint>& points);

// The colour of a series.
std::string_view ColourOf(size_t series);

// Returns a name with its unit.
std::string LabelOf(const Series& series);

// Returns text for XML and HTML, whatever characters it has.
std::string EscapeXml(std::string_view text);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_PLOT_FIGURE_H_
