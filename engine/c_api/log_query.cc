#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/cairn.h"
#include "cairn/cairn_log.h"
#include "cairn/key_texts.h"
#include "cairn/log.h"
#include "cairn/log_batch.h"
#include "cairn/record.h"
#include "cairn/types.h"
#include "engine/base/endian.h"
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

absl::StatusOr<size_t> FindColumn(const LogBatch& batch, const char* field) {
  const auto found = std::ranges::find(*batch.fields, field, &Field::name);
  if (found == batch.fields->end()) return NotFound("query: returns no field '%s'", field);
  return static_cast<size_t>(found - batch.fields->begin());
}

}  // namespace
}  // namespace cairn::c_api

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
    CAIRN_ASSIGN_OR_RETURN(const size_t found, cairn::c_api::FindColumn(batch->batch, field));
    const auto& values = batch->batch.columns[found];
    return cairn_span{.data = values.data(), .size = values.size()};
  });
}

cairn_code cairn_log_batch_text(const cairn_log_batch* batch, const char* field, int64_t index,
                                const char** text, cairn_status* status) {
  return ReturnValue(text, status, [&]() -> absl::StatusOr<const char*> {
    CAIRN_REQUIRE(batch);
    CAIRN_REQUIRE(field);
    CAIRN_REQUIRE(text);
    const cairn::LogBatch& found = batch->batch;
    CAIRN_ASSIGN_OR_RETURN(const size_t column, cairn::c_api::FindColumn(found, field));
    if (index < 0 || index >= found.size()) {
      return cairn::OutOfRange("record %d: expected less than %d", index, found.size());
    }
    const cairn::KeyTexts* const texts = found.TextsOf(column);
    uint32_t code = 0;
    if (texts != nullptr) {
      const cairn::Bytes codes = found.columns[column];
      const cairn::Bytes own = codes.subspan(static_cast<size_t>(index) * sizeof code);
      code = cairn::LoadLe<uint32_t>(own.data());
    }
    return cairn::c_api::TextOf(texts, field, code);
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
