#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "cairn/log.h"
#include "engine/base/mutex.h"
#include "tools/python/binding/calls.h"
#include "tools/python/binding/log_handles.h"
#include "tools/python/binding/text.h"

namespace cairn::python {

namespace {

using namespace nb::literals;

// A cursor that Python's threads use in turn.
class CursorHandle {
 public:
  CursorHandle(Context context, LogCursor cursor)
      : context_(std::move(context)), cursor_(std::move(cursor)) {}

  LogBatch Next() {
    return Check(WithoutGil(context_.remote, [&] {
      const MutexLock lock(mutex_);
      return cursor_.Next();
    }));
  }

 private:
  Context context_;
  Mutex mutex_;
  LogCursor cursor_ ABSL_GUARDED_BY(mutex_);
};

using Where = std::vector<std::tuple<std::string, int, FieldValue>>;

std::vector<Condition> ToConditions(Where where) {
  std::vector<Condition> conditions;
  for (auto& [field, comparison, value] : where) {
    conditions.push_back({.field = std::move(field),
                          .comparison = static_cast<Comparison>(comparison),
                          .value = std::move(value)});
  }
  return conditions;
}

// Returns numbers in the form that NumPy reads.
template <typename T>
nb::bytes BytesOf(const std::vector<T>& values) {
  return ToPython(std::as_bytes(std::span(values)));
}

// Returns the begin and the end of each range.
nb::bytes RangesOf(const std::vector<RecordRange>& ranges) {
  static_assert(sizeof(RecordRange) == 16);
  return BytesOf(ranges);
}

CursorHandle* Query(const LogSnapshotHandle& self, int64_t begin, int64_t end,
                    const std::vector<std::string>& fields, Where where,
                    const std::vector<std::string>& filters, bool by_time, int64_t limit) {
  const LogQuery query = {.times = {.begin = begin, .end = end},
                          .fields = fields,
                          .where = ToConditions(std::move(where)),
                          .filters = filters,
                          .order = by_time ? LogOrder::kTime : LogOrder::kRecord,
                          .limit = limit};
  LogCursor cursor =
      Check(WithoutGil(self.context.remote, [&] { return self.snapshot.Query(query); }));
  return new CursorHandle(self.context, std::move(cursor));
}

nb::tuple Next(CursorHandle& self) {
  const LogBatch batch = self.Next();
  nb::list columns;
  for (const std::vector<std::byte>& column : batch.columns) columns.append(ToPython(column));
  return nb::make_tuple(BytesOf(batch.records), columns);
}

// NumPy reads them directly.
static_assert(sizeof(FieldAggregate) == 48);

// Returns exact values of integers. The type of the field tells whether they have a sign. The last
// number tells whether the sum is exact: it is 0 if 64 bits do not hold the sum, else 1 with a sign
// or 2 without.
std::array<int64_t, 6> Whole(const WholeAggregate& values) {
  const auto low = [](absl::int128 value) {
    return static_cast<int64_t>(absl::Int128Low64(value));
  };
  int64_t fits = 0;
  if (values.sum >= 0 && values.sum <= std::numeric_limits<uint64_t>::max()) fits = 2;
  if (values.sum == absl::int128(low(values.sum))) fits = 1;
  return {low(values.min),   low(values.max),  low(values.sum),
          low(values.first), low(values.last), fits};
}

using Measures = std::vector<std::tuple<std::string, int, double>>;

std::vector<LogMeasure> ToMeasures(Measures measures) {
  std::vector<LogMeasure> result;
  for (auto& [field, kind, quantile] : measures) {
    result.push_back(
        {.field = std::move(field), .kind = static_cast<MeasureKind>(kind), .quantile = quantile});
  }
  return result;
}

nb::object GroupValue(const FieldValue& value) {
  if (std::holds_alternative<std::monostate>(value)) return nb::none();
  if (const auto* const text = std::get_if<std::string>(&value)) {
    return nb::bytes(text->data(), text->size());
  }
  if (const auto* const whole = std::get_if<int64_t>(&value)) return nb::int_(*whole);
  return nb::int_(std::get<uint64_t>(value));
}

// Returns the begins and ends of the buckets that follow each other, the first of which holds the
// time `first`, and the last of which begins at `last` or before.
nb::tuple Buckets(const LogSnapshotHandle& self, int64_t first, int64_t last, int64_t bucket,
                  int64_t origin, int calendar, const std::string& time_zone, int64_t most) {
  const LogAggregation aggregation = {.bucket = bucket,
                                      .origin = origin,
                                      .calendar = static_cast<CalendarUnit>(calendar),
                                      .time_zone = time_zone};
  std::vector<int64_t> begins;
  std::vector<int64_t> ends;
  for (int64_t time = first; time <= last;) {
    if (std::ssize(begins) >= most) {
      Check(absl::ResourceExhaustedError(absl::StrFormat(
          "fill: more than %d buckets: choose greater buckets or a shorter range", most)));
    }
    const TimeRange one = Check(self.snapshot.BucketAt(aggregation, time));
    begins.push_back(one.begin);
    ends.push_back(one.end);
    if (one.end <= time) break;
    time = one.end;
  }
  return nb::make_tuple(BytesOf(begins), BytesOf(ends));
}

// Returns the begins and ends of the buckets, their records, the aggregates of each field, each
// measure, and the groups.
nb::tuple Aggregate(const LogSnapshotHandle& self, int64_t begin, int64_t end, int64_t bucket,
                    int64_t origin, int calendar, const std::string& time_zone,
                    const std::vector<std::string>& fields, Where where,
                    const std::vector<std::string>& filters, Measures measures, int64_t max_memory,
                    const std::vector<std::string>& by, int64_t max_groups) {
  const LogAggregation aggregation = {.times = {.begin = begin, .end = end},
                                      .bucket = bucket,
                                      .origin = origin,
                                      .calendar = static_cast<CalendarUnit>(calendar),
                                      .time_zone = time_zone,
                                      .fields = fields,
                                      .where = ToConditions(std::move(where)),
                                      .filters = filters,
                                      .measures = ToMeasures(std::move(measures)),
                                      .by = by,
                                      .max_groups = max_groups,
                                      .max_memory = max_memory};
  const std::vector<LogBucket> buckets =
      Check(WithoutGil(self.context.remote, [&] { return self.snapshot.Aggregate(aggregation); }));
  std::vector<int64_t> begins;
  std::vector<int64_t> ends;
  std::vector<int64_t> records;
  std::vector<std::vector<FieldAggregate>> values(buckets.empty() ? 0 : buckets[0].fields.size());
  std::vector<std::vector<std::array<int64_t, 6>>> wholes(values.size());
  for (const LogBucket& one : buckets) {
    begins.push_back(one.begin);
    ends.push_back(one.end);
    records.push_back(one.records);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i].push_back(one.fields[i]);
      wholes[i].push_back(Whole(one.wholes[i]));
    }
  }
  nb::list measured;
  for (size_t i = 0; i < aggregation.measures.size(); ++i) {
    std::vector<double> column;
    column.reserve(buckets.size());
    for (const LogBucket& one : buckets) column.push_back(one.measures[i]);
    measured.append(BytesOf(column));
  }
  nb::list groups;
  for (size_t i = 0; i < by.size(); ++i) {
    nb::list column;
    for (const LogBucket& one : buckets) column.append(GroupValue(one.group[i]));
    groups.append(column);
  }
  nb::list aggregates;
  for (size_t i = 0; i < values.size(); ++i) {
    aggregates.append(nb::make_tuple(BytesOf(values[i]), BytesOf(wholes[i])));
  }
  return nb::make_tuple(BytesOf(begins), BytesOf(ends), BytesOf(records), aggregates, measured,
                        groups);
}

// Returns the begin and the end of the times, and the greatest of them.
std::optional<std::tuple<int64_t, int64_t, int64_t>> Times(const LogSnapshotHandle& self) {
  const std::optional<TimeRange> range =
      Check(WithoutGil(self.context.remote, [&] { return self.snapshot.Times(); }));
  const std::optional<int64_t> greatest =
      Check(WithoutGil(self.context.remote, [&] { return self.snapshot.GreatestTime(); }));
  if (!range.has_value() || !greatest.has_value()) return std::nullopt;
  return std::tuple(range->begin, range->end, *greatest);
}

std::optional<std::string> TimeField(const LogSnapshotHandle& self) {
  const Field* const field = self.snapshot.time_field();
  return field == nullptr ? std::nullopt : std::optional(field->name);
}

// Returns the names of the fields that hold codes of texts.
std::vector<std::string> TextFields(const LogSnapshotHandle& self) {
  std::vector<std::string> names;
  for (const Field& field : self.snapshot.schema().fields()) {
    if (field.type == FieldType::kText) names.push_back(field.name);
  }
  return names;
}

// Returns the texts of the codes from `begin` on.
std::vector<std::string> Texts(const LogSnapshotHandle& self, const std::string& field,
                               int64_t begin) {
  const std::shared_ptr<const KeyTexts> texts = Check(self.snapshot.Texts(field));
  std::vector<std::string> found;
  for (int64_t code = begin; texts != nullptr && code < texts->size(); ++code) {
    found.emplace_back(texts->Get(static_cast<uint32_t>(code)));
  }
  return found;
}

// Returns the latest record of each group, in the form of a batch.
nb::tuple Latest(const LogSnapshotHandle& self, const std::vector<std::string>& by, int64_t begin,
                 int64_t end, const std::vector<std::string>& fields, Where where,
                 const std::vector<std::string>& filters, int64_t max_groups) {
  const LogLatest wanted = {.by = by,
                            .times = {.begin = begin, .end = end},
                            .fields = fields,
                            .where = ToConditions(std::move(where)),
                            .filters = filters,
                            .max_groups = max_groups};
  const LogBatch batch =
      Check(WithoutGil(self.context.remote, [&] { return self.snapshot.Latest(wanted); }));
  nb::list columns;
  for (const std::vector<std::byte>& column : batch.columns) columns.append(ToPython(column));
  return nb::make_tuple(BytesOf(batch.records), columns);
}

std::vector<int64_t> FirstWithValue(const LogSnapshotHandle& self) {
  std::vector<int64_t> first;
  for (const Field& field : self.snapshot.schema().fields()) {
    first.push_back(Check(self.snapshot.FirstWithValue(field.name)));
  }
  return first;
}

void ReadRecords(const LogSnapshotHandle& self, int64_t record, nb::handle out) {
  Buffer buffer(out, Buffer::kWrite);
  Check(WithoutGil(self.context.remote,
                   [&] { return self.snapshot.ReadRecords(record, buffer.mutable_bytes()); }));
}

void ReadColumn(const LogSnapshotHandle& self, const std::string& field, int64_t record,
                nb::handle out) {
  Buffer buffer(out, Buffer::kWrite);
  Check(WithoutGil(self.context.remote, [&] {
    return self.snapshot.ReadColumn(field, record, buffer.mutable_bytes());
  }));
}

std::vector<SnapshotHandle> Frames(const LogSnapshotHandle& self) {
  std::vector<SnapshotHandle> frames;
  for (Snapshot& frame : self.snapshot.frames()) {
    frames.push_back({self.context, std::move(frame)});
  }
  return frames;
}

}  // namespace

void BindLogSnapshot(nb::module_& module) {
  nb::class_<CursorHandle>(module, "LogCursor", "What a query finds, batch by batch.")
      .def("next", &Next, nb::sig("def next(self) -> tuple[bytes, list[bytes]]"));

  nb::class_<LogSnapshotHandle>(module, "LogSnapshot", "One committed state of a log.")
      .def("dtype", [](const LogSnapshotHandle& self) { return self.snapshot.schema().ToDtype(); })
      .def("time_field", &TimeField)
      .def("retention",
           [](const LogSnapshotHandle& self) {
             const Retention& limits = self.snapshot.retention();
             return RetentionLimits(limits.max_age, limits.max_records, limits.max_bytes);
           })
      .def("rotation",
           [](const LogSnapshotHandle& self) {
             const Rotation& limits = self.snapshot.rotation();
             return RotationLimits(limits.max_bytes, limits.period);
           })
      .def("first_record",
           [](const LogSnapshotHandle& self) { return self.snapshot.first_record(); })
      .def("end_record", [](const LogSnapshotHandle& self) { return self.snapshot.end_record(); })
      .def("nrecords", [](const LogSnapshotHandle& self) { return self.snapshot.nrecords(); })
      .def("deleted",
           [](const LogSnapshotHandle& self) { return RangesOf(self.snapshot.deleted()); })
      .def(
          "deleted_since",
          [](const LogSnapshotHandle& self, const LogSnapshotHandle& seen) {
            return RangesOf(self.snapshot.ChangesSince(seen.snapshot).deleted);
          },
          "seen"_a)
      .def("first_with_value", &FirstWithValue)
      .def("text_fields", &TextFields)
      .def("texts", &Texts, "field"_a, "begin"_a)
      .def("latest", &Latest, "by"_a, "begin"_a, "end"_a, "fields"_a, "where"_a, "filters"_a,
           "max_groups"_a,
           nb::sig("def latest(self, by: collections.abc.Sequence[str], begin: int, end: int, "
                   "fields: collections.abc.Sequence[str], "
                   "where: collections.abc.Sequence[tuple[str, int, int | float | str]], "
                   "filters: collections.abc.Sequence[str], max_groups: int) "
                   "-> tuple[bytes, list[bytes]]"))
      .def("frames", &Frames)
      .def("times", &Times)
      .def(
          "last",
          [](const LogSnapshotHandle& self, int64_t span) {
            const TimeRange range =
                Check(WithoutGil(self.context.remote, [&] { return self.snapshot.Last(span); }));
            return std::pair(range.begin, range.end);
          },
          "span"_a)
      .def("count_future",
           [](const LogSnapshotHandle& self) {
             return Check(
                 WithoutGil(self.context.remote, [&] { return self.snapshot.CountFuture(); }));
           })
      .def(
          "find_time",
          [](const LogSnapshotHandle& self, int64_t time) {
            return Check(
                WithoutGil(self.context.remote, [&] { return self.snapshot.FindTime(time); }));
          },
          "time"_a)
      .def("read_records", &ReadRecords, "record"_a, "out"_a)
      .def("read_column", &ReadColumn, "field"_a, "record"_a, "out"_a)
      .def("query", &Query, "begin"_a, "end"_a, "fields"_a, "where"_a, "filters"_a, "by_time"_a,
           "limit"_a)
      .def("aggregate", &Aggregate, "begin"_a, "end"_a, "bucket"_a, "origin"_a, "calendar"_a,
           "time_zone"_a, "fields"_a, "where"_a, "filters"_a, "measures"_a, "max_memory"_a, "by"_a,
           "max_groups"_a,
           nb::sig("def aggregate(self, begin: int, end: int, bucket: int, origin: int, "
                   "calendar: int, time_zone: str, "
                   "fields: collections.abc.Sequence[str], "
                   "where: collections.abc.Sequence[tuple[str, int, int | float | str]], "
                   "filters: collections.abc.Sequence[str], "
                   "measures: collections.abc.Sequence[tuple[str, int, float]], max_memory: int, "
                   "by: collections.abc.Sequence[str], max_groups: int) "
                   "-> tuple[bytes, bytes, bytes, list[tuple[bytes, bytes]], list[bytes], "
                   "list[list[int | bytes | None]]]"))
      .def("buckets", &Buckets, "first"_a, "last"_a, "bucket"_a, "origin"_a, "calendar"_a,
           "time_zone"_a, "most"_a,
           nb::sig("def buckets(self, first: int, last: int, bucket: int, "
                   "origin: int, calendar: int, time_zone: str, most: int) -> tuple[bytes, bytes]"))
      .def("verify_statistics",
           [](const LogSnapshotHandle& self) {
             return Check(
                 WithoutGil(self.context.remote, [&] { return self.snapshot.VerifyStatistics(); }));
           })
      .def("is_same", [](const LogSnapshotHandle& self, const LogSnapshotHandle& other) {
        return self.snapshot == other.snapshot;
      });
}

}  // namespace cairn::python
