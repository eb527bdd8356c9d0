// cairn log append and cairn log import: append records to a log.

#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

#include "cairn/log_writer.h"
#include "tools/cairn/flags/flags.h"
#include "tools/cairn/flags/log_flags.h"
#include "tools/cairn/flags/record_input_flags.h"
#include "tools/cairn/io/held_signals.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/patience.h"
#include "tools/cairn/io/progress.h"
#include "tools/cairn/log/commands.h"
#include "tools/cairn/records/record_parser.h"
#include "tools/cairn/records/record_reader.h"
#include "tools/cairn/records/values.h"
#include "tools/cairn/report/log_size.h"
#include "tools/cairn/text/about.h"
#include "tools/cairn/text/times.h"
#include "tools/cairn/text/units.h"
#include "tools/cairn/text/words.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

struct LogAppendFlags : LogFlags {
  std::vector<std::string> inputs;
  RecordInputFlags input;
  LogWriterOptions writer;
  std::string late_window;
  std::string durability = "process";
  bool checkpoint = false;
  bool upsert = false;
  std::optional<std::string> key;
  bool quiet = false;
};

absl::StatusOr<LogWriterOptions> WriterOptionsOf(const LogAppendFlags& flags, const Field* time) {
  LogWriterOptions options = flags.writer;
  options.durability = *FindWord(kDurabilityWords, flags.durability);
  if (flags.late_window.empty()) return options;
  ASSIGN_OR_RETURN(options.reorder_window,
                   DurationOption("--late-window", time, flags.late_window));
  return options;
}

absl::StatusOr<UpsertOptions> UpsertOptionsOf(const LogAppendFlags& flags, const Schema& schema) {
  UpsertOptions options;
  if (!flags.key) return options;
  options.time_only = flags.key->empty();
  if (options.time_only) return options;
  ASSIGN_OR_RETURN(options.key, ParseCsvRow(*flags.key, ','));
  for (const std::string& name : options.key) {
    RETURN_IF_ERROR(FindField(schema.fields(), name, "--key").status());
  }
  return options;
}

// Returns the number of the time field, if there is one.
std::optional<size_t> TimeOf(const LogSnapshot& log) {
  const Field* const time = log.time_field();
  if (time == nullptr) return std::nullopt;
  return static_cast<size_t>(time - log.schema().fields().data());
}

// Returns the numbers of the fields that some records of the log lack.
absl::StatusOr<std::set<size_t>> AddedFields(const LogSnapshot& log) {
  std::set<size_t> added;
  const std::vector<Field>& fields = log.schema().fields();
  for (size_t i = 0; i < fields.size(); ++i) {
    ASSIGN_OR_RETURN(const int64_t first, log.FirstWithValue(fields[i].name));
    if (first > log.first_record()) added.insert(i);
  }
  return added;
}

class Appender {
 public:
  // `time` is the number of the time field, and `added` are the fields that some records lack. The
  // appender keeps no snapshot, which would keep the space that later commits free.
  Appender(const LogAppendFlags& flags, Schema schema, std::optional<size_t> time,
           std::set<size_t> added, UpsertOptions key, LogWriter& writer)
      : flags_(flags),
        schema_(std::move(schema)),
        time_(time ? &schema_.fields()[*time] : nullptr),
        added_(std::move(added)),
        key_(std::move(key)),
        writer_(writer),
        bad_(flags.input.bad == "skip") {}

  int64_t records() const { return records_; }
  int64_t bad_lines() const { return bad_.count(); }
  const UpsertReport& report() const { return report_; }

  absl::Status Run(const std::string& path, const HeldSignals& signals) {
    ASSIGN_OR_RETURN(Input input, Input::Open(path));
    input.EndAt(signals);
    ParseOptions options = ParseOptionsOf(flags_.input, path);
    options.code_of = [this](std::string_view field, std::string_view text) {
      return writer_.CodeOf(field, text);
    };
    // What `log query` shows of such records can be upserted. An append would store the value.
    if (flags_.upsert) options.added_fields = added_;
    RecordBuilder builder(schema_, time_, options);
    ASSIGN_OR_RETURN(std::unique_ptr<RecordParser> parser,
                     MakeParser(flags_.input, path, builder, time_));
    const bool timestamp = time_ != nullptr && time_->type == FieldType::kTimestamp;
    RecordReader reader(input, schema_.record_size(), timestamp ? time_->offset : -1,
                        std::move(parser), bad_);
    Progress progress(absl::StrCat("appending ", input.name()), input.size());
    while (true) {
      ASSIGN_OR_RETURN(const Bytes records, reader.Next());
      if (records.empty()) return absl::OkStatus();
      if (flags_.upsert) {
        RETURN_IF_ERROR(Take(records));
      } else {
        absl::Status appended = writer_.Append(records);
        const bool is_full = absl::IsResourceExhausted(appended);
        if (appended.ok() || is_full) records_ += std::ssize(records) / schema_.record_size();
        // The records wait, and may have room by now.
        if (is_full) appended = writer_.Commit();
        RETURN_IF_ERROR(appended);
      }
      progress.Show(reader.bytes_read());
    }
  }

  // Upserts the records that wait, in one commit.
  absl::Status Upsert() {
    if (waiting_.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const UpsertReport done, writer_.Upsert(waiting_, key_));
    report_.inserted += done.inserted;
    report_.replaced += done.replaced;
    report_.unchanged += done.unchanged;
    report_.removed += done.removed;
    records_ += std::ssize(waiting_) / schema_.record_size();
    waiting_.clear();
    return absl::OkStatus();
  }

 private:
  // An import upserts many records at once.
  absl::Status Take(Bytes records) {
    waiting_.insert(waiting_.end(), records.begin(), records.end());
    const bool waits = flags_.checkpoint && std::ssize(waiting_) < flags_.writer.max_buffered_bytes;
    return waits ? absl::OkStatus() : Upsert();
  }

  const LogAppendFlags& flags_;
  const Schema schema_;
  const Field* const time_;  // null if there is none
  const std::set<size_t> added_;
  const UpsertOptions key_;
  LogWriter& writer_;
  BadRows bad_;
  std::vector<std::byte> waiting_;
  int64_t records_ = 0;
  UpsertReport report_;
};

std::string Describe(const UpsertReport& report) {
  const std::string done =
      absl::StrFormat("%s inserted, %d replaced, %d unchanged",
                      FormatCount(report.inserted, "record"), report.replaced, report.unchanged);
  if (report.removed == report.replaced) return done;
  return absl::StrFormat("%s, %s removed", done, FormatCount(report.removed, "old record"));
}

// Returns how an error tells of the records before it: all of them are in the log, or only those
// that were committed before the disk was full.
std::string DescribeRest(const LogAppendFlags& flags, const Appender& appender,
                         const absl::Status& closed, Log& log, int64_t end_before) {
  if (absl::IsFailedPrecondition(closed)) {
    return "what was committed before that is in the file that was there";
  }
  if (flags.upsert || closed.ok()) {
    return absl::StrFormat("%s before that: %s", flags.upsert ? "upserted" : "appended",
                           FormatCount(appender.records(), "record"));
  }
  const absl::StatusOr<LogSnapshot> now = log.Refresh();
  if (!now.ok()) return "`cairn log tail` shows the last one that is committed";
  return absl::StrFormat("committed before that: %s of this input",
                         FormatCount(now->end_record() - end_before, "record"));
}

// Commits the records before the end of the input, whatever ended it.
absl::Status AppendAll(const LogAppendFlags& flags, Appender& appender, Log& log, LogWriter& writer,
                       const HeldSignals& signals) {
  const int64_t end_before = log.snapshot().end_record();
  absl::Status status;
  for (const std::string& input : flags.inputs) {
    status = appender.Run(input, signals);
    if (!status.ok()) break;
  }
  // After an error, those are written that came before it, as they are appended.
  if (const absl::Status rest = appender.Upsert(); status.ok()) status = rest;
  // Every Blosc2 can read all of an import.
  absl::Status closed = flags.checkpoint ? writer.Checkpoint() : absl::OkStatus();
  if (closed.ok()) closed = writer.Close();
  // Its timer would go on to commit what waits.
  { const LogWriter ended = std::move(writer); }
  if (status.ok()) status = closed;
  if (status.ok() || absl::IsAborted(status)) return status;
  return {status.code(), absl::StrFormat("%s; %s", status.message(),
                                         DescribeRest(flags, appender, closed, log, end_before))};
}

absl::Status AppendToLog(const LogAppendFlags& flags) {
  // The signals are held before the writer starts threads.
  const HeldSignals signals;
  ASSIGN_OR_RETURN(Log log, OpenLog(flags));
  ASSIGN_OR_RETURN(const LogWriterOptions options,
                   WriterOptionsOf(flags, log.snapshot().time_field()));
  ASSIGN_OR_RETURN(const UpsertOptions key, UpsertOptionsOf(flags, log.snapshot().schema()));
  ASSIGN_OR_RETURN(LogWriter writer, OpenWriterInTurn(log, options));
  ASSIGN_OR_RETURN(std::set<size_t> added, AddedFields(log.snapshot()));
  Appender appender(flags, log.snapshot().schema(), TimeOf(log.snapshot()), std::move(added), key,
                    writer);
  RETURN_IF_ERROR(AppendAll(flags, appender, log, writer, signals));
  if (flags.quiet) return absl::OkStatus();
  ASSIGN_OR_RETURN(const LogSnapshot after, log.Refresh());
  const std::string skipped =
      appender.bad_lines() == 0
          ? ""
          : absl::StrFormat(", %s skipped", FormatCount(appender.bad_lines(), "bad line"));
  const LogSize size = SizeOf(after);
  const std::string done =
      flags.upsert ? Describe(appender.report())
                   : absl::StrFormat("%s appended", FormatCount(appender.records(), "record"));
  return WriteLines(
      {absl::StrFormat("%s: %s%s, now %s in %s (%s)", flags.path, done, skipped,
                       FormatCount(after.nrecords(), "record"), FormatByteSize(size.stored),
                       FormatRatio(size.nbytes, size.stored))});
}

// Parses "100", "500ms" or "100,500ms".
void ParseCommitEvery(const std::string& text, LogWriterOptions& options) {
  options.commit_records = 0;
  options.commit_interval = {};
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(text, ','))) {
    // The "1" of "1h" is no result: SimpleAtoi stores what it has read before it fails.
    int64_t records = 0;
    if (absl::SimpleAtoi(part, &records) && records > 0) {
      options.commit_records = records;
      continue;
    }
    const absl::StatusOr<int64_t> interval = ParseDuration(part, TimeUnit::kMilliseconds);
    if (!interval.ok() || *interval == 0) {
      throw CLI::ValidationError(
          "--commit-every",
          absl::StrFormat("'%s' is not a number of records or a duration such as 500ms", part));
    }
    options.commit_interval = std::chrono::milliseconds(*interval);
  }
}

void AddAppending(CLI::App& app, const std::shared_ptr<LogAppendFlags>& flags, Command& chosen) {
  AddRecordInput(app, flags->input);
  app.add_option_function<std::string>(
         "--commit-every",
         [flags](const std::string& text) { ParseCommitEvery(text, flags->writer); },
         "Commit after this many records, or this long after the first one, such as 100, 500ms or "
         "100,500ms")
      ->type_name("N|TIME")
      ->default_str(flags->writer.commit_interval.count() > 0 ? "1s" : "");
  app.add_option("--durability", flags->durability,
                 "What such a commit survives: process, the death of this process; machine, also "
                 "a power cut")
      ->capture_default_str()
      ->check(CLI::IsMember(NamesOf(kDurabilityWords)))
      ->type_name("WHAT");
  app.add_option("--late-window", flags->late_window,
                 "Hold records back for so long, and sort late ones in")
      ->type_name("DURATION");
  CLI::Option* const upsert =
      app.add_flag(
             "--upsert", flags->upsert,
             "Replace the records of the log that have the same times, and insert the others; "
             "each time in one commit")
          ->excludes("--commit-every")
          ->excludes("--late-window");
  app.add_option("--key", flags->key,
                 "Replace those whose values of these fields are the same, too: names as in a row "
                 "of CSV; '' for none [all fields of the type text]")
      ->type_name("NAMES")
      ->needs(upsert);
  AddWait(app, flags->writer.wait);
  app.add_flag("--quiet", flags->quiet, "Print no summary");
  app.callback(
      [flags, &chosen] { chosen = [flags] { return About(flags->path, AppendToLog(*flags)); }; });
}

}  // namespace

void AddLogAppend(CLI::App& group, Command& chosen) {
  CLI::App* append = group.add_subcommand("append", "Append records as they arrive");
  const auto flags = std::make_shared<LogAppendFlags>();
  flags->writer.commit_interval = std::chrono::seconds(1);
  AddLogPath(*append, *flags);
  flags->inputs = {"-"};
  append->add_option_function<std::string>(
      "FILE", [flags](const std::string& path) { flags->inputs = {path}; },
      "What to append; '-' is standard input");
  append->footer(
      "A signal ends the input: what has come is committed.\n"
      "\nExample:\n"
      "  sensor | cairn log append temps.b2frame --commit-every 100,500ms --bad skip");
  AddAppending(*append, flags, chosen);
}

void AddLogImport(CLI::App& group, Command& chosen) {
  CLI::App* import = group.add_subcommand("import", "Append the records of files");
  const auto flags = std::make_shared<LogAppendFlags>();
  flags->checkpoint = true;
  AddLogPath(*import, *flags);
  import->add_option("FILE", flags->inputs, "Files of records, one after the other")->required();
  import->footer(
      "Example:\n"
      "  cairn log import temps.b2frame day0.csv day1.csv --bad skip");
  AddAppending(*import, flags, chosen);
}

}  // namespace cairn::tool
