#include "tools/cairn/log/plot.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
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

uint64_t LengthOf(const TimeRange& times) {
  return static_cast<uint64_t>(times.end) - static_cast<uint64_t>(times.begin);
}

int64_t CountRecords(const std::vector<LogBucket>& buckets) {
  int64_t records = 0;
  for (const LogBucket& bucket : buckets) records += bucket.records;
  return records;
}

// Returns the times of the log that the aggregation asks for.
absl::StatusOr<TimeRange> TimesToPlot(const LogSnapshot& log, const TimeRange& wanted) {
  ASSIGN_OR_RETURN(const std::optional<TimeRange> all, log.Times());
  TimeRange times = all.value_or(TimeRange{.begin = 0, .end = 0});
  times.begin = std::max(times.begin, wanted.begin);
  times.end = std::min(times.end, wanted.end);
  if (times.begin < times.end) return times;
  return absl::FailedPreconditionError("--plot: there are no records of these times");
}

// Returns buckets that can be told apart. If there are few records, there is one for each time.
absl::StatusOr<std::vector<LogBucket>> BucketsOf(const LogSnapshot& log,
                                                 LogAggregation& aggregation, uint64_t most) {
  const auto least = static_cast<int64_t>(LengthOf(aggregation.times) / most + 1);
  const int64_t asked = aggregation.bucket;
  const bool calendar = aggregation.calendar != CalendarUnit::kNone;
  if (!calendar) aggregation.bucket = asked > 0 ? (least + asked - 1) / asked * asked : least;
  ASSIGN_OR_RETURN(std::vector<LogBucket> buckets, log.Aggregate(aggregation));
  if (asked > 0 || CountRecords(buckets) > static_cast<int64_t>(most)) return buckets;
  aggregation.bucket = 1;
  return log.Aggregate(aggregation);
}

Series SeriesOf(const Field& field, size_t number, const std::vector<LogBucket>& buckets,
                const LogAggregation& aggregation) {
  Series series = {.name = NameOf(field), .unit = {}, .points = {}};
  for (const LogBucket& bucket : buckets) {
    const FieldAggregate& values = bucket.fields[number];
    const PlotPoint point = {
        .time = bucket.begin, .mean = values.mean(), .min = values.min, .max = values.max};
    const bool finite =
        std::isfinite(point.mean) && std::isfinite(point.min) && std::isfinite(point.max);
    if (values.count == 0 || !finite) continue;
    series.points.push_back(point);
    // The point lies in the middle of its bucket, if that is shown.
    const TimeRange& times = aggregation.times;
    int64_t& time = series.points.back().time;
    const TimeRange all = {.begin = bucket.begin, .end = bucket.end};
    time += static_cast<int64_t>(LengthOf(all) / 2);
    time = std::clamp(time, times.begin, times.end - 1);
  }
  return series;
}

absl::Status TakeUnits(const PlotFlags& flags, std::vector<Series>& series) {
  for (const std::string& text : flags.units) {
    const size_t equals = text.rfind('=');
    const auto named =
        std::ranges::find(series, text.substr(0, std::min(equals, text.size())), &Series::name);
    if (equals == std::string::npos || named == series.end()) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "--unit: '%s' is not NAME=UNIT of a field that is plotted, such as temp=°C", text));
    }
    named->unit = text.substr(equals + 1);
  }
  return absl::OkStatus();
}

absl::StatusOr<Figure> MakeFigure(const std::string& path, const LogSnapshot& log,
                                  LogAggregation& aggregation, const std::vector<Field>& fields,
                                  const PlotFlags& flags) {
  ASSIGN_OR_RETURN(const Field* const time, NeedTime(log.time_field(), "--plot"));
  ASSIGN_OR_RETURN(aggregation.times, TimesToPlot(log, aggregation.times));
  ASSIGN_OR_RETURN(const std::vector<LogBucket> buckets,
                   BucketsOf(log, aggregation, MostBuckets(flags)));
  Figure figure;
  figure.title =
      flags.title.empty() ? std::filesystem::path(path).filename().string() : flags.title;
  if (time->type == FieldType::kTimestamp) figure.unit = time->unit;
  figure.begin = aggregation.times.begin;
  figure.end = std::max(aggregation.times.end - 1, figure.begin + 1);
  figure.note = absl::StrFormat(
      "%s, %s to %s%s", FormatCount(CountRecords(buckets), "record"),
      FormatTimeOf(*time, figure.begin), FormatTimeOf(*time, aggregation.times.end - 1),
      aggregation.bucket > 1 || aggregation.calendar != CalendarUnit::kNone
          ? ": mean, and band from least to greatest value"
          : "");
  for (size_t i = 0; i < fields.size(); ++i) {
    figure.series.push_back(SeriesOf(fields[i], i, buckets, aggregation));
  }
  RETURN_IF_ERROR(TakeUnits(flags, figure.series));
  return figure;
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
  ASSIGN_OR_RETURN(const Figure figure, MakeFigure(path, log, aggregation, fields, flags));
  return WriteFile(flags.path, IsHtml(flags.path) ? RenderHtml(figure) : RenderSvg(figure));
}

}  // namespace cairn::tool
