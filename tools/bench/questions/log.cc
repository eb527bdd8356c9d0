// Measures the cost of a time-series log: taking records in, finding a range of times, one field of
// all records, sums by day, and following the writer.

#include "cairn/log.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"

#include "cairn/log_writer.h"
#include "tools/bench/contestants/bare_file.h"
#include "tools/bench/contestants/stores.h"
#include "tools/bench/data/sensor_walk.h"
#include "tools/bench/results/contest.h"
#include "tools/bench/results/latencies.h"
#include "tools/bench/results/session.h"
#include "tools/status.h"

namespace cairn::bench {

namespace {

constexpr int64_t kLogBatch = 1000;
constexpr int64_t kDay = kYear / 365;

struct LogSetting {
  int64_t records = 10'000'000;
  int64_t logs = 10'000;             // logs that are open at once
  std::optional<int> decimals = {};  // decimals of a value
  bool zstd = false;
};

Schema SensorSchema() {
  std::vector<Field> fields = {{.name = "time", .type = FieldType::kTimestamp}};
  for (const char* const name : {"a", "b", "c", "d"}) fields.push_back({.name = name});
  return Schema::Make(std::move(fields)).value();
}

absl::StatusOr<Log> MakeLog(const std::string& path, const LogSetting& setting) {
  LogCreateOptions options;
  options.schema = SensorSchema();
  options.codec = setting.zstd ? Codec::kZstd : Codec::kLz4;
  RemoveStore(path);
  return Log::Create(path, options);
}

// Makes commits of a thousand records each.
absl::Status Ingest(const std::string& path, const std::vector<Reading>& walk,
                    const LogSetting& setting, Session& session) {
  const Question question = {.text = absl::StrFormat("records into a log of %d", walk.size()),
                             .ops = static_cast<int64_t>(walk.size()),
                             .clock = Clock::kWall};
  Contest contest(question);
  contest.Add("commit every 1,000", [&]() -> absl::Status {
    ASSIGN_OR_RETURN(Log log, MakeLog(path, setting));
    ASSIGN_OR_RETURN(LogWriter writer, log.OpenWriter({.commit_records = kLogBatch}));
    for (size_t at = 0; at < walk.size(); at += kLogBatch) {
      const size_t count = std::min<size_t>(kLogBatch, walk.size() - at);
      RETURN_IF_ERROR(writer.Append(std::span(walk).subspan(at, count)));
    }
    return writer.Close();
  });
  ASSIGN_OR_RETURN(Result result, contest.Run(3));
  session.report.Note(absl::StrFormat("log: %.2f million records a second, a commit every 1,000",
                                      1e-6 / result.scores[0].median));
  session.report.Add(std::move(result));
  return absl::OkStatus();
}

// Makes commits of a thousand records that survive a power cut. In turns with them, writes and
// syncs the same records without a log.
absl::Status DurableIngest(const std::string& path, const std::vector<Reading>& walk,
                           const LogSetting& setting, Session& session) {
  constexpr size_t kInARow = 20;
  constexpr size_t kCommits = 600;
  ASSIGN_OR_RETURN(
      const std::unique_ptr<BareFile> bare,
      BareFile::Make(path + ".bare", (kCommits + kInARow) * kLogBatch * sizeof(Reading)));
  ASSIGN_OR_RETURN(Log log, MakeLog(path, setting));
  ASSIGN_OR_RETURN(LogWriter writer, log.OpenWriter({.commit_records = kLogBatch,
                                                     .durability = Durability::kMachine}));
  Latencies took_bare;
  Latencies took_log;
  const size_t batches = std::min(kCommits, walk.size() / kLogBatch);
  for (size_t at = 0; at < batches; at += kInARow) {
    for (Latencies* const latencies : {&took_bare, &took_log}) {
      for (size_t i = at; i < std::min(at + kInARow, batches); ++i) {
        const auto batch = std::span(walk).subspan(i * kLogBatch, kLogBatch);
        const double begin = Now(Clock::kWall);
        RETURN_IF_ERROR(latencies == &took_log ? writer.Append(batch)
                                               : bare->Append(std::as_bytes(batch)));
        latencies->Add(Now(Clock::kWall) - begin);
      }
    }
  }
  RETURN_IF_ERROR(writer.Close());
  took_bare.Sort();
  took_log.Sort();
  session.report.Note("log: durable commits of 1,000 records, microseconds: " +
                      took_log.ToString());
  session.report.Note("log: pwrite and fdatasync of the same records, microseconds: " +
                      took_bare.ToString());
  return absl::OkStatus();
}

// Commits each record by itself.
absl::Status SmallCommits(const std::string& path, const std::vector<Reading>& walk,
                          const LogSetting& setting, Session& session) {
  constexpr size_t kCommits = 100'000;
  ASSIGN_OR_RETURN(Log log, MakeLog(path, setting));
  ASSIGN_OR_RETURN(LogWriter writer, log.OpenWriter({.commit_records = 1}));
  Latencies latencies;
  for (size_t i = 0; i < std::min(kCommits, walk.size()); ++i) {
    const double begin = Now(Clock::kWall);
    RETURN_IF_ERROR(writer.Append(std::span(walk).subspan(i, 1)));
    latencies.Add(Now(Clock::kWall) - begin);
  }
  RETURN_IF_ERROR(writer.Close());
  latencies.Sort();
  session.report.Note("log: commits of one record, microseconds: " + latencies.ToString());
  return absl::OkStatus();
}

absl::Status Ranges(const LogSnapshot& log, const std::vector<Reading>& walk, Session& session) {
  constexpr int kReads = 2000;
  constexpr size_t kRange = 1000;
  std::mt19937_64 random(2);
  Latencies latencies;
  for (int i = 0; i < kReads; ++i) {
    const size_t at = random() % (walk.size() - kRange);
    const double begin = Now(Clock::kWall);
    ASSIGN_OR_RETURN(LogCursor cursor,
                     log.Query({.times = {.begin = walk[at].time, .end = walk[at + kRange].time}}));
    int64_t found = 0;
    while (true) {
      ASSIGN_OR_RETURN(const LogBatch batch, cursor.Next());
      if (batch.size() == 0) break;
      found += batch.size();
    }
    latencies.Add(Now(Clock::kWall) - begin);
    if (found != kRange) return absl::InternalError(absl::StrFormat("found %d records", found));
  }
  latencies.Sort();
  session.report.Note("log: 1,000 records of a random time, microseconds: " + latencies.ToString());
  return absl::OkStatus();
}

// Leaves nothing of a file in the page cache, unless a process maps it.
absl::Status DropFromCache(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool done =
      fd >= 0 && ::fdatasync(fd) == 0 && ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0;
  ::close(fd);
  return done ? absl::OkStatus() : absl::InternalError("cannot drop " + path);
}

// Reads from a log that was opened for it, with nothing else in the page cache. Bytes that opening
// reads stay there.
absl::Status ColdRanges(const std::string& path, const std::vector<Reading>& walk,
                        Session& session) {
  constexpr int kReads = 100;
  constexpr size_t kRange = 1000;
  std::mt19937_64 random(3);
  Latencies opening;
  Latencies first;
  for (int i = 0; i < kReads; ++i) {
    const size_t at = random() % (walk.size() - kRange);
    RETURN_IF_ERROR(DropFromCache(path));
    const double begin = Now(Clock::kWall);
    ASSIGN_OR_RETURN(const Log log, Log::Open(path));
    ASSIGN_OR_RETURN(const std::optional<TimeRange> times, log.snapshot().Times());
    if (!times.has_value()) return absl::InternalError("no records");
    const double opened = Now(Clock::kWall);
    ASSIGN_OR_RETURN(
        LogCursor cursor,
        log.snapshot().Query({.times = {.begin = walk[at].time, .end = walk[at + kRange].time}}));
    ASSIGN_OR_RETURN(const LogBatch batch, cursor.Next());
    first.Add(Now(Clock::kWall) - opened);
    opening.Add(opened - begin);
    if (batch.size() == 0) return absl::InternalError("found no records");
  }
  opening.Sort();
  first.Sort();
  session.report.Note("log: opening and its statistics, cold, microseconds: " + opening.ToString());
  session.report.Note("log: 1,000 records of a random time, cold, microseconds: " +
                      first.ToString());
  return absl::OkStatus();
}

absl::Status Scans(const LogSnapshot& log, Session& session) {
  std::vector<double> column(static_cast<size_t>(log.nrecords()));
  std::vector<Reading> records(column.size());
  Contest contest({.text = "all values of one of five fields",
                   .ops = log.nrecords(),
                   .op_bytes = sizeof(double)});
  contest.Add("one field", [&] { return log.ReadColumn("c", log.first_record(), column); });
  contest.Add("whole records", [&] { return log.ReadRecords(log.first_record(), records); });
  std::vector<std::vector<double>> columns(5, column);
  contest.Add("all fields, a column each", [&] {
    std::vector<FieldSpan> spans;
    for (size_t i = 0; i < columns.size(); ++i) {
      spans.push_back({.offset = static_cast<int32_t>(8 * i), .size = 8, .dst = columns[i]});
    }
    return log.frames().front().ReadFields(0, log.nrecords(), spans);
  });
  ASSIGN_OR_RETURN(Result result, contest.Run(session.rounds));
  session.report.Add(std::move(result));
  return absl::OkStatus();
}

absl::Status Aggregates(const LogSnapshot& log, Session& session) {
  Latencies latencies;
  for (int i = 0; i < 200; ++i) {
    const double begin = Now(Clock::kWall);
    ASSIGN_OR_RETURN(const std::vector<LogBucket> days, log.Aggregate({.bucket = kDay}));
    latencies.Add(Now(Clock::kWall) - begin);
    if (days.size() < 365) return absl::InternalError("days are missing");
  }
  latencies.Sort();
  session.report.Note("log: a year by day, microseconds: " + latencies.ToString());
  return absl::OkStatus();
}

// Measures the time from before a commit to when a waiting reader has its record.
absl::Status Follow(const std::string& path, const std::vector<Reading>& walk,
                    const LogSetting& setting, Session& session) {
  constexpr int kCommits = 2000;
  ASSIGN_OR_RETURN(Log log, MakeLog(path, setting));
  ASSIGN_OR_RETURN(LogWriter writer, log.OpenWriter({.commit_records = 1}));
  ASSIGN_OR_RETURN(Log reader, Log::Open(path));
  std::atomic<double> begin = 0;
  absl::Status written;
  std::thread thread([&] {
    for (int i = 0; i < kCommits && written.ok(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      begin = Now(Clock::kWall);
      written = writer.Append(std::span(walk).subspan(static_cast<size_t>(i), 1));
    }
  });
  Latencies latencies;
  absl::Status status;
  LogSnapshot seen = reader.snapshot();
  while (seen.end_record() < kCommits && status.ok()) {
    const absl::StatusOr<LogSnapshot> now =
        reader.WaitForCommit(seen, std::chrono::milliseconds(1000));
    status = now.status();
    if (!now.ok() || *now == seen) continue;
    latencies.Add(Now(Clock::kWall) - begin);
    seen = *now;
  }
  thread.join();
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(written);
  latencies.Sort();
  session.report.Note("log: commit to reader, microseconds: " + latencies.ToString());
  return absl::OkStatus();
}

// Returns the bytes of memory that this process holds.
int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0;
  statm >> pages >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

// A log with its writer has two files open.
absl::Status AllowFiles(int64_t count) {
  struct rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const auto wanted = static_cast<rlim_t>(count);
  if (limit.rlim_cur >= wanted) return absl::OkStatus();
  limit = {.rlim_cur = wanted, .rlim_max = std::max(limit.rlim_max, wanted)};
  if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrFormat("%d open files are more than this process may have: use --logs", count));
}

// Writes a log for each device or metric, all of them in one process.
absl::Status ManyLogs(const std::string& path, const std::vector<Reading>& walk,
                      const LogSetting& setting, Session& session) {
  constexpr size_t kCommits = 10;
  RETURN_IF_ERROR(AllowFiles(2 * setting.logs + 100));
  RETURN_IF_ERROR(PosixFileSystem()->MakeDirectory(path));
  const auto name = [&](int64_t i) { return absl::StrFormat("%s/%d", path, i); };
  for (int64_t i = 0; i < setting.logs; ++i) RETURN_IF_ERROR(MakeLog(name(i), setting).status());
  CommitTimer timer;
  std::vector<LogWriter> writers;
  const int64_t before = ResidentBytes();
  for (int64_t i = 0; i < setting.logs; ++i) {
    ASSIGN_OR_RETURN(Log log, Log::Open(name(i)));
    ASSIGN_OR_RETURN(LogWriter writer,
                     log.OpenWriter({.commit_interval = std::chrono::minutes(1), .timer = &timer}));
    writers.push_back(std::move(writer));
  }
  for (size_t commit = 0; commit < kCommits; ++commit) {
    for (LogWriter& writer : writers) {
      RETURN_IF_ERROR(writer.Append(std::span(walk).subspan(commit, 1)));
      RETURN_IF_ERROR(writer.Commit());
    }
  }
  const auto bytes = static_cast<double>(ResidentBytes() - before);
  session.report.Note(absl::StrFormat("log: %.1f KiB of memory for each of %d logs with a writer",
                                      bytes / 1024 / static_cast<double>(setting.logs),
                                      setting.logs));
  return absl::OkStatus();
}

absl::Status MeasureLog(const std::string& path, const LogSetting& setting, Session& session) {
  const std::vector<Reading> walk = SensorWalk(setting.records, setting.decimals);
  RETURN_IF_ERROR(Ingest(path, walk, setting, session));
  {
    ASSIGN_OR_RETURN(const Log log, Log::Open(path));
    const LogSnapshot snapshot = log.snapshot();
    const FrameInfo info = snapshot.frames().front().info();
    const auto nrecords = static_cast<double>(snapshot.nrecords());
    session.report.Note(absl::StrFormat("log: %.2f bytes a record of %d, %.2f with unused space",
                                        static_cast<double>(info.cbytes) / nrecords, info.typesize,
                                        static_cast<double>(info.frame_size) / nrecords));
    RETURN_IF_ERROR(Ranges(snapshot, walk, session));
    RETURN_IF_ERROR(Scans(snapshot, session));
    RETURN_IF_ERROR(Aggregates(snapshot, session));
  }
  RETURN_IF_ERROR(ColdRanges(path, walk, session));
  RETURN_IF_ERROR(DurableIngest(path, walk, setting, session));
  RETURN_IF_ERROR(SmallCommits(path, walk, setting, session));
  RETURN_IF_ERROR(Follow(path, walk, setting, session));
  RemoveStore(path);
  return ManyLogs(path, walk, setting, session);
}

}  // namespace

void AddLog(CLI::App& app, Session& session) {
  CLI::App* const command =
      app.add_subcommand("log", "A time-series log: taking in, ranges, fields, sums, following");
  const auto setting = std::make_shared<LogSetting>();
  command->add_option("--records", setting->records, "Of 40 bytes, a year of them")
      ->check(CLI::Range(int64_t{10'000}, int64_t{1} << 32))
      ->capture_default_str();
  command->add_option("--logs", setting->logs, "Open at once, each with a writer")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--decimals", setting->decimals, "Round the values to so many");
  command->add_flag("--zstd", setting->zstd, "Instead of LZ4");
  command->callback([setting, &session] {
    session.run = [setting, &session] {
      const std::string path = session.PathFor("log");
      const absl::Status status = MeasureLog(path, *setting, session);
      RemoveStore(path);
      return status;
    };
  });
}

}  // namespace cairn::bench
