// Logs: time-series of records in a frame, which other Blosc2s open as a one-dimensional array.
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
#include <variant>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/items.h"
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

// Times are counts of the unit of the log's time field; see LogSnapshot::time_field. A range of
// times includes its begin, not its end; the greatest end is no limit, and includes every time.
struct TimeRange {
  int64_t begin = std::numeric_limits<int64_t>::min();
  int64_t end = std::numeric_limits<int64_t>::max();
};

// Which records a writer drops, the oldest first, chunk by chunk: what is left is never less than
// asked for and at most a chunk more. Is kept in the log. 0: no limit.
struct Retention {
  // Before the newest time, in units of time. Timestamps after the clock of this machine do not
  // count: a record from the future neither makes others old nor keeps them.
  int64_t max_age = 0;
  int64_t max_records = 0;
  int64_t max_bytes = 0;  // of all chunks, as they are stored
  bool operator==(const Retention&) const = default;
};

// When a log of many files begins a new one: when the current file has reached one of them. Is kept
// in the log. 0: never.
struct Rotation {
  int64_t max_bytes = 0;  // of one file
  // A span of time. A file holds the times between two multiples of it, and late ones. Times from
  // the future begin no file.
  int64_t period = 0;
  bool operator==(const Rotation&) const = default;
};

struct LogCreateOptions {
  Schema schema = {};
  // The field with the time: a timestamp or an integer. Empty: the first timestamp.
  std::string time_field = {};
  Codec codec = Codec::kLz4;
  int clevel = 5;
  // Bytes of a chunk, decoded; 0 chooses.
  int32_t chunksize = 0;
  Retention retention = {};
  // If a limit is set, the log is a directory of frames: log.000000.b2frame and so on.
  Rotation rotation = {};
  FileSystem* file_system = nullptr;  // null means PosixFileSystem()
};

// A value of a field to compare with: of booleans, integers and timestamps an integer, of floats a
// double, of bytes text.
using FieldValue = std::variant<int64_t, uint64_t, double, std::string>;

enum class Comparison : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual
};

struct Condition {
  std::string field;
  Comparison comparison = Comparison::kEqual;
  FieldValue value = int64_t{0};
};

enum class LogOrder : uint8_t {
  kTime,    // by time; records of one time by number
  kRecord,  // by number
};

struct LogQuery {
  TimeRange times = {};
  // Names of the fields to return, in this order. Empty: all.
  std::vector<std::string> fields = {};
  // All of them must hold. Comparisons with a NaN are false, but kNotEqual. A number that is
  // compared with a float is rounded as the values of the field are.
  std::vector<Condition> where = {};
  // Conditions as people write them; all of these must hold, too:
  //   "temp > 20 and (room = 'hall' or room in ('attic', 'cellar')) and not ok"
  // Comparisons are =, ==, !=, <>, <, <=, > and >=, also "0 < temp <= 30", and "in" and "not in" a
  // list; "not" binds closest, then "and". Texts are in quotes of either kind, unless they are one
  // word that is not a number; times may be. A boolean field may stand alone.
  std::vector<std::string> filters = {};
  LogOrder order = LogOrder::kTime;
  int64_t limit = std::numeric_limits<int64_t>::max();  // records
};

// Some records that a query found, as columns.
struct LogBatch {
  std::vector<int64_t> records;                 // their numbers
  std::vector<std::vector<std::byte>> columns;  // of each field of the query its values
  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(records.size()); }
};

// Returns what a query finds, batch by batch. Movable; not thread-safe. Stays valid after the log
// and the snapshot are destroyed.
class CAIRN_EXPORT LogCursor {
 public:
  LogCursor(LogCursor&&) noexcept;
  LogCursor& operator=(LogCursor&&) noexcept;
  ~LogCursor();

  // The records of one batch are those of a chunk, and of chunks whose times overlap: in the order
  // of time, as many of these are in memory as overlap. An empty batch ends. Chunks that the
  // statistics exclude are not touched.
  absl::StatusOr<LogBatch> Next();

 private:
  friend class LogSnapshot;
  explicit LogCursor(std::unique_ptr<log::QueryRun> run);
  std::unique_ptr<log::QueryRun> run_;
};

// Summary of the values of one field, without NaNs. Numbers of any type become doubles: integers
// are exact up to 2^53.
struct FieldAggregate {
  int64_t count = 0;
  double min = 0;  // with no value all of them are 0
  double max = 0;
  double sum = 0;
  double first = 0;  // by time, and then by number
  double last = 0;
  [[nodiscard]] double mean() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};

// Exact summary of integers, booleans and timestamps. For floats all are 0.
struct WholeAggregate {
  absl::int128 min = 0;
  absl::int128 max = 0;
  absl::int128 sum = 0;
  absl::int128 first = 0;
  absl::int128 last = 0;
};

struct LogBucket {
  int64_t begin = 0;  // time
  int64_t records = 0;
  std::vector<FieldAggregate> fields;  // of each field that was asked for
  std::vector<WholeAggregate> wholes;  // likewise
};

struct LogAggregation {
  TimeRange times = {};
  // Bucket i begins at origin + i * bucket. 0: one bucket of everything.
  int64_t bucket = 0;
  int64_t origin = 0;
  std::vector<std::string> fields = {};  // of numbers; empty: all of them
  std::vector<Condition> where = {};
  std::vector<std::string> filters = {};  // as of LogQuery
};

// A committed state of a log. Cheap to copy, thread-safe, valid whatever happens to the log.
class CAIRN_EXPORT LogSnapshot {
 public:
  [[nodiscard]] const Schema& schema() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  // Null where the records have no time: then calls with times give kFailedPrecondition.
  [[nodiscard]] const Field* time_field() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  [[nodiscard]] const Retention& retention() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  [[nodiscard]] const Rotation& rotation() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Records have numbers, which they keep for ever; those before first_record() are dropped.
  [[nodiscard]] int64_t first_record() const;
  [[nodiscard]] int64_t end_record() const;
  [[nodiscard]] int64_t nrecords() const { return end_record() - first_record(); }
  // The frames that hold the records, the oldest first.
  [[nodiscard]] std::vector<Snapshot> frames() const;

  // The least and the greatest time, the end being one more, if there is one more; empty without
  // records.
  absl::StatusOr<std::optional<TimeRange>> Times() const;
  // The least number of a record of this time or later; end_record() when there is none. Records
  // from the future count only for a time after the clock of this machine; see Last.
  absl::StatusOr<int64_t> FindTime(int64_t time) const;

  // The times from `span` before the newest one on. Timestamps after the clock of this machine are
  // from the future: they are neither the newest nor part of the range, unless all are.
  absl::StatusOr<TimeRange> Last(int64_t span) const;
  // The number of records with such a timestamp.
  absl::StatusOr<int64_t> CountFuture() const;

  // The records from number `record` on that fill dst. kOutOfRange, also for those that were
  // dropped.
  absl::Status ReadRecords(int64_t record, MutableItems dst) const;
  // The values of one field from that record on: decodes little else where records are shuffled and
  // blocks are split. kNotFound for the field.
  absl::Status ReadColumn(std::string_view field, int64_t record, MutableItems dst) const;

  // kNotFound for a field; kInvalidArgument for a condition whose value does not fit its field, and
  // for a filter that does not parse, with the place in its text.
  absl::StatusOr<LogCursor> Query(const LogQuery& query) const;
  // Buckets without a record are left out. Parts of a chunk of which all records count come from
  // the statistics, unless there are conditions, or integers so large that a double rounds them.
  absl::StatusOr<std::vector<LogBucket>> Aggregate(const LogAggregation& aggregation) const;

  // Compares all statistics with the data, and goes on: one line for each difference.
  absl::StatusOr<std::vector<std::string>> VerifyStatistics() const;

  bool operator==(const LogSnapshot&) const = default;

 private:
  friend class Log;
  friend class LogWriter;
  explicit LogSnapshot(std::shared_ptr<const log::LogState> state) : state_(std::move(state)) {}
  std::shared_ptr<const log::LogState> state_;
};

// A log: a frame whose metalayer `b2nd` has one dimension and a dtype with fields, or a directory
// of such frames. Movable and thread-safe. Snapshots and writers stay valid when the Log goes.
class CAIRN_EXPORT Log {
 public:
  Log(Log&&) noexcept;
  Log& operator=(Log&&) noexcept;
  ~Log();

  // Errors of Frame::Open; kFailedPrecondition for a frame without such an array;
  // kInvalidArgument and kUnimplemented as Schema::FromDtype. For a log that another program made,
  // `time_field` names its time; empty: what the log says, else its first timestamp.
  static absl::StatusOr<Log> Open(const std::string& path, const OpenOptions& options = {},
                                  std::string_view time_field = {});
  // kAlreadyExists; kInvalidArgument for a schema without fields, and for a time field that is no
  // timestamp or integer.
  static absl::StatusOr<Log> Create(const std::string& path, const LogCreateOptions& options);

  // The newest state that this handle has seen.
  [[nodiscard]] LogSnapshot snapshot() const;
  // Looks for newer commits, and files of a rotation.
  absl::StatusOr<LogSnapshot> Refresh();
  // Waits until there is news, at most this long; the newest state either way.
  absl::StatusOr<LogSnapshot> WaitForCommit(std::chrono::milliseconds timeout);

  // Asks the writer of the log, in whatever process, to take over limits with its next commit; a
  // writer that is opened later does it as well. -1 leaves a limit as it is.
  // Errors: kInvalidArgument for other negative limits; kUnimplemented for a log in an object
  // store.
  absl::Status RequestLimits(const Retention& retention, const Rotation& rotation);

  // The one writer. Errors of Frame::OpenWriter.
  absl::StatusOr<LogWriter> OpenWriter(const LogWriterOptions& options);

 private:
  explicit Log(std::shared_ptr<log::LogCore> core);
  std::shared_ptr<log::LogCore> core_;
};

}  // namespace cairn

#endif  // CAIRN_LOG_H_
