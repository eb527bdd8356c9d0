#include <memory>
#include <optional>
#include <utility>

#include "cairn/log.h"
#include "cairn/log_writer.h"
#include "engine/base/status.h"
#include "engine/log/query/aggregate.h"
#include "engine/log/query/buckets.h"
#include "engine/log/query/latest.h"
#include "engine/log/query/query_run.h"
#include "engine/log/state/log_core.h"
#include "engine/log/write/added_field.h"
#include "engine/log/write/delete_beside.h"
#include "engine/log/write/limits_request.h"
#include "engine/log/write/upsertion.h"
#include "engine/log/write/writer_core.h"

namespace cairn {

LogCursor::LogCursor(std::unique_ptr<log::QueryRun> run) : run_(std::move(run)) {}
LogCursor::LogCursor(LogCursor&&) noexcept = default;
LogCursor& LogCursor::operator=(LogCursor&&) noexcept = default;
LogCursor::~LogCursor() = default;

absl::StatusOr<LogBatch> LogCursor::Next() { return run_->Next(); }

const Schema& LogSnapshot::schema() const { return state_->schema(); }
const Field* LogSnapshot::time_field() const { return state_->newest().time_field(); }
const Retention& LogSnapshot::retention() const { return state_->newest().layer().retention; }
const Rotation& LogSnapshot::rotation() const { return state_->newest().layer().rotation; }
int64_t LogSnapshot::first_record() const { return state_->first_record(); }
int64_t LogSnapshot::end_record() const { return state_->end_record(); }

absl::StatusOr<int64_t> LogSnapshot::FirstWithValue(std::string_view field) const {
  const Field* const found = schema().Find(field);
  if (found == nullptr) return NotFound("log: no field '%s'", field);
  return state_->FirstWithValue(static_cast<size_t>(found - schema().fields().data()));
}

int64_t LogSnapshot::nrecords() const {
  return end_record() - first_record() - state_->CountDeleted();
}
std::vector<RecordRange> LogSnapshot::deleted() const { return state_->Deleted(); }
LogChanges LogSnapshot::ChangesSince(const LogSnapshot& seen) const {
  return state_->ChangesSince(*seen.state_);
}

std::vector<Snapshot> LogSnapshot::frames() const {
  std::vector<Snapshot> frames;
  for (const log::SegmentPtr& segment : state_->segments()) frames.push_back(segment->snapshot());
  return frames;
}

absl::StatusOr<std::optional<TimeRange>> LogSnapshot::Times() const { return state_->Times(); }
absl::StatusOr<std::optional<int64_t>> LogSnapshot::GreatestTime() const {
  return state_->GreatestTime();
}
absl::StatusOr<int64_t> LogSnapshot::FindTime(int64_t time) const { return state_->FindTime(time); }

absl::StatusOr<TimeRange> LogSnapshot::Last(int64_t span) const { return state_->Last(span); }
absl::StatusOr<int64_t> LogSnapshot::CountFuture() const { return state_->CountFuture(); }

absl::Status LogSnapshot::ReadRecords(int64_t record, MutableItems dst) const {
  return state_->ReadRecords(record, dst);
}
absl::Status LogSnapshot::ReadColumn(std::string_view field, int64_t record,
                                     MutableItems dst) const {
  return state_->ReadColumn(field, record, dst);
}

absl::StatusOr<LogCursor> LogSnapshot::Query(const LogQuery& query) const {
  CAIRN_ASSIGN_OR_RETURN(std::unique_ptr<log::QueryRun> run, log::QueryRun::Make(state_, query));
  return LogCursor(std::move(run));
}
absl::StatusOr<std::vector<LogBucket>> LogSnapshot::Aggregate(
    const LogAggregation& aggregation) const {
  return log::Aggregate(state_, aggregation);
}
absl::StatusOr<LogBatch> LogSnapshot::Latest(const LogLatest& wanted) const {
  return log::FindLatest(state_, wanted);
}
absl::StatusOr<std::shared_ptr<const KeyTexts>> LogSnapshot::Texts(std::string_view field) const {
  const Field* const found = schema().Find(field);
  if (found == nullptr) return NotFound("log: no field '%s'", field);
  return state_->TextsOf(static_cast<size_t>(found - schema().fields().data()));
}
absl::StatusOr<TimeRange> LogSnapshot::BucketAt(const LogAggregation& aggregation,
                                                int64_t time) const {
  CAIRN_ASSIGN_OR_RETURN(const Field* const field, state_->NeedTime());
  CAIRN_ASSIGN_OR_RETURN(log::Buckets buckets, log::Buckets::Make(aggregation, *field));
  return buckets.Of(time);
}
absl::StatusOr<std::vector<std::string>> LogSnapshot::VerifyStatistics() const {
  return state_->VerifyStatistics();
}

Log::Log(std::shared_ptr<log::LogCore> core) : core_(std::move(core)) {}
Log::Log(Log&&) noexcept = default;
Log& Log::operator=(Log&&) noexcept = default;
Log::~Log() = default;

absl::StatusOr<Log> Log::Open(const std::string& path, const OpenOptions& options,
                              std::string_view time_field) {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<log::LogCore> core,
                         log::LogCore::Open(path, options, time_field));
  return Log(std::move(core));
}

absl::StatusOr<Log> Log::Create(const std::string& path, const LogCreateOptions& options) {
  CAIRN_RETURN_IF_ERROR(log::CheckLimits(options.retention, options.rotation));
  if (options.schema.fields().size() == 1 && options.schema.fields()[0].name.empty()) {
    return InvalidArgument("log: records of type %s have no fields with names",
                           options.schema.ToDtype());
  }
  for (const Field& field : options.schema.fields()) {
    CAIRN_RETURN_IF_ERROR(log::CheckNewName(field));
  }
  FileSystem& files = *(options.file_system == nullptr ? PosixFileSystem() : options.file_system);
  CAIRN_ASSIGN_OR_RETURN(const std::string absolute, files.Absolute(path));
  std::string frame = absolute;
  if (options.rotation != Rotation{}) {
    CAIRN_RETURN_IF_ERROR(log::MakeLogDirectory(files, absolute));
    frame = log::FileOf(absolute, 0).path;
  }
  CAIRN_RETURN_IF_ERROR(log::CreateLogFrame(frame, options, 0, {}));
  return Open(absolute, {.file_system = options.file_system});
}

LogSnapshot Log::snapshot() const { return LogSnapshot(core_->state()); }

absl::StatusOr<LogSnapshot> Log::Refresh() {
  CAIRN_ASSIGN_OR_RETURN(log::LogStatePtr state, core_->Refresh());
  return LogSnapshot(std::move(state));
}

absl::StatusOr<LogSnapshot> Log::WaitForCommit(const LogSnapshot& seen,
                                               std::chrono::milliseconds timeout) {
  CAIRN_ASSIGN_OR_RETURN(log::LogStatePtr state, core_->WaitForCommit(seen.state_, timeout));
  return LogSnapshot(std::move(state));
}

absl::Status Log::RequestLimits(const Retention& retention, const Rotation& rotation) {
  return log::LeaveRequest(*core_, {.retention = retention, .rotation = rotation});
}

absl::StatusOr<int64_t> Log::Delete(const LogSelection& which, std::chrono::milliseconds wait) {
  return log::DeleteBesideWriters(core_, which, wait);
}

absl::Status Log::AddField(const Field& field, std::chrono::milliseconds wait) {
  CAIRN_ASSIGN_OR_RETURN(const std::shared_ptr<log::WriterCore> writer,
                         log::WriterCore::Open(core_, {.wait = wait}));
  CAIRN_RETURN_IF_ERROR(writer->AddField(field));
  return writer->Close();
}

absl::StatusOr<LogWriter> Log::OpenWriter(const LogWriterOptions& options) {
  CAIRN_ASSIGN_OR_RETURN(std::shared_ptr<log::WriterCore> core,
                         log::WriterCore::Open(core_, options));
  return LogWriter(std::move(core));
}

CommitTimer::CommitTimer() : thread_(log::TimerThread::Make()) {}
CommitTimer::~CommitTimer() = default;

LogWriter::LogWriter(std::shared_ptr<log::WriterCore> core) : core_(std::move(core)) {}
LogWriter::LogWriter(LogWriter&&) noexcept = default;
LogWriter& LogWriter::operator=(LogWriter&& other) noexcept {
  if (core_ != nullptr) core_->StopTimer();
  core_ = std::move(other.core_);
  return *this;
}
LogWriter::~LogWriter() {
  if (core_ != nullptr) core_->StopTimer();
}

absl::Status LogWriter::Append(Items records) { return core_->Append(records); }
absl::Status LogWriter::Commit() { return core_->Commit(); }
absl::Status LogWriter::Checkpoint() { return core_->Checkpoint(); }
absl::Status LogWriter::SetRetention(const Retention& retention) {
  return core_->SetLimits(retention, std::nullopt);
}
absl::Status LogWriter::SetRotation(const Rotation& rotation) {
  return core_->SetLimits(std::nullopt, rotation);
}
absl::Status LogWriter::ApplyRetention() { return core_->Retain(); }
absl::StatusOr<int64_t> LogWriter::Delete(const LogSelection& which) {
  return core_->Delete(which);
}
absl::StatusOr<UpsertReport> LogWriter::Upsert(Items records, const UpsertOptions& options) {
  return core_->Upsert(records, {.key = log::KeyOf(core_->state()->schema(), options)});
}
absl::StatusOr<uint32_t> LogWriter::CodeOf(std::string_view field, std::string_view text) {
  return core_->CodeOf(field, text);
}
absl::Status LogWriter::AddField(const Field& field) { return core_->AddField(field); }
int64_t LogWriter::end_record() const { return core_->end_record(); }
LogSnapshot LogWriter::snapshot() const { return LogSnapshot(core_->state()); }
absl::Status LogWriter::Close() { return core_->Close(); }

}  // namespace cairn
