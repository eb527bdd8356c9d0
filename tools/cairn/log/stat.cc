// cairn log stat: shows what a log holds.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "tools/cairn/flags/flags.h"
#include "tools/cairn/flags/log_flags.h"
#include "tools/cairn/io/files.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/log/commands.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/report/log_damage.h"
#include "tools/cairn/report/log_size.h"
#include "tools/cairn/report/metrics.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/complain.h"
#include "tools/cairn/text/controls.h"
#include "tools/cairn/text/exit.h"
#include "tools/cairn/text/json.h"
#include "tools/cairn/text/units.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct StatFlags : LogFlags {
  std::vector<std::string> logs;
  bool json = false;
  bool metrics = false;
};

struct FieldStat {
  Field field;
  std::optional<FieldAggregate> values;  // of numbers except the time, if there are records
  WholeAggregate wholes;                 // the exact values of integers
};

struct LogStat {
  LogSnapshot log;
  std::optional<TimeRange> times;
  std::optional<int64_t> greatest;
  int64_t newest = 0;  // greatest time that is not from the future, if there are times
  int64_t future = 0;  // records that are later than the clock
  std::vector<FieldStat> fields;
};

// Returns true for numbers except the time.
bool IsShown(const Field& field, const LogSnapshot& log) {
  return !IsText(field) && field != *log.time_field();
}

// Sets the last values of the fields to those of the newest record that is not from the future.
absl::Status LeaveOutFuture(const LogStat& stat, LogAggregation numbers,
                            std::vector<LogBucket>& buckets) {
  if (stat.future == 0 || stat.future == stat.log.nrecords() || buckets.empty()) {
    return absl::OkStatus();
  }
  numbers.times.end = stat.newest + 1;
  ASSIGN_OR_RETURN(const std::vector<LogBucket> past, stat.log.Aggregate(numbers));
  if (past.empty()) return absl::OkStatus();
  for (size_t i = 0; i < past.front().fields.size(); ++i) {
    if (past.front().fields[i].count == 0) continue;
    buckets.front().fields[i].last = past.front().fields[i].last;
    buckets.front().wholes[i].last = past.front().wholes[i].last;
  }
  return absl::OkStatus();
}

absl::StatusOr<LogStat> StatOf(const LogSnapshot& log) {
  LogStat stat = {.log = log, .times = {}, .greatest = {}, .newest = 0, .future = 0, .fields = {}};
  std::vector<LogBucket> buckets;
  if (log.time_field() != nullptr) {
    ASSIGN_OR_RETURN(stat.times, log.Times());
    ASSIGN_OR_RETURN(stat.greatest, log.GreatestTime());
    ASSIGN_OR_RETURN(stat.future, log.CountFuture());
    if (stat.times) {
      ASSIGN_OR_RETURN(const TimeRange newest, log.Last(0));
      stat.newest = newest.begin;
    }
    LogAggregation numbers;
    for (const Field& field : log.schema().fields()) {
      if (IsShown(field, log)) numbers.fields.push_back(field.name);
    }
    if (!numbers.fields.empty()) {
      ASSIGN_OR_RETURN(buckets, log.Aggregate(numbers));
      RETURN_IF_ERROR(LeaveOutFuture(stat, numbers, buckets));
    }
  }
  size_t number = 0;
  for (const Field& field : log.schema().fields()) {
    FieldStat& added =
        stat.fields.emplace_back(FieldStat{.field = field, .values = {}, .wholes = {}});
    if (buckets.empty() || !IsShown(field, log)) continue;
    added.values = buckets.front().fields[number];
    added.wholes = buckets.front().wholes[number];
    ++number;
  }
  return stat;
}

// Shows an aggregate as a value of its field.
std::string ShowValue(const Field& field, double value, absl::int128 whole) {
  std::array<std::byte, 8> bytes;
  if (field.type == FieldType::kFloat) {
    StoreNumber(field, value, bytes.data());
  } else {
    StoreInt64(static_cast<int64_t>(absl::Int128Low64(whole)), bytes.data());
  }
  std::string text;
  AppendValue(text, field, bytes.data());
  return text;
}

std::string MeanOf(const FieldStat& stat) {
  if (stat.field.type != FieldType::kTimestamp) {
    const double mean = stat.values->mean();
    return std::isnan(mean) ? "nan" : absl::StrFormat("%.7g", mean);  // the sign has no meaning
  }
  return ShowValue(stat.field, 0, stat.wholes.sum / stat.values->count);
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

int64_t CountDeleted(const LogSnapshot& log) {
  return log.end_record() - log.first_record() - log.nrecords();
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
  if (const int64_t deleted = CountDeleted(log); deleted > 0) {
    lines.push_back(absl::StrFormat("  deleted   %d of them", deleted));
  }
  if (stat.times) {
    const Field& time = *log.time_field();
    lines.push_back(absl::StrFormat("  times     %s to %s", FormatTimeOf(time, stat.times->begin),
                                    FormatTimeOf(time, *stat.greatest)));
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
  for (const FieldStat& one : stat.fields) {
    const Field& field = one.field;
    std::string line = absl::StrFormat("  %-*s %-8s", name, NameOf(field), TypeOf(field));
    if (one.values && one.values->count == 0) {
      absl::StrAppendFormat(&line, " %12d %14s %14s %14s %14s", 0, "-", "-", "-", "-");
    } else if (one.values) {
      const FieldAggregate& values = *one.values;
      const WholeAggregate& wholes = one.wholes;
      absl::StrAppendFormat(&line, " %12d %14s %14s %14s %14s", values.count,
                            ShowValue(field, values.min, wholes.min), MeanOf(one),
                            ShowValue(field, values.max, wholes.max),
                            ShowValue(field, values.last, wholes.last));
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

// Returns a number as it is. Integers are not rounded.
Json NumberOf(const Field& field, double value, absl::int128 whole) {
  if (field.type == FieldType::kFloat) return value;
  if (field.type == FieldType::kUint) return absl::Int128Low64(whole);
  return static_cast<int64_t>(whole);
}

Json JsonOfField(const FieldStat& stat) {
  Json json = {{"name", NameOf(stat.field)}, {"type", TypeOf(stat.field)}};
  if (!stat.values) return json;
  const FieldAggregate& values = *stat.values;
  const WholeAggregate& wholes = stat.wholes;
  json["count"] = values.count;
  if (values.count == 0) return json;
  json["min"] = NumberOf(stat.field, values.min, wholes.min);
  json["mean"] = values.mean();
  json["max"] = NumberOf(stat.field, values.max, wholes.max);
  json["first"] = NumberOf(stat.field, values.first, wholes.first);
  json["last"] = NumberOf(stat.field, values.last, wholes.last);
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
               {"deleted_records", CountDeleted(log)},
               {"record_size", log.schema().record_size()},
               {"files", std::ssize(log.frames())},
               {"nbytes", size.nbytes},
               {"stored", size.stored}};
  const Field* const time = log.time_field();
  if (time != nullptr) json["time_field"] = NameOf(*time);
  if (stat.times) {
    json["first_time"] = TimeOf(*time, stat.times->begin);
    json["last_time"] = TimeOf(*time, *stat.greatest);
    json["future_records"] = stat.future;
  }
  json["retain_age"] = log.retention().max_age;
  json["retain_records"] = log.retention().max_records;
  json["retain_bytes"] = log.retention().max_bytes;
  json["rotate_every"] = log.rotation().period;
  json["rotate_bytes"] = log.rotation().max_bytes;
  json["fields"] = Json::array();
  for (const FieldStat& field : stat.fields) json["fields"].push_back(JsonOfField(field));
  return Dump(json, 2) + "\n";
}

void AddReadable(const std::string& path, bool readable, Metrics& metrics) {
  metrics.Add("log_readable", "1 if the log can be opened.", {{"path", HideQueries(path)}},
              readable ? 1 : 0);
}

void AddMetrics(const std::string& path, const LogStat& stat, Metrics& metrics) {
  const LogSnapshot& log = stat.log;
  const LogSize size = SizeOf(log);
  const MetricLabels labels = {{"path", HideQueries(path)}};
  AddReadable(path, true, metrics);
  const auto add = [&](std::string_view name, std::string_view help, auto value) {
    metrics.Add(name, help, labels, static_cast<double>(value));
  };
  add("log_damaged", "1 if records cannot be read.", !CheckLogDamage(log).ok());
  add("log_records", "Number of records.", log.nrecords());
  add("log_first_record", "Number of the oldest record; older ones were dropped.",
      log.first_record());
  add("log_end_record", "Number that the next record gets.", log.end_record());
  add("log_future_records", "Records later than the clock of this machine.", stat.future);
  add("log_files", "Number of files.", std::ssize(log.frames()));
  add("log_data_bytes", "Bytes of the records, decompressed.", size.nbytes);
  add("log_size_bytes", "Bytes of the frames with their journals.", size.stored);
  if (const std::optional<int64_t> disk = DiskBytesAt(path)) {
    add("log_disk_bytes", "Bytes of disk that its files take, with reserved space.", *disk);
  }
  if (const Field* const time = log.time_field();
      stat.times && time->type == FieldType::kTimestamp) {
    const auto unit = static_cast<double>(UnitsPerSecond(time->unit));
    add("log_oldest_time_seconds", "Time of the oldest record, since 1970.",
        static_cast<double>(stat.times->begin) / unit);
    add("log_newest_time_seconds",
        "Time of the newest record that is not from the future, since 1970.",
        static_cast<double>(stat.newest) / unit);
  }
  for (const FieldStat& one : stat.fields) {
    if (!one.values || one.values->count == 0) continue;
    metrics.Add("log_last_value", "Newest value of the field.",
                {labels.front(), {"field", NameOf(one.field)}}, one.values->last);
  }
}

// Writes the metrics of all logs. They tell of one that cannot be read, and a line on standard
// error says why.
absl::Status WriteMetrics(StatFlags flags) {
  Metrics metrics;
  for (const std::string& path : flags.logs) {
    flags.path = path;
    const absl::StatusOr<Log> log = OpenLog(flags);
    const absl::StatusOr<LogStat> stat =
        log.ok() ? StatOf(log->snapshot()) : absl::StatusOr<LogStat>(log.status());
    if (stat.ok()) {
      AddMetrics(path, *stat, metrics);
    } else {
      Complain(std::string(About(path, stat.status()).message()));
      AddReadable(path, false, metrics);
    }
  }
  return WriteStdout(metrics.Text());
}

absl::Status StatLog(StatFlags flags) {
  if (flags.metrics) return WriteMetrics(std::move(flags));
  flags.path = flags.logs.front();
  if (flags.logs.size() > 1) {
    return absl::InvalidArgumentError("several logs need --metrics");
  }
  ASSIGN_OR_RETURN(const Log log, OpenLog(flags));
  ASSIGN_OR_RETURN(const LogStat stat, StatOf(log.snapshot()));
  RETURN_IF_ERROR(flags.json ? WriteStdout(JsonOfStat(stat)) : WriteLines(TextOfStat(flags, stat)));
  return Printed(CheckLogDamage(stat.log));
}

}  // namespace

void AddLogStat(CLI::App& group, Command& chosen) {
  CLI::App* stat = group.add_subcommand("stat", "Print what a log holds, and of each field");
  const auto flags = std::make_shared<StatFlags>();
  AddPaths(*stat, "LOG", flags->logs)
      ->description("The log: a frame, or a directory of them; with --metrics several");
  AddTimeField(*stat, *flags);
  CLI::Option* const json = stat->add_flag("--json", flags->json, "Print JSON");
  stat->add_flag("--metrics", flags->metrics, "Print the numbers to watch, for Prometheus")
      ->excludes(json);
  stat->footer(
      "Example:\n"
      "  cairn log stat temps.b2frame --json | jq .records");
  stat->callback([flags, &chosen] {
    chosen = [flags] { return About(flags->logs.front(), StatLog(*flags)); };
  });
}

}  // namespace cairn::tool
