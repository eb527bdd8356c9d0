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

// LOG and --time-field.
struct LogFlags {
  std::string path;
  std::string time_field;
};
void AddLogPath(CLI::App& app, LogFlags& flags);
absl::StatusOr<Log> OpenLog(const LogFlags& flags);

// Which records: --from, --to, --last and --where.
struct RangeFlags {
  std::string from;
  std::string to;
  std::string last;
  std::vector<std::string> where;
};
void AddRange(CLI::App& app, RangeFlags& flags);
absl::StatusOr<TimeRange> TimesOf(const RangeFlags& flags, const LogSnapshot& log);
// Says on standard error how many records a range of LogSnapshot::Last leaves out because they are
// from the future.
absl::Status TellFuture(const LogSnapshot& log, const TimeRange& times, const std::string& option);

// How they are written: --fields, --format and --no-header.
struct OutputFlags {
  std::string fields;
  std::string format = "csv";
  bool no_header = false;
};
void AddOutput(CLI::App& app, OutputFlags& flags);
RowFormat FormatOf(const OutputFlags& flags);
// The fields that --fields names, in its order; all of them without it.
absl::StatusOr<std::vector<Field>> FieldsOf(const OutputFlags& flags,
                                            const std::vector<Field>& all);
inline absl::StatusOr<std::vector<Field>> FieldsOf(const OutputFlags& flags, const Schema& schema) {
  return FieldsOf(flags, schema.fields());
}

// Those of them that are numbers; without --fields all but the time.
absl::StatusOr<std::vector<Field>> NumbersOf(const OutputFlags& flags, const LogSnapshot& log);
// --numbers: the numbers of the records as the first column.
void AddNumbers(CLI::App& app, bool& numbers);

// What a log keeps and when it begins a new file. Empty: is not said.
struct KeepFlags {
  std::optional<std::string> retain_age;
  std::optional<int64_t> retain_records;
  std::optional<int64_t> retain_bytes;
  std::optional<std::string> rotate_every;
  std::optional<int64_t> rotate_bytes;
};
void AddKeeping(CLI::App& app, KeepFlags& flags);
// `old`, changed as the flags say. Durations need a time field, which may be null.
absl::StatusOr<Retention> RetentionOf(const KeepFlags& flags, const Field* time, Retention old);
absl::StatusOr<Rotation> RotationOf(const KeepFlags& flags, const Field* time, Rotation old);

// The time field; kFailedPrecondition when there is none, for what an option needs it.
absl::StatusOr<const Field*> NeedTime(const Field* time, const std::string& option);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_FLAGS_LOG_FLAGS_H_
