#include "cairn/log.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/cairn.h"
#include "cairn/cairn_log.h"
#include "cairn/dtype.h"
#include "cairn/log_writer.h"
#include "cairn/options.h"
#include "cairn/record.h"
#include "cairn/types.h"
#include "engine/base/status.h"
#include "engine/c_api/log_handles.h"
#include "engine/c_api/options.h"
#include "engine/c_api/result.h"
#include "engine/c_api/versioned_struct.h"

using cairn::c_api::ReadStruct;
using cairn::c_api::Return;
using cairn::c_api::ReturnHandle;
using cairn::c_api::ReturnValue;
using cairn::c_api::ToCpp;

namespace cairn::c_api {

template <>
struct StructVersions<cairn_log_create_options> {
  static constexpr std::array<size_t, 2> kSizes = {offsetof(cairn_log_create_options, texts),
                                                   sizeof(cairn_log_create_options)};
};

namespace {

absl::StatusOr<Schema> ToSchema(const char* text) {
  CAIRN_ASSIGN_OR_RETURN(const Dtype dtype, Dtype::Parse(text));
  constexpr int64_t kMaxRecordSize = 65'535;
  if (dtype.TotalSize() > kMaxRecordSize) {
    return InvalidArgument("dtype: expected a record of at most %d bytes, got %d", kMaxRecordSize,
                           dtype.TotalSize());
  }
  return Schema::FromDtype(text, static_cast<int32_t>(dtype.TotalSize()));
}

absl::StatusOr<LogCreateOptions> ToLogCreateOptions(const char* dtype,
                                                    const cairn_log_create_options* options) {
  constexpr cairn_log_create_options kDefaults = CAIRN_LOG_CREATE_OPTIONS_INIT;
  CAIRN_ASSIGN_OR_RETURN(const cairn_log_create_options given,
                         ReadStruct(options, kDefaults, "log create options"));
  LogCreateOptions result;
  CAIRN_ASSIGN_OR_RETURN(const Schema schema, ToSchema(dtype));
  CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                         ToTexts(given.texts, given.ntexts, "texts"));
  CAIRN_ASSIGN_OR_RETURN(result.schema, schema.WithTexts(texts));
  result.time_field = ToText(given.time_field);
  CAIRN_ASSIGN_OR_RETURN(const auto codec, ToEnum<uint8_t>(given.codec, 0, 255, "codec"));
  result.codec = static_cast<Codec>(codec);
  result.clevel = given.clevel;
  result.chunksize = given.chunksize;
  CAIRN_ASSIGN_OR_RETURN(result.retention, ToCpp(given.retention));
  CAIRN_ASSIGN_OR_RETURN(result.rotation, ToCpp(given.rotation));
  result.file_system = ToCpp(given.files);
  return result;
}

absl::StatusOr<LogWriterOptions> ToLogWriterOptions(const cairn_log_writer_options* options) {
  constexpr cairn_log_writer_options kDefaults = CAIRN_LOG_WRITER_OPTIONS_INIT;
  CAIRN_ASSIGN_OR_RETURN(const cairn_log_writer_options given,
                         ReadStruct(options, kDefaults, "log writer options"));
  LogWriterOptions result;
  result.commit_records = given.commit_records;
  result.commit_interval = std::chrono::milliseconds(given.commit_interval_ms);
  CAIRN_ASSIGN_OR_RETURN(result.durability, ToDurability(given.durability, "durability"));
  result.reorder_window = given.reorder_window;
  result.max_buffered_bytes = given.max_buffered_bytes;
  result.wait = std::chrono::milliseconds(given.wait_ms);
  if (given.compression != nullptr) {
    CAIRN_ASSIGN_OR_RETURN(result.compression, ToCpp(given.compression));
  }
  return result;
}

}  // namespace

absl::StatusOr<LogSelection> ToCpp(const cairn_log_selection* which) {
  constexpr cairn_log_selection kDefaults = CAIRN_LOG_SELECTION_INIT;
  CAIRN_REQUIRE(which);
  CAIRN_ASSIGN_OR_RETURN(const cairn_log_selection given,
                         ReadStruct(which, kDefaults, "selection"));
  LogSelection result;
  result.times = {.begin = given.begin, .end = given.end};
  CAIRN_ASSIGN_OR_RETURN(result.filters, ToTexts(given.filters, given.nfilters, "filters"));
  return result;
}

absl::StatusOr<Retention> ToCpp(const cairn_log_retention* retention) {
  CAIRN_ASSIGN_OR_RETURN(const cairn_log_retention given,
                         ReadStruct(retention, cairn_log_retention{}, "retention"));
  return Retention{
      .max_age = given.max_age, .max_records = given.max_records, .max_bytes = given.max_bytes};
}

absl::StatusOr<Rotation> ToCpp(const cairn_log_rotation* rotation) {
  CAIRN_ASSIGN_OR_RETURN(const cairn_log_rotation given,
                         ReadStruct(rotation, cairn_log_rotation{}, "rotation"));
  return Rotation{.max_bytes = given.max_bytes, .period = given.period};
}

}  // namespace cairn::c_api

cairn_code cairn_log_create(const char* path, const char* dtype,
                            const cairn_log_create_options* options, cairn_log** log,
                            cairn_status* status) {
  return ReturnHandle(log, "log", status, [&]() -> absl::StatusOr<cairn::Log> {
    CAIRN_REQUIRE(path);
    CAIRN_REQUIRE(dtype);
    CAIRN_ASSIGN_OR_RETURN(const cairn::LogCreateOptions converted,
                           cairn::c_api::ToLogCreateOptions(dtype, options));
    return cairn::Log::Create(path, converted);
  });
}

cairn_code cairn_log_open(const char* path, const cairn_open_options* options,
                          const char* time_field, cairn_log** log, cairn_status* status) {
  return ReturnHandle(log, "log", status, [&]() -> absl::StatusOr<cairn::Log> {
    CAIRN_REQUIRE(path);
    CAIRN_ASSIGN_OR_RETURN(const cairn::OpenOptions converted, ToCpp(options));
    return cairn::Log::Open(path, converted, cairn::c_api::ToText(time_field));
  });
}

void cairn_log_free(cairn_log* log) { delete log; }

cairn_code cairn_log_newest(const cairn_log* log, cairn_log_snapshot** snapshot,
                            cairn_status* status) {
  return ReturnHandle(snapshot, "snapshot", status, [&]() -> absl::StatusOr<cairn::LogSnapshot> {
    CAIRN_REQUIRE(log);
    return log->log.snapshot();
  });
}

cairn_code cairn_log_refresh(cairn_log* log, cairn_log_snapshot** snapshot, cairn_status* status) {
  return ReturnHandle(snapshot, "snapshot", status, [&]() -> absl::StatusOr<cairn::LogSnapshot> {
    CAIRN_REQUIRE(log);
    return log->log.Refresh();
  });
}

cairn_code cairn_log_wait_for_commit(cairn_log* log, const cairn_log_snapshot* seen,
                                     int64_t timeout_ms, cairn_log_snapshot** snapshot,
                                     cairn_status* status) {
  return ReturnHandle(snapshot, "snapshot", status, [&]() -> absl::StatusOr<cairn::LogSnapshot> {
    CAIRN_REQUIRE(log);
    CAIRN_REQUIRE(seen);
    return log->log.WaitForCommit(seen->snapshot, std::chrono::milliseconds(timeout_ms));
  });
}

cairn_code cairn_log_request_limits(cairn_log* log, const cairn_log_retention* retention,
                                    const cairn_log_rotation* rotation, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(log);
    cairn::Retention kept = {.max_age = -1, .max_records = -1, .max_bytes = -1};
    cairn::Rotation rotated = {.max_bytes = -1, .period = -1};
    if (retention != nullptr) {
      CAIRN_ASSIGN_OR_RETURN(kept, ToCpp(retention));
    }
    if (rotation != nullptr) {
      CAIRN_ASSIGN_OR_RETURN(rotated, ToCpp(rotation));
    }
    return log->log.RequestLimits(kept, rotated);
  });
}

cairn_code cairn_log_delete(cairn_log* log, const cairn_log_selection* which, int64_t wait_ms,
                            int64_t* deleted, cairn_status* status) {
  return ReturnValue(deleted, status, [&]() -> absl::StatusOr<int64_t> {
    CAIRN_REQUIRE(log);
    CAIRN_REQUIRE(deleted);
    CAIRN_ASSIGN_OR_RETURN(const cairn::LogSelection selection, ToCpp(which));
    return log->log.Delete(selection, std::chrono::milliseconds(wait_ms));
  });
}

cairn_code cairn_log_open_writer(cairn_log* log, const cairn_log_writer_options* options,
                                 cairn_log_writer** writer, cairn_status* status) {
  return ReturnHandle(writer, "writer", status, [&]() -> absl::StatusOr<cairn::LogWriter> {
    CAIRN_REQUIRE(log);
    CAIRN_ASSIGN_OR_RETURN(const cairn::LogWriterOptions converted,
                           cairn::c_api::ToLogWriterOptions(options));
    return log->log.OpenWriter(converted);
  });
}
