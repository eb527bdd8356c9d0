// cairn log stat: what a log holds.

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "tools/cairn/flags/log_flags.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/log/commands.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/report/log_damage.h"
#include "tools/cairn/report/log_size.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/json.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct StatFlags : LogFlags {
  bool json = false;
};

struct FieldStat {
  Field field;
  std::optional<FieldAggregate> values;  // of numbers, where there are records
};

struct LogStat {
  LogSnapshot log;
  std::optional<TimeRange> times;
  int64_t future = 0;  // records that are later than the clock
  std::vector<FieldStat> fields;
};

absl::StatusOr<LogStat> StatOf(const LogSnapshot& log) {
  LogStat stat = {.log = log, .times = {}, .future = 0, .fields = {}};
  std::vector<LogBucket> buckets;
  if (log.time_field() != nullptr) {
    ASSIGN_OR_RETURN(stat.times, log.Times());
    ASSIGN_OR_RETURN(stat.future, log.CountFuture());
    ASSIGN_OR_RETURN(buckets, log.Aggregate({}));
  }
  size_t number = 0;
  for (const Field& field : log.schema().fields()) {
    FieldStat& added = stat.fields.emplace_back(FieldStat{.field = field, .values = {}});
    if (field.type == FieldType::kBytes) continue;
    if (!buckets.empty()) added.values = buckets.front().fields[number];
    ++number;
  }
  return stat;
}

// An aggregate as a value of its field.
std::string ShowValue(const Field& field, double value) {
  std::array<std::byte, 8> bytes;
  StoreNumber(field, value, bytes.data());
  std::string text;
  AppendValue(text, field, bytes.data());
  return text;
}

std::string MeanOf(const FieldAggregate& values) {
  return values.count == 0 ? "-" : absl::StrFormat("%.7g", values.mean());
}

std::string LimitsOf(const LogSnapshot& log) {
  const Field* const time = log.time_field();
  const auto duration = [time](int64_t value) {
    return time == nullptr ? "" : FormatDurationOf(*time, value);
  };
  std::vector<std::string> parts;
  const Retention& keep = log.retention();
  if (keep.max_age > 0) parts.push_back("keeps " + duration(keep.max_age));
  if (keep.max_records > 0) parts.push_back("keeps " + FormatCount(keep.max_records, "record"));
  if (keep.max_bytes > 0) parts.push_back("keeps " + FormatByteSize(keep.max_bytes));
  const Rotation& rotation = log.rotation();
  if (rotation.period > 0) parts.push_back("a file for each " + duration(rotation.period));
  if (rotation.max_bytes > 0) parts.push_back("files of " + FormatByteSize(rotation.max_bytes));
  return parts.empty() ? "keeps everything" : absl::StrJoin(parts, ", ");
}

std::vector<std::string> TextOfStat(const StatFlags& flags, const LogStat& stat) {
  const LogSnapshot& log = stat.log;
  const LogSize size = SizeOf(log);
  std::vector<std::string> lines = {
      absl::StrFormat("%s: %s in %s (%s), %s", flags.path, FormatCount(log.nrecords(), "record"),
                      FormatByteSize(size.stored), FormatRatio(size.nbytes, size.stored),
                      FormatCount(std::ssize(log.frames()), "file")),
      absl::StrFormat("  records   %d to %d, of %s", log.first_record(), log.end_record(),
                      FormatCount(log.schema().record_size(), "byte"))};
  if (stat.times) {
    const Field& time = *log.time_field();
    lines.push_back(absl::StrFormat("  times     %s to %s", FormatTimeOf(time, stat.times->begin),
                                    FormatTimeOf(time, stat.times->end - 1)));
  }
  if (stat.future > 0) {
    lines.push_back(absl::StrFormat("  future    %s later than the clock of this machine",
                                    FormatCount(stat.future, "record")));
  }
  lines.push_back("  limits    " + LimitsOf(log));
  size_t width = 5;
  for (const FieldStat& field : stat.fields) width = std::max(width, NameOf(field.field).size());
  const int name = static_cast<int>(std::min<size_t>(width, 30));
  lines.push_back(absl::StrFormat("  %-*s %-8s %12s %14s %14s %14s %14s", name, "field", "type",
                                  "values", "min", "mean", "max", "last"));
  for (const auto& [field, values] : stat.fields) {
    std::string line = absl::StrFormat("  %-*s %-8s", name, NameOf(field), TypeOf(field));
    if (values && field != *log.time_field()) {
      absl::StrAppendFormat(&line, " %12d", values->count);
      const auto show = [&, &values = *values, &field = field](double value) {
        return values.count == 0 ? "-" : ShowValue(field, value);
      };
      absl::StrAppendFormat(&line, " %14s %14s %14s %14s", show(values->min), MeanOf(*values),
                            show(values->max), show(values->last));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

Json JsonOfField(const FieldStat& stat, const Field* time) {
  Json json = {{"name", NameOf(stat.field)}, {"type", TypeOf(stat.field)}};
  if (!stat.values || (time != nullptr && stat.field == *time)) return json;
  const FieldAggregate& values = *stat.values;
  json["count"] = values.count;
  if (values.count == 0) return json;
  json["min"] = values.min;
  json["mean"] = values.mean();
  json["max"] = values.max;
  json["first"] = values.first;
  json["last"] = values.last;
  return json;
}

Json TimeOf(const Field& time, int64_t value) {
  if (time.type == FieldType::kTimestamp) return FormatTimeOf(time, value);
  return value;
}

std::string JsonOfStat(const LogStat& stat) {
  const LogSnapshot& log = stat.log;
  const LogSize size = SizeOf(log);
  Json json = {{"records", log.nrecords()},
               {"first_record", log.first_record()},
               {"end_record", log.end_record()},
               {"record_size", log.schema().record_size()},
               {"files", std::ssize(log.frames())},
               {"nbytes", size.nbytes},
               {"stored", size.stored}};
  const Field* const time = log.time_field();
  if (time != nullptr) json["time_field"] = NameOf(*time);
  if (stat.times) {
    json["first_time"] = TimeOf(*time, stat.times->begin);
    json["last_time"] = TimeOf(*time, stat.times->end - 1);
    json["future_records"] = stat.future;
  }
  json["retain_age"] = log.retention().max_age;
  json["retain_records"] = log.retention().max_records;
  json["retain_bytes"] = log.retention().max_bytes;
  json["rotate_every"] = log.rotation().period;
  json["rotate_bytes"] = log.rotation().max_bytes;
  json["fields"] = Json::array();
  for (const FieldStat& field : stat.fields) json["fields"].push_back(JsonOfField(field, time));
  return Dump(json, 2) + "\n";
}

absl::Status StatLog(const StatFlags& flags) {
  ASSIGN_OR_RETURN(const Log log, OpenLog(flags));
  ASSIGN_OR_RETURN(const LogStat stat, StatOf(log.snapshot()));
  RETURN_IF_ERROR(flags.json ? WriteStdout(JsonOfStat(stat)) : WriteLines(TextOfStat(flags, stat)));
  return CheckLogDamage(stat.log);
}

}  // namespace

void AddLogStat(CLI::App& group, Command& chosen) {
  CLI::App* stat = group.add_subcommand("stat", "Print what a log holds, and of each field");
  const auto flags = std::make_shared<StatFlags>();
  AddLogPath(*stat, *flags);
  stat->add_flag("--json", flags->json, "Print JSON");
  stat->footer(
      "Example:\n"
      "  cairn log stat temps.b2frame --json | jq .records");
  stat->callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->path, StatLog(*flags)); }; });
}

}  // namespace cairn::tool
