// Log: a time-series of records in a frame. Other Blosc2 libraries open the frame as a
// one-dimensional array.
#ifndef CAIRN_LOG_H_
#define CAIRN_LOG_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/items.h"
#include "cairn/key_texts.h"
#include "cairn/log_batch.h"
#include "cairn/options.h"
#include "cairn/record.h"
#include "cairn/snapshot.h"
#include "cairn/types.h"

namespace cairn {

class LogWriter;          // in log_writer.h
struct LogWriterOptions;  // likewise

namespace log {
class LogCore;
class LogState;
class QueryRun;
}  // namespace log

// A range of times, which includes its begin but not its end. Times are counts of the unit of the
// log's time field; see LogSnapshot::time_field. The greatest `end` means no limit: the range then
// includes every time from `begin` on.
struct TimeRange {
  int64_t begin = std::numeric_limits<int64_t>::min();
  int64_t end = std::numeric_limits<int64_t>::max();
};

// A range of record numbers, which includes its begin but not its end.
struct RecordRange {
  int64_t begin = 0;
  int64_t end = 0;
  bool operator==(const RecordRange&) const = default;
};

// Says how much a writer keeps. It drops the oldest records first, chunk by chunk; in a log of many
// files it drops whole files. It never keeps less than asked for, and at most one chunk or file
// more. A commit drops only a part of a long backlog; see LogWriter::ApplyRetention. The log stores
// its retention. 0 means no limit.
struct Retention {
  // Age of the oldest record, counted from the newest time, in units of the time field. Timestamps
  // after the clock of this machine do not count: a record from the future neither makes others old
  // nor keeps them.
  int64_t max_age = 0;
  int64_t max_records = 0;
  int64_t max_bytes = 0;  // stored bytes of all chunks
  bool operator==(const Retention&) const = default;
};

// Says when a log of many files begins a new file: when the current file reaches one of these
// limits. The log stores its rotation. 0 means never.
struct Rotation {
  int64_t max_bytes = 0;  // bytes of one file
  // A span of time, in units of the time field. A file holds the times between two multiples of the
  // period, and late records. A time from the future does not begin a file, unless all times in the
  // current file are from the future.
  int64_t period = 0;
  bool operator==(const Rotation&) const = default;
};

// Describes a new log.
struct LogCreateOptions {
  Schema schema = {};
  // Name of the field with the time: a timestamp or an integer. Empty means the first timestamp. If
  // the schema has no timestamp, the records have no time.
  std::string time_field = {};
  Codec codec = Codec::kLz4;
  int clevel = 5;  // see CompressionOptions
  // Decoded bytes of a chunk. 0 means that Cairn chooses.
  int32_t chunksize = 0;
  Retention retention = {};
  // If a limit is set, the log is a directory of frames: log.000000.b2frame and so on.
  Rotation rotation = {};
  std::shared_ptr<FileSystem> file_system = nullptr;  // null means PosixFileSystem()
};

// A value that a field is compared with: an integer for booleans, integers and timestamps, a double
// for floats, text for bytes and texts. The last alternative is no value, which only groups have.
using FieldValue = std::variant<int64_t, uint64_t, double, std::string, std::monostate>;

enum class Comparison : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual
};

// Compares a field with a value.
struct Condition {
  std::string field;
  Comparison comparison = Comparison::kEqual;
  FieldValue value = int64_t{0};
};

enum class LogOrder : uint8_t {
  kTime,    // by time; records of the same time by number
  kRecord,  // by number
};

// Says which records and fields a query returns.
struct LogQuery {
  TimeRange times = {};
  // Names of the fields to return, in this order. Empty means all fields.
  std::vector<std::string> fields = {};
  // Conditions, which must all hold. Comparisons with a NaN, and with a value that a record lacks,
  // are false, except kNotEqual. A number that is compared with a float field is first rounded as
  // the values of that field are.
  std::vector<Condition> where = {};
  // Conditions as people write them. All of these must hold, too:
  //   "temp > 20 and (room = 'hall' or room in ('attic', 'cellar')) and not ok"
  // The comparisons are =, ==, !=, <>, <, <=, > and >=, also in chains such as "0 < temp <= 30",
  // and "in" and "not in" a list. "not" binds closest, then "and". Texts stand in quotes of either
  // kind. A single word that is not a number needs no quotes. Times may stand in quotes. A boolean
  // field may stand alone.
  std::vector<std::string> filters = {};
  LogOrder order = LogOrder::kTime;
  int64_t limit = std::numeric_limits<int64_t>::max();  // records
};

// Says which records LogWriter::Delete removes: those with these times and numbers for which all
// filters hold.
struct LogSelection {
  TimeRange times = {};
  RecordRange records = {.begin = 0, .end = std::numeric_limits<int64_t>::max()};
  std::vector<std::string> filters = {};  // as in LogQuery
};

// Says what became of records that an earlier state of a log showed. The ranges are in order.
struct LogChanges {
  std::vector<RecordRange> deleted;
};

// Returns what a query finds, batch by batch. A LogCursor is movable and not thread-safe. It stays
// valid after the log and the snapshot are destroyed.
class CAIRN_EXPORT LogCursor {
 public:
  LogCursor(LogCursor&&) noexcept;
  LogCursor& operator=(LogCursor&&) noexcept;
  ~LogCursor();

  // Returns the next batch, or an empty batch at the end. A batch holds records of one chunk, or of
  // chunks whose times overlap. In the order of time, all chunks that overlap are in memory at
  // once. Chunks that the statistics exclude are not touched.
  // Errors: kDataLoss if a chunk is damaged, and others as for Snapshot.
  absl::StatusOr<LogBatch> Next();

 private:
  friend class LogSnapshot;
  explicit LogCursor(std::unique_ptr<log::QueryRun> run);
  std::unique_ptr<log::QueryRun> run_;
};

// Summary of the values of one field, without NaNs and records that have no value. Numbers of any
// type become doubles: integers are exact up to 2^53. If there are no values, all members are 0.
struct FieldAggregate {
  int64_t count = 0;  // values
  double min = 0;
  double max = 0;
  double sum = 0;
  double first = 0;  // first value by time; at the same time, by number
  double last = 0;
  [[nodiscard]] double mean() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};

// Exact summary of the values of an integer, boolean or timestamp field. For floats all members
// are 0.
struct WholeAggregate {
  absl::int128 min = 0;
  absl::int128 max = 0;
  absl::int128 sum = 0;
  absl::int128 first = 0;
  absl::int128 last = 0;
};

// Summary of the records of one span of time.
struct LogBucket {
  // Time at which the bucket begins, or the least time if it begins before that. One bucket of
  // everything begins at its earliest time.
  int64_t begin = 0;
  // Time at which the next bucket begins: that after the latest time for one bucket of everything.
  // The greatest int64 if that does not fit.
  int64_t end = 0;
  int64_t records = 0;                 // number of records
  std::vector<FieldAggregate> fields;  // summary of each field of the aggregation
  std::vector<WholeAggregate> wholes;  // exact summary of each of these fields
  std::vector<double> measures;        // each measure of the aggregation; NaN if there is none
  std::vector<FieldValue> group;       // value of each field that the aggregation groups by
};

// A measure that the statistics do not hold. NaNs do not count.
enum class MeasureKind : uint8_t {
  // The value below which a part of the values lies. Between two values it is interpolated
  // linearly.
  kQuantile,
  kDeviation,  // standard deviation of a sample; of two values or more
  // How much a counter has grown: the sum of the differences between each value and the one before
  // it, also if that is in an earlier bucket. A value that is less than the one before it counts in
  // full, because the counter began again at 0. So the increases of all buckets add up to that of
  // all records. There is none if no value has one before it.
  kIncrease,
  // The increase for each second, or each unit of an integer time, between the first and the last
  // value that it takes into account.
  kRate,
};
struct LogMeasure {
  std::string field;  // name of a numeric field
  MeasureKind kind = MeasureKind::kQuantile;
  double quantile = 0.5;  // 0 to 1, for kQuantile
};

// The unit of buckets that follow the calendar and the clocks of a time zone. A day begins when
// clocks first show its midnight, or jump over it: it has 23 or 25 hours when they change. Days and
// weeks are counted from 1970 on, and weeks begin on Monday. Months and years are counted from year
// 0, so 3 months are a quarter. An hour begins when clocks show a full one: an hour that they show
// twice is two, unless only a part of it is repeated.
enum class CalendarUnit : uint8_t { kNone, kHour, kDay, kWeek, kMonth, kYear };

// Says which records an aggregation sums up, and how.
struct LogAggregation {
  TimeRange times = {};
  // Length of a bucket, in units of the time field. Bucket i begins at origin + i * bucket. 0 means
  // one bucket of everything.
  int64_t bucket = 0;
  int64_t origin = 0;
  // Makes `bucket` count units of the calendar: up to 100,000, but 1, 2, 3, 4, 6, 8 or 12 hours.
  // The time field must be a timestamp, and `origin` 0.
  CalendarUnit calendar = CalendarUnit::kNone;
  std::string time_zone = {};  // for a calendar, such as "Europe/Berlin"; empty means UTC
  // Names of numeric fields: any field except bytes and texts. Empty means all of them.
  std::vector<std::string> fields = {};
  std::vector<Condition> where = {};      // as in LogQuery
  std::vector<std::string> filters = {};  // as in LogQuery
  std::vector<LogMeasure> measures = {};
  // Names of fields: of integers, booleans, timestamps, bytes or texts. Records whose values of
  // these fields are equal are a group, and each group has buckets of its own. Records without a
  // value are a group, too.
  std::vector<std::string> by = {};
  int64_t max_groups = 100'000;
  // Bytes of the values of one bucket that quantiles may need. One value has 8 bytes.
  int64_t max_memory = int64_t{1} << 30;
};

// Says which records LogSnapshot::Latest finds.
struct LogLatest {
  // Names of one or more fields of integers, booleans, timestamps, bytes or texts. Records whose
  // values of these fields are equal are a group. Records without a value are a group, too.
  std::vector<std::string> by = {};
  // Select the records as in LogQuery, and name the fields to return.
  TimeRange times = {};
  std::vector<std::string> fields = {};
  std::vector<Condition> where = {};
  std::vector<std::string> filters = {};
  int64_t max_groups = 100'000;
};

// A committed state of a log. A LogSnapshot is cheap to copy, thread-safe, and valid whatever
// happens to the log. Its records never change. Which of them are from the future depends on the
// clock of this machine at the time of each call: of FindTime, Last and CountFuture.
//
// Each comment lists the errors that a caller can act on. Calls that read may also return those of
// Snapshot, such as kDataLoss if a chunk is damaged.
class CAIRN_EXPORT LogSnapshot {
 public:
  [[nodiscard]] const Schema& schema() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  // Returns the field with the time. Returns null if the records have no time: then all calls that
  // deal with times return kFailedPrecondition.
  [[nodiscard]] const Field* time_field() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  [[nodiscard]] const Retention& retention() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  [[nodiscard]] const Rotation& rotation() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Returns the number of the first record that has a value of this field. Records before it are
  // older than the field, which LogWriter::AddField added; all records from it on have a value.
  // Calls that return records as bytes give them NaN, no time, an empty text, 0 or false. Errors:
  // kNotFound if no field has this name.
  absl::StatusOr<int64_t> FirstWithValue(std::string_view field) const;

  // Returns the texts of a field of type kText, whose values are codes, or null for another type.
  // Errors: kNotFound if no field has this name.
  absl::StatusOr<std::shared_ptr<const KeyTexts>> Texts(std::string_view field) const;

  // Returns the number of the first record. Each record has a number, which never changes. The
  // records before this one were dropped.
  [[nodiscard]] int64_t first_record() const;
  // Returns the number after that of the last record.
  [[nodiscard]] int64_t end_record() const;
  // Returns the number of records that the log holds, without the deleted ones.
  [[nodiscard]] int64_t nrecords() const;
  // Returns the numbers from first_record() on that belong to deleted records, in order.
  [[nodiscard]] std::vector<RecordRange> deleted() const;
  // Compares this state with `seen`, an earlier one of this log. Returns what became of the records
  // of `seen` that both states have by number.
  [[nodiscard]] LogChanges ChangesSince(const LogSnapshot& seen) const;
  // Returns the frames that hold the records, the oldest first.
  [[nodiscard]] std::vector<Snapshot> frames() const;

  // Returns the range from the least to the greatest time. Its end is the greatest time plus one;
  // if that does not fit in an int64, its end is the greatest time. Empty if there are no records.
  // Errors: kFailedPrecondition if the records have no time.
  absl::StatusOr<std::optional<TimeRange>> Times() const;
  // Returns the greatest time, also if it is the greatest int64, which the end of Times cannot say.
  // Empty if there are no records. Errors: kFailedPrecondition if the records have no time.
  absl::StatusOr<std::optional<int64_t>> GreatestTime() const;
  // Returns the least number of a record of this time or later, or end_record() if there is none.
  // Records from the future count only if `time` lies after the clock of this machine, or if all
  // records are from the future; see Last.
  // Errors: kFailedPrecondition if the records have no time.
  absl::StatusOr<int64_t> FindTime(int64_t time) const;

  // Returns the range of times that begins `span` before the newest time. `span` counts units of
  // the time field. Timestamps after the clock of this machine are from the future: they are
  // neither the newest time nor in the range, unless all timestamps are from the future. Errors:
  // kFailedPrecondition if the records have no time; kInvalidArgument if `span` is less than 0.
  absl::StatusOr<TimeRange> Last(int64_t span) const;
  // Counts the records whose timestamp is from the future, as Last defines it.
  // Errors: kFailedPrecondition if the records have no time.
  absl::StatusOr<int64_t> CountFuture() const;

  // Reads the records from number `record` on that fill dst. A deleted record reads as its time
  // without any values: NaN, no time, empty text, 0 and false. All other calls leave deleted
  // records out. Errors:
  //   kOutOfRange if the log does not hold all of these records, or has dropped some of them.
  //   kInvalidArgument if the size of dst is not a multiple of the record size, or its values have
  //     another size than a record.
  absl::Status ReadRecords(int64_t record, MutableItems dst) const;
  // Reads the values of one field from number `record` on. Decodes little else if the records are
  // shuffled and the blocks are split.
  // Errors: as for ReadRecords, and kNotFound if no field has this name.
  absl::Status ReadColumn(std::string_view field, int64_t record, MutableItems dst) const;

  // Finds the records that a query asks for. The cursor reads them.
  // Errors:
  //   kNotFound if no field has a name that the query, a condition or a filter contains.
  //   kInvalidArgument if the value of a condition does not fit its field, or if a filter does not
  //     parse. The message then names the place in its text.
  //   kFailedPrecondition if the query limits the times and the records have no time.
  absl::StatusOr<LogCursor> Query(const LogQuery& query) const;
  // Sums up records in buckets of time. Leaves out buckets without a record. They are in the order
  // of their groups, if there are any, and of time.
  //
  // A part of a chunk whose records all count comes from the statistics. The records are read if
  // there are conditions or groups, where some are deleted, for measures, and for integers so large
  // that a double would round them. Measures and groups read them in the order of time, as a query
  // does.
  //
  // Errors:
  //   kFailedPrecondition if the records have no time.
  //   kNotFound if no field has a name that the aggregation, a condition or a filter contains.
  //   kInvalidArgument if `bucket`, `calendar` or `origin` does not fit the others, if this machine
  //     does not know `time_zone`, if a field of `fields` or `measures` holds bytes or one of `by`
  //     floats, if a quantile is not from 0 to 1, or as for Query.
  //   kResourceExhausted if there are more groups than `max_groups`, or if the values that
  //   quantiles
  //     need are more than `max_memory`.
  absl::StatusOr<std::vector<LogBucket>> Aggregate(const LogAggregation& aggregation) const;
  // Returns the latest record of each group: that with the greatest time, and with the greatest
  // number among records of that time or without a time field. The groups are in order. If one
  // field of texts makes the groups, chunks in which no text can have a later record are not read.
  // Errors:
  //   kInvalidArgument if `by` is empty or names a field of floats, or as for Query.
  //   kNotFound, kFailedPrecondition as for Query.
  //   kResourceExhausted if there are more groups than `max_groups`.
  absl::StatusOr<LogBatch> Latest(const LogLatest& wanted) const;
  // Returns the times of the bucket of an aggregation that holds `time`. So the bucket that follows
  // another begins at its end, also if it has no records and Aggregate leaves it out. Its end is
  // the greatest time if it has none. Errors: as for the buckets of Aggregate.
  absl::StatusOr<TimeRange> BucketAt(const LogAggregation& aggregation, int64_t time) const;

  // Compares the statistics of all chunks with the records, and continues after a difference.
  // Returns one line for each chunk whose statistics differ.
  absl::StatusOr<std::vector<std::string>> VerifyStatistics() const;

  bool operator==(const LogSnapshot&) const = default;

 private:
  friend class Log;
  friend class LogWriter;
  explicit LogSnapshot(std::shared_ptr<const log::LogState> state) : state_(std::move(state)) {}
  std::shared_ptr<const log::LogState> state_;
};

// Opens, creates and watches one log: a frame whose metalayer `b2nd` has one dimension and a dtype
// with fields, or a directory of such frames. A Log is movable and thread-safe. Its snapshots and
// writers may outlive it.
class CAIRN_EXPORT Log {
 public:
  Log(Log&&) noexcept;
  Log& operator=(Log&&) noexcept;
  ~Log();

  // Opens the log at `path`. If another program made the log, `time_field` names the field with its
  // time. An empty `time_field` means the field that the log names, or else the first timestamp.
  //
  // Errors: as for Frame::Open, and
  //   kFailedPrecondition if the frame is not a one-dimensional array with a dtype.
  //   kInvalidArgument, kUnimplemented if Schema::FromDtype cannot read the dtype.
  //   kNotFound if no field is called `time_field`, or the directory holds no file of a log.
  //   kInvalidArgument if the time field is neither a timestamp nor an integer.
  //   kUnimplemented if a newer Cairn made the log.
  //   kDataLoss if a file of the log is missing between others, or does not continue the file
  //     before it.
  static absl::StatusOr<Log> Open(const std::string& path, const OpenOptions& options = {},
                                  std::string_view time_field = {});
  // Creates an empty log at `path` and opens it.
  // Errors: as for Frame::Create, and
  //   kAlreadyExists if something exists at `path`. A log of many files may use an empty directory.
  //   kNotFound if no field is called `time_field`.
  //   kInvalidArgument if the schema has no fields, if a name is not UTF-8, if the time field is
  //     neither a timestamp nor an integer, or if its name is longer than 255 bytes and it is not
  //     the first timestamp.
  //   kUnimplemented if `rotation` sets a limit and the file system cannot make directories.
  static absl::StatusOr<Log> Create(const std::string& path, const LogCreateOptions& options);

  // Returns the newest state that this handle has seen. Does not look for newer commits. A writer
  // of this handle moves it on when files are removed or the disk is full, so that the disk gets
  // the space of older states.
  [[nodiscard]] LogSnapshot snapshot() const;
  // Looks for newer commits, and for files that a rotation began or removed. Returns the newest
  // state. It has all fields of the log: one that another process has added to a log of one file is
  // noticed within a second.
  absl::StatusOr<LogSnapshot> Refresh();
  // Waits up to `timeout` until the newest state is not `seen`, which this handle returned. Returns
  // the newest state in any case. What Refresh notices within a second needs a timeout of a second.
  absl::StatusOr<LogSnapshot> WaitForCommit(const LogSnapshot& seen,
                                            std::chrono::milliseconds timeout);

  // Asks the writer of the log, in any process, to take over these limits with its next commit. A
  // writer that is opened later takes them over as well. -1 leaves a limit as it is.
  // Errors:
  //   kInvalidArgument if a limit is less than -1.
  //   kFailedPrecondition if the log is one file and `rotation` would change a limit.
  //   kUnimplemented if the log is in an object store.
  //   kPermissionDenied if this user may not write files next to the log, or if the writer would
  //     not trust a request of this user.
  absl::Status RequestLimits(const Retention& retention, const Rotation& rotation);

  // Deletes records as LogWriter::Delete does, whoever writes the log, except those that are
  // committed after the call. If the log has a writer, in any process, leaves it a request, which
  // it carries out with its next commit, and waits up to `wait` for that. One request at a time can
  // wait. Returns how many records were deleted, with those of other calls at the same time.
  // Errors: as for LogWriter::Delete, and
  //   kUnavailable if no writer has carried out the request in time. The message says whether the
  //     request stays: then the next commit carries it out.
  //   kAborted if the writer could not delete all of the records. The request is gone then.
  //   kUnimplemented if the log is in an object store and has a writer.
  //   kPermissionDenied as for RequestLimits.
  absl::StatusOr<int64_t> Delete(const LogSelection& which, std::chrono::milliseconds wait);

  // Adds a field as LogWriter::AddField does. Waits up to `wait` for another writer to end.
  // Errors: as for OpenWriter and LogWriter::AddField.
  absl::Status AddField(const Field& field, std::chrono::milliseconds wait);

  // Opens the only writer of the log. May take a second longer than `options.wait` if another
  // writer died while it began a new file. Errors: as for Frame::OpenWriter, and
  //   kUnavailable if another writer holds the log for longer than `options.wait`.
  //   kResourceExhausted if `options.commit_interval` needs a thread and the system gives none.
  absl::StatusOr<LogWriter> OpenWriter(const LogWriterOptions& options);

 private:
  explicit Log(std::shared_ptr<log::LogCore> core);
  std::shared_ptr<log::LogCore> core_;
};

}  // namespace cairn

#endif  // CAIRN_LOG_H_
