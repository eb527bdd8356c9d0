#include "tools/cairn/flags/record_input_flags.h"

#include <array>
#include <utility>

#include "tools/cairn/text/words.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

enum class InputFormat : uint8_t { kCsv, kJsonLines, kLineProtocol, kRaw };

constexpr std::array<Word<InputFormat>, 4> kInputFormatWords = {{
    {InputFormat::kCsv, "csv"},
    {InputFormat::kJsonLines, "jsonl"},
    {InputFormat::kLineProtocol, "line"},
    {InputFormat::kRaw, "raw"},
}};

constexpr std::array<Word<TimeUnit>, 4> kTimeUnitWords = {{
    {TimeUnit::kSeconds, "s"},
    {TimeUnit::kMilliseconds, "ms"},
    {TimeUnit::kMicroseconds, "us"},
    {TimeUnit::kNanoseconds, "ns"},
}};

// Returns the format that the name of a file shows, if no option gives one.
InputFormat FormatOf(const RecordInputFlags& flags, const std::string& input) {
  if (flags.format) return *FindWord(kInputFormatWords, *flags.format);
  if (input.ends_with(".jsonl") || input.ends_with(".ndjson")) return InputFormat::kJsonLines;
  return input.ends_with(".lp") ? InputFormat::kLineProtocol : InputFormat::kCsv;
}

std::string CheckDelimiter(const std::string& text) {
  const bool fine = text == "tab" || (text.size() == 1 && text != "\"" && text != "\n");
  return fine ? "" : "'" + text + "' is not one character, or 'tab'";
}

}  // namespace

void AddRecordInput(CLI::App& app, RecordInputFlags& flags) {
  app.add_option("--format", flags.format,
                 "csv, jsonl, line (InfluxDB line protocol) or raw [by the file's name, else csv]")
      ->check(CLI::IsMember(NamesOf(kInputFormatWords)))
      ->type_name("FORMAT");
  app.add_option("--columns", flags.columns,
                 "Names of the columns of a CSV without a first row "
                 "that has them")
      ->type_name("NAMES");
  app.add_option("--delimiter", flags.delimiter, "What separates the cells of CSV; 'tab' for one")
      ->capture_default_str()
      ->check(CLI::Validator(CheckDelimiter, ""))
      ->type_name("CHAR");
  app.add_option("--measurement", flags.measurement, "Of line protocol take this measurement only")
      ->type_name("NAME");
  app.add_option("--time-unit", flags.time_unit,
                 "What times count that are numbers: s, ms, us or ns [the field's unit; of line "
                 "protocol ns]")
      ->check(CLI::IsMember(NamesOf(kTimeUnitWords)))
      ->type_name("UNIT");
  app.add_flag("--ignore-extra", flags.ignore_extra, "Leave out values that no field is for");
  app.add_flag("--stamp", flags.stamp, "Give records without a time that of their arrival");
  app.add_option("--bad", flags.bad, "What a bad line does: stop, or skip, which counts it")
      ->capture_default_str()
      ->check(CLI::IsMember({"stop", "skip"}))
      ->type_name("WHAT");
}

ParseOptions ParseOptionsOf(const RecordInputFlags& flags, const std::string& input) {
  const bool line = FormatOf(flags, input) == InputFormat::kLineProtocol;
  ParseOptions options = {.ignore_extra = flags.ignore_extra, .stamp = flags.stamp || line};
  if (line) options.number_times.unit = TimeUnit::kNanoseconds;
  if (flags.time_unit) {
    options.number_times = {.unit = FindWord(kTimeUnitWords, *flags.time_unit), .certain = true};
  }
  return options;
}

absl::StatusOr<std::unique_ptr<RecordParser>> MakeParser(const RecordInputFlags& flags,
                                                         const std::string& input,
                                                         RecordBuilder& builder,
                                                         const Field* time) {
  switch (FormatOf(flags, input)) {
    case InputFormat::kRaw:
      return std::unique_ptr<RecordParser>();
    case InputFormat::kJsonLines:
      return MakeJsonParser(builder);
    case InputFormat::kLineProtocol:
      return MakeLineProtocolParser(builder, time, flags.measurement);
    case InputFormat::kCsv:
      break;
  }
  CsvOptions options = {.delimiter = flags.delimiter == "tab" ? '\t' : flags.delimiter.front()};
  if (!flags.columns.empty()) {
    ASSIGN_OR_RETURN(options.columns, ParseCsvRow(flags.columns, ','));
  }
  return MakeCsvParser(builder, std::move(options));
}

}  // namespace cairn::tool
