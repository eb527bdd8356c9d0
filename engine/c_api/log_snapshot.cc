#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/cairn.h"
#include "cairn/cairn_log.h"
#include "cairn/log.h"
#include "cairn/record.h"
#include "cairn/types.h"
#include "engine/base/status.h"
#include "engine/c_api/log_handles.h"
#include "engine/c_api/options.h"
#include "engine/c_api/result.h"
#include "engine/c_api/versioned_struct.h"

using cairn::c_api::CheckStruct;
using cairn::c_api::ReadStruct;
using cairn::c_api::Return;
using cairn::c_api::ReturnHandle;
using cairn::c_api::ReturnValue;
using cairn::c_api::ToMutableBytes;
using cairn::c_api::ToTexts;
using cairn::c_api::WriteStruct;

namespace cairn::c_api {
namespace {

absl::StatusOr<LogQuery> ToQuery(const cairn_log_query_options* options) {
  constexpr cairn_log_query_options kDefaults = CAIRN_LOG_QUERY_OPTIONS_INIT;
  CAIRN_ASSIGN_OR_RETURN(const cairn_log_query_options given,
                         ReadStruct(options, kDefaults, "query options"));
  LogQuery result;
  result.times = {.begin = given.begin, .end = given.end};
  CAIRN_ASSIGN_OR_RETURN(result.fields, ToTexts(given.fields, given.nfields, "fields"));
  CAIRN_ASSIGN_OR_RETURN(result.filters, ToTexts(given.filters, given.nfilters, "filters"));
  CAIRN_ASSIGN_OR_RETURN(result.order,
                         ToEnum(given.order, LogOrder::kTime, LogOrder::kRecord, "order"));
  result.limit = given.limit;
  return result;
}

absl::StatusOr<LogAggregation> ToAggregation(const cairn_log_aggregate_options* options) {
  constexpr cairn_log_aggregate_options kDefaults = CAIRN_LOG_AGGREGATE_OPTIONS_INIT;
  CAIRN_ASSIGN_OR_RETURN(const cairn_log_aggregate_options given,
                         ReadStruct(options, kDefaults, "aggregate options"));
  LogAggregation result;
  result.times = {.begin = given.begin, .end = given.end};
  result.bucket = given.bucket;
  result.origin = given.origin;
  CAIRN_ASSIGN_OR_RETURN(result.fields, ToTexts(given.fields, given.nfields, "fields"));
  CAIRN_ASSIGN_OR_RETURN(result.filters, ToTexts(given.filters, given.nfilters, "filters"));
  return result;
}

// Returns the fields that an aggregation without names sums up.
std::vector<std::string> NumericFields(const Schema& schema) {
  std::vector<std::string> names;
  for (const Field& field : schema.fields()) {
    const bool is_text = field.type == FieldType::kBytes || field.type == FieldType::kText;
    if (!is_text) names.push_back(field.name);
  }
  return names;
}

// Finds a bucket of the caller.
absl::StatusOr<const LogBucket*> FindBucket(const cairn_log_buckets* buckets, int64_t index) {
  CAIRN_REQUIRE(buckets);
  const auto count = static_cast<int64_t>(buckets->buckets.size());
  if (index < 0 || index >= count) {
    return OutOfRange("bucket %d: expected less than %d", index, count);
  }
  return &buckets->buckets[static_cast<size_t>(index)];
}

absl::Status WriteRange(const TimeRange& range, int64_t* begin, int64_t* end) {
  *begin = range.begin;
  *end = range.end;
  return absl::OkStatus();
}

}  // namespace
}  // namespace cairn::c_api

void cairn_log_snapshot_free(cairn_log_snapshot* snapshot) { delete snapshot; }

bool cairn_log_snapshot_equal(const cairn_log_snapshot* a, const cairn_log_snapshot* b) {
  return a != nullptr && b != nullptr && a->snapshot == b->snapshot;
}

cairn_code cairn_log_snapshot_info(const cairn_log_snapshot* snapshot, cairn_log_info* info,
                                   cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_RETURN_IF_ERROR(CheckStruct(info, "info"));
    const cairn::LogSnapshot& state = snapshot->snapshot;
    const cairn::Field* time = state.time_field();
    const cairn_log_info result = {.struct_size = sizeof(cairn_log_info),
                                   .first_record = state.first_record(),
                                   .end_record = state.end_record(),
                                   .record_size = state.schema().record_size(),
                                   .nfields = static_cast<int32_t>(state.schema().fields().size()),
                                   .dtype = snapshot->dtype.c_str(),
                                   .time_field = time == nullptr ? nullptr : time->name.c_str()};
    WriteStruct(result, info);
    return absl::OkStatus();
  });
}

cairn_code cairn_log_snapshot_retention(const cairn_log_snapshot* snapshot,
                                        cairn_log_retention* retention, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_RETURN_IF_ERROR(CheckStruct(retention, "retention"));
    const cairn::Retention& stored = snapshot->snapshot.retention();
    const cairn_log_retention result = {.struct_size = sizeof(cairn_log_retention),
                                        .max_age = stored.max_age,
                                        .max_records = stored.max_records,
                                        .max_bytes = stored.max_bytes};
    WriteStruct(result, retention);
    return absl::OkStatus();
  });
}

cairn_code cairn_log_snapshot_rotation(const cairn_log_snapshot* snapshot,
                                       cairn_log_rotation* rotation, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_RETURN_IF_ERROR(CheckStruct(rotation, "rotation"));
    const cairn::Rotation& stored = snapshot->snapshot.rotation();
    const cairn_log_rotation result = {.struct_size = sizeof(cairn_log_rotation),
                                       .max_bytes = stored.max_bytes,
                                       .period = stored.period};
    WriteStruct(result, rotation);
    return absl::OkStatus();
  });
}

cairn_code cairn_log_snapshot_get_field(const cairn_log_snapshot* snapshot, int32_t index,
                                        cairn_log_field* field, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_RETURN_IF_ERROR(CheckStruct(field, "field"));
    const std::vector<cairn::Field>& fields = snapshot->snapshot.schema().fields();
    if (index < 0 || static_cast<size_t>(index) >= fields.size()) {
      return cairn::OutOfRange("field %d: expected less than %d", index, fields.size());
    }
    const cairn::Field& found = fields[static_cast<size_t>(index)];
    const bool timestamp = found.type == cairn::FieldType::kTimestamp;
    const cairn_log_field result = {
        .struct_size = sizeof(cairn_log_field),
        .name = found.name.c_str(),
        // A program in C sees the codes of texts.
        .type = found.type == cairn::FieldType::kText
                    ? CAIRN_LOG_FIELD_UINT
                    : static_cast<cairn_log_field_type>(found.type),
        .size = found.size,
        .offset = found.offset,
        .units_per_second = timestamp ? cairn::UnitsPerSecond(found.unit) : 0};
    WriteStruct(result, field);
    return absl::OkStatus();
  });
}

cairn_code cairn_log_snapshot_times(const cairn_log_snapshot* snapshot, int64_t* begin,
                                    int64_t* end, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_REQUIRE(begin);
    CAIRN_REQUIRE(end);
    CAIRN_ASSIGN_OR_RETURN(const std::optional<cairn::TimeRange> times, snapshot->snapshot.Times());
    return cairn::c_api::WriteRange(times.value_or(cairn::TimeRange{.begin = 0, .end = 0}), begin,
                                    end);
  });
}

cairn_code cairn_log_snapshot_find_time(const cairn_log_snapshot* snapshot, int64_t time,
                                        int64_t* record, cairn_status* status) {
  return ReturnValue(record, status, [&]() -> absl::StatusOr<int64_t> {
    CAIRN_REQUIRE(snapshot);
    CAIRN_REQUIRE(record);
    return snapshot->snapshot.FindTime(time);
  });
}

cairn_code cairn_log_snapshot_last(const cairn_log_snapshot* snapshot, int64_t span, int64_t* begin,
                                   int64_t* end, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_REQUIRE(begin);
    CAIRN_REQUIRE(end);
    CAIRN_ASSIGN_OR_RETURN(const cairn::TimeRange range, snapshot->snapshot.Last(span));
    return cairn::c_api::WriteRange(range, begin, end);
  });
}

cairn_code cairn_log_snapshot_count_future(const cairn_log_snapshot* snapshot, int64_t* count,
                                           cairn_status* status) {
  return ReturnValue(count, status, [&]() -> absl::StatusOr<int64_t> {
    CAIRN_REQUIRE(snapshot);
    CAIRN_REQUIRE(count);
    return snapshot->snapshot.CountFuture();
  });
}

cairn_code cairn_log_snapshot_read_records(const cairn_log_snapshot* snapshot, int64_t record,
                                           void* dst, size_t size, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_ASSIGN_OR_RETURN(const cairn::MutableBytes to, ToMutableBytes(dst, size));
    return snapshot->snapshot.ReadRecords(record, to);
  });
}

cairn_code cairn_log_snapshot_read_column(const cairn_log_snapshot* snapshot, const char* field,
                                          int64_t record, void* dst, size_t size,
                                          cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_REQUIRE(field);
    CAIRN_ASSIGN_OR_RETURN(const cairn::MutableBytes to, ToMutableBytes(dst, size));
    return snapshot->snapshot.ReadColumn(field, record, to);
  });
}

cairn_code cairn_log_snapshot_query(const cairn_log_snapshot* snapshot,
                                    const cairn_log_query_options* options,
                                    cairn_log_cursor** cursor, cairn_status* status) {
  return ReturnHandle(cursor, "cursor", status, [&]() -> absl::StatusOr<cairn::LogCursor> {
    CAIRN_REQUIRE(snapshot);
    CAIRN_ASSIGN_OR_RETURN(const cairn::LogQuery query, cairn::c_api::ToQuery(options));
    return snapshot->snapshot.Query(query);
  });
}

cairn_code cairn_log_cursor_next(cairn_log_cursor* cursor, cairn_log_batch** batch,
                                 cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(batch);
    *batch = nullptr;
    CAIRN_REQUIRE(cursor);
    CAIRN_ASSIGN_OR_RETURN(cairn::LogBatch found, cursor->cursor.Next());
    if (found.size() > 0) *batch = new cairn_log_batch{std::move(found)};
    return absl::OkStatus();
  });
}

void cairn_log_cursor_free(cairn_log_cursor* cursor) { delete cursor; }

int64_t cairn_log_batch_size(const cairn_log_batch* batch) {
  return batch == nullptr ? 0 : batch->batch.size();
}

const int64_t* cairn_log_batch_records(const cairn_log_batch* batch) {
  return batch == nullptr ? nullptr : batch->batch.records.data();
}

cairn_code cairn_log_batch_column(const cairn_log_batch* batch, const char* field,
                                  cairn_span* column, cairn_status* status) {
  return ReturnValue(column, status, [&]() -> absl::StatusOr<cairn_span> {
    CAIRN_REQUIRE(batch);
    CAIRN_REQUIRE(field);
    CAIRN_REQUIRE(column);
    const std::vector<cairn::Field>& fields = *batch->batch.fields;
    const auto found = std::ranges::find(fields, field, &cairn::Field::name);
    if (found == fields.end()) return cairn::NotFound("query: returns no field '%s'", field);
    const auto& values = batch->batch.columns[static_cast<size_t>(found - fields.begin())];
    return cairn_span{.data = values.data(), .size = values.size()};
  });
}

void cairn_log_batch_free(cairn_log_batch* batch) { delete batch; }

cairn_code cairn_log_snapshot_aggregate(const cairn_log_snapshot* snapshot,
                                        const cairn_log_aggregate_options* options,
                                        cairn_log_buckets** buckets, cairn_status* status) {
  return ReturnHandle(buckets, "buckets", status, [&]() -> absl::StatusOr<cairn_log_buckets> {
    CAIRN_REQUIRE(snapshot);
    CAIRN_ASSIGN_OR_RETURN(cairn::LogAggregation wanted, cairn::c_api::ToAggregation(options));
    const cairn::LogSnapshot& state = snapshot->snapshot;
    CAIRN_ASSIGN_OR_RETURN(std::vector<cairn::LogBucket> sums, state.Aggregate(wanted));
    if (wanted.fields.empty()) wanted.fields = cairn::c_api::NumericFields(state.schema());
    return cairn_log_buckets{.buckets = std::move(sums), .fields = std::move(wanted.fields)};
  });
}

int64_t cairn_log_buckets_count(const cairn_log_buckets* buckets) {
  return buckets == nullptr ? 0 : static_cast<int64_t>(buckets->buckets.size());
}

cairn_code cairn_log_buckets_get(const cairn_log_buckets* buckets, int64_t index,
                                 cairn_log_bucket* bucket, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(const cairn::LogBucket* const found,
                           cairn::c_api::FindBucket(buckets, index));
    CAIRN_RETURN_IF_ERROR(CheckStruct(bucket, "bucket"));
    const cairn_log_bucket result = {
        .struct_size = sizeof(cairn_log_bucket), .begin = found->begin, .records = found->records};
    WriteStruct(result, bucket);
    return absl::OkStatus();
  });
}

cairn_code cairn_log_buckets_get_field(const cairn_log_buckets* buckets, int64_t index,
                                       const char* field, cairn_log_summary* summary,
                                       cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_ASSIGN_OR_RETURN(const cairn::LogBucket* const found,
                           cairn::c_api::FindBucket(buckets, index));
    CAIRN_REQUIRE(field);
    CAIRN_RETURN_IF_ERROR(CheckStruct(summary, "summary"));
    const auto name = std::ranges::find(buckets->fields, field);
    if (name == buckets->fields.end()) {
      return cairn::NotFound("aggregation: sums up no field '%s'", field);
    }
    const cairn::FieldAggregate& sums =
        found->fields[static_cast<size_t>(name - buckets->fields.begin())];
    const cairn_log_summary result = {.struct_size = sizeof(cairn_log_summary),
                                      .count = sums.count,
                                      .min = sums.min,
                                      .max = sums.max,
                                      .sum = sums.sum,
                                      .first = sums.first,
                                      .last = sums.last,
                                      .mean = sums.mean()};
    WriteStruct(result, summary);
    return absl::OkStatus();
  });
}

void cairn_log_buckets_free(cairn_log_buckets* buckets) { delete buckets; }
