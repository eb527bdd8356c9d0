// cairn log agg: aggregates the values of each span of time.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"

#include "tools/cairn/flags/bucket_flags.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/flags/log_flags.h"
#include "tools/cairn/log/commands.h"
#include "tools/cairn/log/plot.h"
#include "tools/cairn/log/what.h"
#include "tools/cairn/records/row_writer.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/report/log_damage.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/times.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct AggFlags : LogFlags {
  RangeFlags range;
  OutputFlags output;
  PlotFlags plot;
  BucketFlags buckets;
  std::string what = "mean,min,max";
  int64_t max_memory = LogAggregation().max_memory;
};

// Bytes of a cell. It holds a time with nanoseconds and an offset, or a number.
constexpr int kTimeSize = 40;
using Cell = std::array<std::byte, kTimeSize>;

void StoreText(std::string_view text, Cell& cell) {
  cell.fill(std::byte{0});
  std::memcpy(cell.data(), text.data(), std::min(text.size(), cell.size()));
}

// Returns the zone that times are shown in, or none for UTC.
std::optional<absl::TimeZone> ZoneOf(const std::string& name) {
  absl::TimeZone zone;
  if (name.empty() || !absl::LoadTimeZone(name, &zone)) return std::nullopt;
  return zone;
}

// Writes a row for each bucket: its time, its records, and each value of each field.
absl::Status WriteBuckets(const std::vector<LogBucket>& buckets, const Field& time,
                          const std::vector<AggColumn>& values, const AggFlags& flags) {
  const RowFormat format = FormatOf(flags.output);
  Field begin = {.name = NameOf(time), .type = FieldType::kInt, .size = 8, .unit = time.unit};
  if (time.type == FieldType::kTimestamp) begin.type = FieldType::kTimestamp;
  // A zone is shown in text.
  std::optional<absl::TimeZone> zone;
  if (begin.type == FieldType::kTimestamp && format != RowFormat::kRaw) {
    zone = ZoneOf(flags.range.time_zone);
  }
  if (zone.has_value()) begin = {.name = begin.name, .type = FieldType::kBytes, .size = kTimeSize};
  std::vector<Field> columns = {begin, {.name = "records", .type = FieldType::kInt}};
  for (const AggColumn& value : values) columns.push_back(value.column);
  RowWriter writer(format, columns, !flags.output.no_header);
  std::vector<Cell> cells(columns.size());
  std::vector<ColumnView> row;
  for (const auto& cell : cells) row.push_back({.data = cell.data(), .step = cell.size()});
  for (const LogBucket& bucket : buckets) {
    StoreInt64(bucket.begin, cells[0].data());
    if (zone.has_value()) StoreText(FormatTimeIn(*zone, bucket.begin, time.unit), cells[0]);
    StoreInt64(bucket.records, cells[1].data());
    for (size_t i = 0; i < values.size(); ++i) {
      StoreValue(ValueOf(values[i], bucket), values[i].column, cells[i + 2].data());
    }
    RETURN_IF_ERROR(writer.Write(row, 1));
  }
  return writer.Finish();
}

absl::Status Agg(const AggFlags& flags) {
  ASSIGN_OR_RETURN(const Log log, OpenLog(flags));
  const LogSnapshot snapshot = log.snapshot();
  ASSIGN_OR_RETURN(const Field* const time, NeedTime(snapshot.time_field(), "agg"));
  ASSIGN_OR_RETURN(const std::vector<Field> fields, NumbersOf(flags.output, snapshot));
  LogAggregation aggregation;
  ASSIGN_OR_RETURN(aggregation.times, TimesOf(flags.range, snapshot));
  aggregation.filters = flags.range.where;
  RETURN_IF_ERROR(SetBuckets(flags.buckets, flags.range.time_zone, *time, aggregation));
  if (!flags.plot.path.empty()) {
    RETURN_IF_ERROR(PlotLog(flags.path, snapshot, std::move(aggregation), fields, flags.plot));
    return CheckLogDamage(snapshot);
  }
  aggregation.max_memory = flags.max_memory;
  ASSIGN_OR_RETURN(std::vector<AggColumn> values,
                   ParseWhat(flags.what, fields, snapshot.schema(), aggregation));
  ASSIGN_OR_RETURN(const std::vector<LogBucket> buckets, snapshot.Aggregate(aggregation));
  for (AggColumn& value : values) SetType(value, buckets);
  RETURN_IF_ERROR(WriteBuckets(buckets, *time, values, flags));
  return CheckLogDamage(snapshot);
}

}  // namespace

void AddLogAgg(CLI::App& group, Command& chosen) {
  CLI::App* agg = group.add_subcommand("agg", "Write what the values of each hour, day, … come to");
  const auto flags = std::make_shared<AggFlags>();
  AddLogPath(*agg, *flags);
  AddBucket(*agg, flags->buckets);
  agg->add_option("--what", flags->what,
                  "What to write: count, min, max, mean, sum, first, last, range, median, p95 and "
                  "other percentiles, stddev, increase and rate; temp:p95 is of one field")
      ->capture_default_str()
      ->type_name("LIST");
  AddByteSize(*agg, "--max-memory", flags->max_memory, 1, std::numeric_limits<int64_t>::max())
      ->description("How much the values of one span may take, which percentiles need")
      ->default_str("1GiB");
  AddRange(*agg, flags->range);
  AddOutput(*agg, flags->output);
  AddPlot(*agg, flags->plot);
  agg->footer(
      "Spans without a record are left out. With --tz, hours, days and more are those of that "
      "zone,\n"
      "and times are shown in it; without it, 1d is 24 hours of UTC.\n"
      "\nExample:\n"
      "  cairn log agg temps.b2frame --bucket 1h --what mean,max --fields temp --last 7d");
  agg->callback([flags, &chosen] { chosen = [flags] { return About(flags->path, Agg(*flags)); }; });
}

}  // namespace cairn::tool
