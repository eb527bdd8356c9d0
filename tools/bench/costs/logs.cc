// Measures logs: taking records in, finding a range of times, sums.

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "tools/bench/costs/operation.h"
#include "tools/bench/data/sensor_walk.h"
#include "tools/status.h"

namespace cairn::bench {
namespace {

constexpr int64_t kRecords = 100'000;
constexpr size_t kBatch = 100;

struct Written {
  Log log;
  LogWriter writer;
  std::vector<Reading> walk;
};

absl::StatusOr<std::shared_ptr<Written>> MakeLog(const std::string& folder,
                                                 int64_t commit_records) {
  LogCreateOptions options;
  std::vector<Field> fields = {{.name = "time", .type = FieldType::kTimestamp}};
  for (const char* const name : {"a", "b", "c", "d"}) fields.push_back({.name = name});
  ASSIGN_OR_RETURN(options.schema, Schema::Make(std::move(fields)));
  ASSIGN_OR_RETURN(Log log, Log::Create(folder + "/log", options));
  ASSIGN_OR_RETURN(LogWriter writer, log.OpenWriter({.commit_records = commit_records}));
  return std::make_shared<Written>(
      Written{std::move(log), std::move(writer), SensorWalk(kRecords)});
}

absl::StatusOr<Steps> Append(const std::string& folder, int64_t commit_records) {
  ASSIGN_OR_RETURN(const auto written, MakeLog(folder, commit_records));
  return Steps{[written](int64_t number) {
    const size_t at = static_cast<size_t>(number) * kBatch;
    return written->writer.Append(std::span(written->walk).subspan(at, kBatch));
  }};
}

absl::StatusOr<Steps> AppendOfTenThousand(const std::string& folder) {
  return Append(folder, 10'000);
}

absl::StatusOr<Steps> AppendAndCommit(const std::string& folder) {
  return Append(folder, static_cast<int64_t>(kBatch));
}

absl::StatusOr<std::shared_ptr<Written>> FilledLog(const std::string& folder) {
  ASSIGN_OR_RETURN(auto written, MakeLog(folder, 1000));
  RETURN_IF_ERROR(written->writer.Append(written->walk));
  RETURN_IF_ERROR(written->writer.Close());
  RETURN_IF_ERROR(written->log.Refresh().status());
  return written;
}

absl::StatusOr<Steps> FindRange(const std::string& folder) {
  ASSIGN_OR_RETURN(const auto filled, FilledLog(folder));
  return Steps{[filled](int64_t number) -> absl::Status {
    const int64_t first = number * 7919 % (kRecords - 1000);
    const TimeRange times = {.begin = filled->walk[static_cast<size_t>(first)].time,
                             .end = filled->walk[static_cast<size_t>(first + 1000)].time};
    ASSIGN_OR_RETURN(LogCursor cursor, filled->log.snapshot().Query({.times = times}));
    for (int64_t found = 0; found < 1000;) {
      ASSIGN_OR_RETURN(const LogBatch batch, cursor.Next());
      if (batch.size() == 0) return absl::InternalError("the range has fewer records");
      found += batch.size();
    }
    return absl::OkStatus();
  }};
}

absl::StatusOr<Steps> FindByCondition(const std::string& folder) {
  ASSIGN_OR_RETURN(const auto filled, FilledLog(folder));
  LogQuery query = {.filters = {"a < 100 and b != 7"}, .order = LogOrder::kRecord, .limit = 1000};
  return Steps{[=](int64_t) -> absl::Status {
    ASSIGN_OR_RETURN(LogCursor cursor, filled->log.snapshot().Query(query));
    while (true) {
      ASSIGN_OR_RETURN(const LogBatch batch, cursor.Next());
      if (batch.size() == 0) return absl::OkStatus();
    }
  }};
}

absl::StatusOr<Steps> Aggregate(const std::string& folder) {
  ASSIGN_OR_RETURN(const auto filled, FilledLog(folder));
  const int64_t span = filled->walk.back().time - filled->walk.front().time;
  return Steps{[=](int64_t) {
    return filled->log.snapshot().Aggregate({.bucket = span / 10, .fields = {"a"}}).status();
  }};
}

}  // namespace

std::vector<Operation> LogOperations() {
  return {{"log: append of 100 records, a commit each 10,000", 400, AppendOfTenThousand},
          {"log: append of 100 records and commit", 400, AppendAndCommit},
          {"log: range of 1,000 records", 50, FindRange},
          {"log: 1,000 records by a condition", 20, FindByCondition},
          {"log: aggregate of 100,000 records", 4, Aggregate}};
}

}  // namespace cairn::bench
