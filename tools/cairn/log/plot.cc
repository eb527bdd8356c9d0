#include "tools/cairn/log/plot.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "tools/cairn/flags/log_flags.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/plot/render.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

bool IsHtml(const std::string& path) { return path.ends_with(".html") || path.ends_with(".htm"); }

// Returns more buckets than a picture has columns. A page can be zoomed.
uint64_t MostBuckets(const PlotFlags& flags) { return IsHtml(flags.path) ? 4000 : 1000; }

std::string CheckPlotPath(const std::string& path) {
  const bool fine = IsHtml(path) || path.ends_with(".svg");
  return fine ? "" : "'" + path + "' ends neither with .svg nor with .html";
}

constexpr int64_t kMaxTime = std::numeric_limits<int64_t>::max();

// The times that are plotted, the last one included: there may be no time after it.
struct PlottedTimes {
  int64_t first = 0;
  int64_t last = 0;
};

uint64_t Elapsed(int64_t from, int64_t to) {
  return static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
}

int64_t CountRecords(const std::vector<LogBucket>& buckets) {
  int64_t records = 0;
  for (const LogBucket& bucket : buckets) records += bucket.records;
  return records;
}

// Returns the times of the log that the aggregation asks for.
absl::StatusOr<PlottedTimes> TimesToPlot(const LogSnapshot& log, const TimeRange& wanted) {
  ASSIGN_OR_RETURN(const std::optional<TimeRange> all, log.Times());
  ASSIGN_OR_RETURN(const std::optional<int64_t> greatest, log.GreatestTime());
  if (all.has_value() && greatest.has_value()) {
    const PlottedTimes times = {.first = std::max(all->begin, wanted.begin), .last = *greatest};
    if (wanted.end == kMaxTime && times.first <= times.last) return times;
    if (times.first < wanted.end && times.first <= times.last) {
      return PlottedTimes{.first = times.first, .last = std::min(times.last, wanted.end - 1)};
    }
  }
  return absl::FailedPreconditionError("--plot: there are no records of these times");
}

TimeRange RangeOf(const PlottedTimes& times) {
  return {.begin = times.first, .end = times.last == kMaxTime ? kMaxTime : times.last + 1};
}

// Returns buckets that can be told apart. If there are few records, there is one for each time.
absl::StatusOr<std::vector<LogBucket>> BucketsOf(const LogSnapshot& log, const PlottedTimes& times,
                                                 LogAggregation& aggregation, uint64_t most) {
  const auto least = static_cast<int64_t>(Elapsed(times.first, times.last) / most + 1);
  const int64_t asked = aggregation.bucket;
  const bool calendar = aggregation.calendar != CalendarUnit::kNone;
  if (!calendar) aggregation.bucket = asked > 0 ? ((least - 1) / asked + 1) * asked : least;
  ASSIGN_OR_RETURN(std::vector<LogBucket> buckets, log.Aggregate(aggregation));
  if (asked > 0 || CountRecords(buckets) > static_cast<int64_t>(most)) return buckets;
  aggregation.bucket = 1;
  return log.Aggregate(aggregation);
}

// A line of the plot.
struct Line {
  std::string name;
  std::string field;                                                // whose values it shows
  std::function<std::optional<PlotPoint>(const LogBucket&)> point;  // of a bucket
};

// Draws the mean of a field in a band from its least to its greatest value.
Line LineOf(const Field& field, size_t number) {
  const auto point = [number](const LogBucket& bucket) -> std::optional<PlotPoint> {
    const FieldAggregate& values = bucket.fields[number];
    if (values.count == 0) return std::nullopt;
    return PlotPoint{.mean = values.mean(), .min = values.min, .max = values.max};
  };
  return {.name = NameOf(field), .field = NameOf(field), .point = point};
}

// Draws the values of a column, which must outlive the line.
Line LineOf(const AggColumn& column) {
  const auto point = [&column](const LogBucket& bucket) -> std::optional<PlotPoint> {
    const AggValue value = ValueOf(column, bucket);
    if (!value.exists) return std::nullopt;
    return PlotPoint{.mean = value.real, .min = value.real, .max = value.real};
  };
  return {.name = NameOf(column.column), .field = NameOf(column.source), .point = point};
}

Series SeriesOf(const Line& line, const std::vector<LogBucket>& buckets,
                const PlottedTimes& times) {
  Series series = {.name = line.name, .unit = {}, .points = {}};
  for (const LogBucket& bucket : buckets) {
    const std::optional<PlotPoint> point = line.point(bucket);
    if (!point || !std::isfinite(point->mean) || !std::isfinite(point->min) ||
        !std::isfinite(point->max)) {
      continue;
    }
    series.points.push_back(*point);
    // The point lies in the middle of its bucket, if that is shown.
    const auto half = static_cast<int64_t>(Elapsed(bucket.begin, bucket.end) / 2);
    series.points.back().time = std::clamp(bucket.begin + half, times.first, times.last);
  }
  return series;
}

// Gives the lines that have a name, or are of a field of that name, its unit.
absl::Status TakeUnits(const PlotFlags& flags, const std::vector<Line>& lines,
                       std::vector<Series>& series) {
  for (const std::string& text : flags.units) {
    const size_t equals = text.rfind('=');
    const std::string name = text.substr(0, std::min(equals, text.size()));
    bool known = false;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].name != name && lines[i].field != name) continue;
      known = true;
      series[i].unit = text.substr(std::min(equals, text.size() - 1) + 1);
    }
    if (equals == std::string::npos || !known) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "--unit: '%s' is not NAME=UNIT of a field that is plotted, such as temp=°C", text));
    }
  }
  return absl::OkStatus();
}

// Says how long the spans are whose values are drawn.
std::string SpansOf(const LogAggregation& aggregation, const Field& time) {
  if (aggregation.calendar != CalendarUnit::kNone) return "of each span";
  return absl::StrFormat("of each %s", FormatDurationOf(time, aggregation.bucket));
}

// Draws lines, which have a band or have not.
absl::StatusOr<Figure> MakeFigure(const std::string& path, const LogSnapshot& log,
                                  LogAggregation& aggregation, const std::vector<Line>& lines,
                                  bool bands, const PlotFlags& flags) {
  ASSIGN_OR_RETURN(const Field* const time, NeedTime(log.time_field(), "--plot"));
  ASSIGN_OR_RETURN(const PlottedTimes times, TimesToPlot(log, aggregation.times));
  aggregation.times = RangeOf(times);
  ASSIGN_OR_RETURN(const std::vector<LogBucket> buckets,
                   BucketsOf(log, times, aggregation, MostBuckets(flags)));
  Figure figure;
  figure.title =
      flags.title.empty() ? std::filesystem::path(path).filename().string() : flags.title;
  if (time->type == FieldType::kTimestamp) figure.unit = time->unit;
  // The axis has a length also if there is one time, even if none is after it.
  figure.begin = std::min(times.first, kMaxTime - 1);
  figure.end = std::max(times.last, figure.begin + 1);
  std::string what;
  if (aggregation.bucket > 1 || aggregation.calendar != CalendarUnit::kNone) {
    what = bands ? ": mean, and band from least to greatest value"
                 : absl::StrCat(": ", SpansOf(aggregation, *time));
  }
  figure.note =
      absl::StrFormat("%s, %s to %s%s", FormatCount(CountRecords(buckets), "record"),
                      FormatTimeOf(*time, times.first), FormatTimeOf(*time, times.last), what);
  for (const Line& line : lines) {
    figure.series.push_back(SeriesOf(line, buckets, times));
  }
  RETURN_IF_ERROR(TakeUnits(flags, lines, figure.series));
  return figure;
}

absl::Status Draw(const Figure& figure, const PlotFlags& flags) {
  return WriteFile(flags.path, IsHtml(flags.path) ? RenderHtml(figure) : RenderSvg(figure));
}

}  // namespace

void AddPlot(CLI::App& app, PlotFlags& flags) {
  CLI::Option* plot =
      app.add_option("--plot", flags.path,
                     "Draw the values as a picture, or as a page that can be zoomed, instead of "
                     "writing them; replaces the file")
          ->check(CLI::Validator(CheckPlotPath, ""))
          ->type_name("FILE.svg|FILE.html");
  app.add_option("--title", flags.title, "What the plot is called [the name of the log]")
      ->type_name("TEXT")
      ->needs(plot);
  app.add_option("--unit", flags.units, "The unit of a field's values, for the plot; repeatable")
      ->type_name("NAME=TEXT")
      ->allow_extra_args(false)
      ->needs(plot);
}

absl::Status PlotLog(const std::string& path, const LogSnapshot& log, LogAggregation aggregation,
                     const std::vector<Field>& fields, const PlotFlags& flags) {
  for (const Field& field : fields) aggregation.fields.push_back(field.name);
  if (fields.empty()) return absl::FailedPreconditionError("--plot: no field is a number");
  std::vector<Line> lines;
  for (size_t i = 0; i < fields.size(); ++i) lines.push_back(LineOf(fields[i], i));
  ASSIGN_OR_RETURN(const Figure figure, MakeFigure(path, log, aggregation, lines, true, flags));
  return Draw(figure, flags);
}

absl::Status PlotColumns(const std::string& path, const LogSnapshot& log,
                         LogAggregation aggregation, const std::vector<AggColumn>& columns,
                         const PlotFlags& flags) {
  if (columns.empty()) return absl::FailedPreconditionError("--plot: no field is a number");
  std::vector<Line> lines;
  for (const AggColumn& column : columns) lines.push_back(LineOf(column));
  ASSIGN_OR_RETURN(const Figure figure, MakeFigure(path, log, aggregation, lines, false, flags));
  return Draw(figure, flags);
}

}  // namespace cairn::tool
