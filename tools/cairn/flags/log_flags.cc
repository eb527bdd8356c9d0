#include "tools/cairn/flags/log_flags.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_format.h"

#include "cairn/time_text.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/io/files.h"
#include "tools/cairn/records/record_parser.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/text/complain.h"
#include "tools/cairn/text/units.h"
#include "tools/cairn/text/words.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

constexpr std::array<Word<RowFormat>, 3> kRowFormatWords = {{
    {RowFormat::kCsv, "csv"},
    {RowFormat::kJsonLines, "jsonl"},
    {RowFormat::kRaw, "raw"},
}};

// Returns the error with the option before it.
absl::Status AboutOption(std::string_view option, const absl::Status& status) {
  return {status.code(), absl::StrFormat("%s: %s", option, status.message())};
}

absl::StatusOr<int64_t> TimeOption(const std::string& option, const Field& time,
                                   const std::string& text, const std::string& time_zone) {
  const absl::StatusOr<int64_t> value = ParseTimeOf(time, text, time_zone);
  return value.ok() ? value : AboutOption(option, value.status());
}

std::string CheckZone(const std::string& name) {
  const absl::StatusOr<int64_t> time =
      ParseTime("1970-01-01", TimeUnit::kSeconds, {.time_zone = name});
  return time.ok() ? "" : std::string(time.status().message());
}

}  // namespace

absl::StatusOr<int64_t> DurationOption(const std::string& option, const Field* time,
                                       const std::string& text) {
  ASSIGN_OR_RETURN(const Field* const field, NeedTime(time, option));
  const absl::StatusOr<int64_t> value = ParseDurationOf(*field, text);
  return value.ok() ? value : AboutOption(option, value.status());
}

void AddLogPath(CLI::App& app, LogFlags& flags) {
  app.add_option("LOG", flags.path, "The log: a frame, or a directory of them")->required();
  AddTimeField(app, flags);
}

void AddTimeField(CLI::App& app, LogFlags& flags) {
  app.add_option("--time-field", flags.time_field,
                 "The field with the time, in a frame that does not say so")
      ->type_name("NAME");
}

absl::StatusOr<Log> OpenLog(const LogFlags& flags) {
  return Log::Open(flags.path, {.file_system = FilesAt(flags.path)}, flags.time_field);
}

absl::StatusOr<const Field*> NeedTime(const Field* time, const std::string& option) {
  if (time != nullptr) return time;
  return absl::FailedPreconditionError(
      absl::StrFormat("%s: the records have no time; --time-field names the field", option));
}

void AddZone(CLI::App& app, std::string& time_zone) {
  app.add_option("--tz", time_zone,
                 "The zone of times, both of those given without one and of those shown, such as "
                 "Europe/Berlin [UTC]")
      ->check(CLI::Validator(CheckZone, ""))
      ->type_name("ZONE");
}

void AddRange(CLI::App& app, RangeFlags& flags) {
  app.add_option("--from", flags.from,
                 "Only records of this time or later, such as 2026-11-24T10:00, -15m, now-1d or "
                 "today")
      ->type_name("TIME");
  CLI::Option* to =
      app.add_option("--to", flags.to, "Only records before this time")->type_name("TIME");
  app.add_option("--last", flags.last,
                 "Only the newest: up to this long before the newest record that is not from the "
                 "future, such as 15m")
      ->type_name("DURATION")
      ->excludes("--from")
      ->excludes(to);
  AddZone(app, flags.time_zone);
  app.add_option("--where", flags.where,
                 "Only records of which this holds, such as \"temp > 20 and room = 'hall'\"; "
                 "repeatable")
      ->type_name("CONDITION")
      ->allow_extra_args(false);
}

absl::StatusOr<TimeRange> TimesOf(const RangeFlags& flags, const LogSnapshot& log) {
  TimeRange times;
  if (flags.from.empty() && flags.to.empty() && flags.last.empty()) return times;
  ASSIGN_OR_RETURN(const Field* const time, NeedTime(log.time_field(), "--from, --to, --last"));
  if (!flags.from.empty()) {
    ASSIGN_OR_RETURN(times.begin, TimeOption("--from", *time, flags.from, flags.time_zone));
  }
  if (!flags.to.empty()) {
    ASSIGN_OR_RETURN(times.end, TimeOption("--to", *time, flags.to, flags.time_zone));
  }
  if (flags.last.empty()) return times;
  ASSIGN_OR_RETURN(const int64_t last, DurationOption("--last", time, flags.last));
  ASSIGN_OR_RETURN(times, log.Last(last));
  RETURN_IF_ERROR(TellFuture(log, times, "--last"));
  return times;
}

absl::Status TellFuture(const LogSnapshot& log, const TimeRange& times, const std::string& option) {
  if (times.end == kMost) return absl::OkStatus();
  ASSIGN_OR_RETURN(const int64_t future, log.CountFuture());
  Complain(absl::StrFormat("%s leaves out %s later than the clock of this machine", option,
                           FormatCount(future, "record")));
  return absl::OkStatus();
}

void AddOutput(CLI::App& app, OutputFlags& flags) {
  app.add_option("--fields", flags.fields,
                 "These fields only, in this order: names as in a row "
                 "of CSV")
      ->type_name("NAMES");
  app.add_option("--format", flags.format, "csv, jsonl or raw, the values without names")
      ->capture_default_str()
      ->check(CLI::IsMember(NamesOf(kRowFormatWords)))
      ->type_name("FORMAT");
  app.add_flag("--no-header", flags.no_header, "Leave out the first row of CSV, the names");
}

void AddNumbers(CLI::App& app, bool& numbers) {
  app.add_flag("--numbers", numbers, "Write the number of each record, too, as 'record'");
}

RowFormat FormatOf(const OutputFlags& flags) { return *FindWord(kRowFormatWords, flags.format); }

RowStyle StyleOf(const OutputFlags& flags, const std::string& time_zone) {
  RowStyle style = {.format = FormatOf(flags), .head = !flags.no_header};
  absl::TimeZone zone;
  if (!time_zone.empty() && absl::LoadTimeZone(time_zone, &zone)) style.zone = zone;
  return style;
}

absl::StatusOr<std::vector<Field>> FieldsOf(const OutputFlags& flags,
                                            const std::vector<Field>& all) {
  if (flags.fields.empty()) return all;
  ASSIGN_OR_RETURN(const std::vector<std::string> names, ParseCsvRow(flags.fields, ','));
  std::vector<Field> fields;
  for (const std::string& name : names) {
    const absl::StatusOr<const Field*> field = FindField(all, name);
    if (!field.ok()) return AboutOption("--fields", field.status());
    fields.push_back(**field);
  }
  return fields;
}

absl::StatusOr<std::vector<Field>> NumbersOf(const OutputFlags& flags, const LogSnapshot& log) {
  ASSIGN_OR_RETURN(std::vector<Field> fields, FieldsOf(flags, log.schema()));
  if (!flags.fields.empty()) return fields;
  const Field* const time = log.time_field();
  std::erase_if(fields, [time](const Field& field) {
    return IsText(field) || (time != nullptr && field == *time);
  });
  return fields;
}

void AddKeeping(CLI::App& app, KeepFlags& flags) {
  app.add_option("--retain-age", flags.retain_age,
                 "Drop records so much older than the newest, such as 30d")
      ->type_name("DURATION");
  AddNumber(app, "--retain-records", flags.retain_records, int64_t{0}, kMost)
      ->description("Drop the oldest records where there are more than N");
  AddByteSize(app, "--retain-bytes", flags.retain_bytes, 0, kMost)
      ->description("Drop the oldest records where the chunks take more");
  app.add_option("--rotate-every", flags.rotate_every,
                 "Begin a new file for each such span of time, such as 1d")
      ->type_name("DURATION");
  AddByteSize(app, "--rotate-bytes", flags.rotate_bytes, 0, kMost)
      ->description("Begin a new file when the last one is this large");
}

absl::StatusOr<Retention> RetentionOf(const KeepFlags& flags, const Field* time, Retention old) {
  if (flags.retain_age) {
    ASSIGN_OR_RETURN(old.max_age, DurationOption("--retain-age", time, *flags.retain_age));
  }
  old.max_records = flags.retain_records.value_or(old.max_records);
  old.max_bytes = flags.retain_bytes.value_or(old.max_bytes);
  return old;
}

absl::StatusOr<Rotation> RotationOf(const KeepFlags& flags, const Field* time, Rotation old) {
  if (flags.rotate_every) {
    ASSIGN_OR_RETURN(old.period, DurationOption("--rotate-every", time, *flags.rotate_every));
  }
  old.max_bytes = flags.rotate_bytes.value_or(old.max_bytes);
  return old;
}

absl::StatusOr<Field> ParseNewField(const std::string& text) {
  absl::StatusOr<Field> field = Schema::ParseField(text);
  if (field.ok() || text.find(':') == std::string::npos) return field;
  return absl::InvalidArgumentError(
      absl::StrFormat("--field: %s; types are timestamp[s], [ms], [us] or [ns], i1 to i8, u1 to "
                      "u8, f2 to f8, bool, "
                      "bytes[N] and text",
                      field.status().message()));
}

}  // namespace cairn::tool
