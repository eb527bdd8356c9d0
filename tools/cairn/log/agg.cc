// cairn log agg: aggregates the values of each span of time.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_format.h"

#include "tools/cairn/flags/bucket_flags.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/flags/log_flags.h"
#include "tools/cairn/log/commands.h"
#include "tools/cairn/log/fill.h"
#include "tools/cairn/log/plot.h"
#include "tools/cairn/log/what.h"
#include "tools/cairn/records/record_parser.h"
#include "tools/cairn/records/row_writer.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/report/log_damage.h"
#include "tools/cairn/text/about.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct AggFlags : LogFlags {
  RangeFlags range;
  OutputFlags output;
  PlotFlags plot;
  BucketFlags buckets;
  std::string what = "mean,min,max";
  std::string fill = "none";
  std::string by;
  int64_t max_groups = LogAggregation().max_groups;
  int64_t max_memory = LogAggregation().max_memory;
};

// Writes rows, each with the time of a bucket, its group, its records and its values.
class BucketWriter {
 public:
  BucketWriter(const Field& time, const std::vector<Field>& by,
               const std::vector<AggColumn>& values, int32_t longest_text, const AggFlags& flags)
      : values_(values) {
    Field begin = {.name = NameOf(time), .type = FieldType::kInt, .size = 8, .unit = time.unit};
    if (time.type == FieldType::kTimestamp) begin.type = FieldType::kTimestamp;
    std::vector<Field> columns = {begin};
    for (Field field : by) {
      if (field.type == FieldType::kText) {
        field.type = FieldType::kBytes;
        field.size = longest_text;
      }
      columns.push_back(std::move(field));
    }
    columns.push_back({.name = "records", .type = FieldType::kInt});
    for (const AggColumn& value : values) columns.push_back(value.column);
    for (const Field& column : columns) {
      // Numbers are stored in 8 bytes.
      cells_.emplace_back(static_cast<size_t>(std::max(column.size, int32_t{8})));
      row_.push_back({.data = cells_.back().data(), .step = cells_.back().size()});
    }
    writer_.emplace(StyleOf(flags.output, flags.range.time_zone), std::move(columns));
  }

  absl::Status Write(const LogBucket& bucket, const std::vector<AggValue>& values) {
    size_t next = 0;
    StoreInt64(bucket.begin, cells_[next++].data());
    for (const FieldValue& value : bucket.group) {
      row_[next].missing = std::holds_alternative<std::monostate>(value);
      if (row_[next].missing) {
        std::ranges::fill(cells_[next++], std::byte{0});
      } else if (const auto* const text = std::get_if<std::string>(&value)) {
        StoreText(*text, next++);
      } else {
        const auto* const whole = std::get_if<int64_t>(&value);
        StoreInt64(whole != nullptr ? *whole : static_cast<int64_t>(std::get<uint64_t>(value)),
                   cells_[next++].data());
      }
    }
    StoreInt64(bucket.records, cells_[next++].data());
    for (size_t i = 0; i < values.size(); ++i, ++next) {
      row_[next].missing = !StoreValue(values[i], values_[i].column, cells_[next].data());
    }
    return writer_->Write(row_, 1);
  }
  absl::Status Finish() { return writer_->Finish(); }

 private:
  void StoreText(std::string_view text, size_t column) {
    std::vector<std::byte>& cell = cells_[column];
    std::ranges::fill(cell, std::byte{0});
    std::memcpy(cell.data(), text.data(), std::min(text.size(), cell.size()));
  }

  const std::vector<AggColumn>& values_;
  std::vector<std::vector<std::byte>> cells_;
  std::vector<ColumnView> row_;
  std::optional<RowWriter> writer_;
};

absl::Status CheckFill(const AggFlags& flags, const Fill& fill) {
  if (fill.kind == Fill::Kind::kNone) return absl::OkStatus();
  if (flags.buckets.bucket.empty()) {
    return absl::InvalidArgumentError("--fill: expected --bucket as well");
  }
  if (FormatOf(flags.output) == RowFormat::kRaw) {
    return absl::InvalidArgumentError(
        "--fill: expected --format csv or jsonl, got raw, in which integers cannot be missing");
  }
  return absl::OkStatus();
}

// Returns the bytes of the longest text of all groups, or 1.
int32_t LongestText(const std::vector<LogBucket>& buckets) {
  size_t longest = 1;
  for (const LogBucket& bucket : buckets) {
    for (const FieldValue& value : bucket.group) {
      const auto* const text = std::get_if<std::string>(&value);
      if (text != nullptr) longest = std::max(longest, text->size());
    }
  }
  return static_cast<int32_t>(longest);
}

// Returns the fields that --by names.
absl::StatusOr<std::vector<Field>> GroupFieldsOf(const AggFlags& flags, const Schema& schema) {
  std::vector<Field> by;
  if (flags.by.empty()) return by;
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ParseCsvRow(flags.by, ','));
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const Field* const field, FindField(schema.fields(), name, "--by"));
    by.push_back(*field);
  }
  return by;
}

absl::Status Agg(const AggFlags& flags) {
  ASSIGN_OR_RETURN(const Log log, OpenLog(flags));
  const LogSnapshot snapshot = log.snapshot();
  ASSIGN_OR_RETURN(const Field* const time, NeedTime(snapshot.time_field(), "agg"));
  ASSIGN_OR_RETURN(const Fill fill, ParseFill(flags.fill));
  RETURN_IF_ERROR(CheckFill(flags, fill));
  ASSIGN_OR_RETURN(const std::vector<Field> by, GroupFieldsOf(flags, snapshot.schema()));
  ASSIGN_OR_RETURN(std::vector<Field> fields, NumbersOf(flags.output, snapshot));
  if (flags.output.fields.empty()) {
    std::erase_if(fields, [&by](const Field& field) { return std::ranges::count(by, field) > 0; });
  }
  LogAggregation aggregation;
  ASSIGN_OR_RETURN(aggregation.times, TimesOf(flags.range, snapshot));
  aggregation.filters = flags.range.where;
  RETURN_IF_ERROR(SetBuckets(flags.buckets, flags.range.time_zone, *time, aggregation));
  aggregation.max_memory = flags.max_memory;
  const bool plots = !flags.plot.path.empty();
  if (plots && flags.what == AggFlags().what) {
    RETURN_IF_ERROR(PlotLog(flags.path, snapshot, std::move(aggregation), fields, flags.plot));
    return CheckLogDamage(snapshot);
  }
  ASSIGN_OR_RETURN(std::vector<AggColumn> values,
                   ParseWhat(flags.what, fields, snapshot.schema(), aggregation));
  if (plots) {
    RETURN_IF_ERROR(PlotColumns(flags.path, snapshot, std::move(aggregation), values, flags.plot));
    return CheckLogDamage(snapshot);
  }
  for (const Field& field : by) aggregation.by.push_back(field.name);
  aggregation.max_groups = flags.max_groups;
  ASSIGN_OR_RETURN(const std::vector<LogBucket> buckets, snapshot.Aggregate(aggregation));
  for (AggColumn& value : values) {
    SetType(value, buckets);
    WidenType(fill, value);
  }
  BucketWriter writer(*time, by, values, LongestText(buckets), flags);
  const auto write = [&writer](const LogBucket& bucket, const std::vector<AggValue>& row) {
    return writer.Write(bucket, row);
  };
  RETURN_IF_ERROR(ForEachRow(snapshot, aggregation, fill, buckets, values, write));
  RETURN_IF_ERROR(writer.Finish());
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
  CLI::Option* fill =
      agg->add_option("--fill", flags->fill,
                      "What to write of spans without a value: null, previous, linear or a number; "
                      "none leaves spans without a record out")
          ->capture_default_str()
          ->type_name("WHAT");
  CLI::Option* by = agg->add_option("--by", flags->by,
                                    "Rows for each group of records whose values of these fields "
                                    "are equal")
                        ->type_name("NAMES");
  AddNumber(*agg, "--max-groups", flags->max_groups, int64_t{1},
            std::numeric_limits<int64_t>::max())
      ->description("At most N groups")
      ->needs(by);
  AddRange(*agg, flags->range);
  AddOutput(*agg, flags->output);
  AddPlot(*agg, flags->plot);
  agg->get_option("--plot")->excludes(fill)->excludes(by);
  agg->footer(
      "With --tz, hours, days and more are those of that zone; without it, 1d is 24 hours of UTC.\n"
      "\nExample:\n"
      "  cairn log agg temps.b2frame --bucket 1h --what mean,max --fields temp --last 7d");
  agg->callback([flags, &chosen] { chosen = [flags] { return About(flags->path, Agg(*flags)); }; });
}

}  // namespace cairn::tool
