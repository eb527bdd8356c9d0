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

#include "absl/numeric/int128.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"

#include "tools/cairn/flags/bucket_flags.h"
#include "tools/cairn/flags/log_flags.h"
#include "tools/cairn/log/commands.h"
#include "tools/cairn/log/plot.h"
#include "tools/cairn/records/row_writer.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/report/log_damage.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/times.h"
#include "tools/cairn/text/words.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

enum class What : uint8_t { kCount, kMin, kMax, kMean, kSum, kFirst, kLast };

constexpr std::array<Word<What>, 7> kWhatWords = {{
    {What::kCount, "count"},
    {What::kMin, "min"},
    {What::kMax, "max"},
    {What::kMean, "mean"},
    {What::kSum, "sum"},
    {What::kFirst, "first"},
    {What::kLast, "last"},
}};

struct AggFlags : LogFlags {
  RangeFlags range;
  OutputFlags output;
  PlotFlags plot;
  BucketFlags buckets;
  std::vector<What> what = {What::kMean, What::kMin, What::kMax};
};

bool IsWhole(const Field& field) {
  return field.type != FieldType::kFloat && field.type != FieldType::kBytes;
}

// Sums of integers are integers, if the type can hold all of them.
void SetSumType(Field& column, const std::vector<LogBucket>& buckets, size_t number) {
  const auto fits = [&](absl::int128 least, absl::int128 greatest) {
    return std::ranges::all_of(buckets, [&](const LogBucket& bucket) {
      const absl::int128 sum = bucket.wholes[number].sum;
      return sum >= least && sum <= greatest;
    });
  };
  if (fits(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max())) {
    column.type = FieldType::kInt;
  } else if (fits(0, std::numeric_limits<uint64_t>::max())) {
    column.type = FieldType::kUint;
  }
}

// Returns the column for such values.
Field ColumnOf(const Field& field, What what, const std::vector<LogBucket>& buckets,
               size_t number) {
  Field column = {.name = absl::StrFormat("%s(%s)", NameOf(kWhatWords, what), NameOf(field))};
  if (what == What::kCount) column.type = FieldType::kInt;
  if (what == What::kSum && IsWhole(field)) SetSumType(column, buckets, number);
  const bool own =
      what == What::kMin || what == What::kMax || what == What::kFirst || what == What::kLast;
  if (!own) return column;
  column.type = field.type;
  column.size = field.size;
  column.unit = field.unit;
  return column;
}

double ValueOf(const FieldAggregate& values, What what) {
  switch (what) {
    case What::kCount:
      return static_cast<double>(values.count);
    case What::kSum:
      return values.sum;
    case What::kMin:
      return values.min;
    case What::kMax:
      return values.max;
    case What::kMean:
      return values.mean();
    case What::kFirst:
      return values.first;
    case What::kLast:
      break;
  }
  return values.last;
}

absl::int128 ValueOf(const WholeAggregate& values, int64_t count, What what) {
  switch (what) {
    case What::kCount:
      return count;
    case What::kSum:
      return values.sum;
    case What::kMin:
      return values.min;
    case What::kMax:
      return values.max;
    case What::kMean:
      return values.sum / count;
    case What::kFirst:
      return values.first;
    case What::kLast:
      break;
  }
  return values.last;
}

// Stores a value. If there are no values, only their number and sum exist.
void StoreValue(const FieldAggregate& values, const WholeAggregate& wholes, What what,
                const Field& column, std::byte* at) {
  if (values.count == 0 && what != What::kCount && what != What::kSum) {
    StoreMissing(column, at);
  } else if (IsWhole(column)) {
    const absl::int128 value = ValueOf(wholes, values.count, what);
    StoreInt64(static_cast<int64_t>(absl::Int128Low64(value)), at);
  } else {
    StoreNumber(column, ValueOf(values, what), at);
  }
}

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
                          const std::vector<Field>& fields, const AggFlags& flags) {
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
  for (size_t i = 0; i < fields.size(); ++i) {
    for (const What what : flags.what) columns.push_back(ColumnOf(fields[i], what, buckets, i));
  }
  RowWriter writer(format, columns, !flags.output.no_header);
  std::vector<Cell> cells(columns.size());
  std::vector<ColumnView> row;
  for (const auto& cell : cells) row.push_back({.data = cell.data(), .step = cell.size()});
  for (const LogBucket& bucket : buckets) {
    StoreInt64(bucket.begin, cells[0].data());
    if (zone.has_value()) StoreText(FormatTimeIn(*zone, bucket.begin, time.unit), cells[0]);
    StoreInt64(bucket.records, cells[1].data());
    size_t next = 2;
    for (size_t i = 0; i < bucket.fields.size(); ++i) {
      for (const What what : flags.what) {
        StoreValue(bucket.fields[i], bucket.wholes[i], what, columns[next], cells[next].data());
        ++next;
      }
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
  for (const Field& field : fields) aggregation.fields.push_back(field.name);
  ASSIGN_OR_RETURN(const std::vector<LogBucket> buckets, snapshot.Aggregate(aggregation));
  RETURN_IF_ERROR(WriteBuckets(buckets, *time, fields, flags));
  return CheckLogDamage(snapshot);
}

}  // namespace

void AddLogAgg(CLI::App& group, Command& chosen) {
  CLI::App* agg = group.add_subcommand("agg", "Write what the values of each hour, day, … come to");
  const auto flags = std::make_shared<AggFlags>();
  AddLogPath(*agg, *flags);
  AddBucket(*agg, flags->buckets);
  agg->add_option_function<std::vector<std::string>>(
         "--what",
         [flags](const std::vector<std::string>& words) {
           flags->what.clear();
           for (const std::string& word : words) flags->what.push_back(*FindWord(kWhatWords, word));
         },
         "Of count, min, max, mean, sum, first and last, which")
      ->delimiter(',')
      ->default_str("mean,min,max")
      ->check(CLI::IsMember(NamesOf(kWhatWords)))
      ->type_name("LIST");
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
