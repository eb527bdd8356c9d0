// Draws values of a log, as the tool draws them.
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "tools/cairn/plot/render.h"
#include "tools/python/binding/log_handles.h"
#include "tools/python/binding/text.h"

namespace cairn::python {

namespace {

using namespace nb::literals;

using Point = std::tuple<int64_t, double, double, double>;  // time, mean, min and max
using NamedSeries = std::tuple<std::string, std::string, std::vector<Point>>;  // with its unit

std::string DrawPlot(std::string title, std::string note, std::optional<int> unit, int64_t begin,
                     int64_t end, std::vector<NamedSeries> series) {
  tool::Figure figure = {.title = std::move(title),
                         .note = std::move(note),
                         .unit = {},
                         .begin = begin,
                         .end = end,
                         .series = {}};
  if (unit.has_value()) figure.unit = static_cast<TimeUnit>(*unit);
  for (auto& [name, unit_of_values, points] : series) {
    tool::Series one = {.name = std::move(name), .unit = std::move(unit_of_values), .points = {}};
    for (const auto& [time, mean, min, max] : points) {
      one.points.push_back({.time = time, .mean = mean, .min = min, .max = max});
    }
    figure.series.push_back(std::move(one));
  }
  return tool::RenderSvg(figure);
}

}  // namespace

void BindPlot(nb::module_& module) {
  module.def("draw_plot", &DrawPlot, "title"_a, "note"_a, "unit"_a.none(), "begin"_a, "end"_a,
             "series"_a);
}

}  // namespace cairn::python
