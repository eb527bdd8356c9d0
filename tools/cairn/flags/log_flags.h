// Options that the commands of logs share.
#ifndef CAIRN_TOOLS_CAIRN_FLAGS_LOG_FLAGS_H_
#define CAIRN_TOOLS_CAIRN_FLAGS_LOG_FLAGS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <CLI/CLI.hpp>

#include "cairn/log.h"
#include "cairn/record.h"
#include "tools/cairn/records/row_writer.h"

namespace cairn::tool {

// The argument LOG and the option --time-field.
struct LogFlags {
  std::string path;
  std::string time_field;
};
void AddLogPath(CLI::App& app, LogFlags& flags);
void AddTimeField(CLI::App& app, LogFlags& flags);
absl::StatusOr<Log> OpenLog(const LogFlags& flags);

// Options that choose records: --from, --to, --last, --tz and --where.
struct RangeFlags {
  std::string from;
  std::string to;
  std::string last;
  std::string time_zone;
  std::vector<std::string> where;
};
// Adds --tz.
void AddZone(CLI::App& app, std::string& time_zone);
void AddRange(CLI::App& app, RangeFlags& flags);
absl::StatusOr<TimeRange> TimesOf(const RangeFlags& flags, const LogSnapshot& log);
// Reports on standard error how many records a range of LogSnapshot::Last leaves out because they
// are from the future.
absl::Status TellFuture(const LogSnapshot& log, const TimeRange& times, const std::string& option);

// Options for writing records: --fields, --format and --no-header.
struct OutputFlags {
  std::string fields;
  std::string format = "csv";
  bool no_header = false;
};
void AddOutput(CLI::App& app, OutputFlags& flags);
RowFormat FormatOf(const OutputFlags& flags);
// Returns how rows are written. Their times are shown in this zone, or in UTC without one.
RowStyle StyleOf(const OutputFlags& flags, const std::string& time_zone = {});
// Returns the fields that --fields names, in its order, or all without it.
absl::StatusOr<std::vector<Field>> FieldsOf(const OutputFlags& flags,
                                            const std::vector<Field>& all);
inline absl::StatusOr<std::vector<Field>> FieldsOf(const OutputFlags& flags, const Schema& schema) {
  return FieldsOf(flags, schema.fields());
}

// Returns the fields of --fields that are numbers, or without it all numbers except the time.
absl::StatusOr<std::vector<Field>> NumbersOf(const OutputFlags& flags, const LogSnapshot& log);
// Adds --numbers: the numbers of the records as the first column.
void AddNumbers(CLI::App& app, bool& numbers);

// Options for what a log keeps and when it begins a new file. Empty if an option is not given.
struct KeepFlags {
  std::optional<std::string> retain_age;
  std::optional<int64_t> retain_records;
  std::optional<int64_t> retain_bytes;
  std::optional<std::string> rotate_every;
  std::optional<int64_t> rotate_bytes;
};
void AddKeeping(CLI::App& app, KeepFlags& flags);
// Returns `old`, changed by the flags. Durations need a time field, which may be null.
absl::StatusOr<Retention> RetentionOf(const KeepFlags& flags, const Field* time, Retention old);
absl::StatusOr<Rotation> RotationOf(const KeepFlags& flags, const Field* time, Rotation old);

// Parses a duration of the time field, which may be null. Errors name the option.
absl::StatusOr<int64_t> DurationOption(const std::string& option, const Field* time,
                                       const std::string& text);

// Parses NAME:TYPE, a field of --field. Errors: as for Schema::ParseField, with the types that
// there are after the message about one that is unknown.
absl::StatusOr<Field> ParseNewField(const std::string& text);

// Returns the time field. Errors: kFailedPrecondition if there is none, naming the option that
// needs it.
absl::StatusOr<const Field*> NeedTime(const Field* time, const std::string& option);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_FLAGS_LOG_FLAGS_H_
