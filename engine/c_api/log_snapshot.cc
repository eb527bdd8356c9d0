#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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
using cairn::c_api::Return;
using cairn::c_api::ReturnValue;
using cairn::c_api::ToMutableBytes;
using cairn::c_api::WriteStruct;

namespace cairn::c_api {
namespace {

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
        .type = static_cast<cairn_log_field_type>(found.type),
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

cairn_code cairn_log_snapshot_first_with_value(const cairn_log_snapshot* snapshot,
                                               const char* field, int64_t* record,
                                               cairn_status* status) {
  return ReturnValue(record, status, [&]() -> absl::StatusOr<int64_t> {
    CAIRN_REQUIRE(snapshot);
    CAIRN_REQUIRE(field);
    CAIRN_REQUIRE(record);
    return snapshot->snapshot.FirstWithValue(field);
  });
}

cairn_code cairn_log_snapshot_text(const cairn_log_snapshot* snapshot, const char* field,
                                   uint32_t code, const char** text, cairn_status* status) {
  return ReturnValue(text, status, [&]() -> absl::StatusOr<const char*> {
    CAIRN_REQUIRE(snapshot);
    CAIRN_REQUIRE(field);
    CAIRN_REQUIRE(text);
    CAIRN_ASSIGN_OR_RETURN(const auto texts, snapshot->snapshot.Texts(field));
    return cairn::c_api::TextOf(texts.get(), field, code);
  });
}
