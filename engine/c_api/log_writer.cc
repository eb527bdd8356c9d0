#include "cairn/log_writer.h"

#include <array>
#include <cstddef>
#include <cstdint>
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
#include "engine/c_api/result.h"
#include "engine/c_api/versioned_struct.h"

namespace cairn::c_api {

template <>
struct StructVersions<cairn_log_upsert_report> {
  static constexpr std::array<size_t, 2> kSizes = {offsetof(cairn_log_upsert_report, removed),
                                                   sizeof(cairn_log_upsert_report)};
};

}  // namespace cairn::c_api

using cairn::c_api::Return;
using cairn::c_api::ReturnHandle;
using cairn::c_api::ReturnValue;
using cairn::c_api::ToCpp;

cairn_code cairn_log_writer_append(cairn_log_writer* writer, const void* src, size_t size,
                                   cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_ASSIGN_OR_RETURN(const cairn::Bytes records, cairn::c_api::ToBytes(src, size, "src"));
    return writer->writer.Append(records);
  });
}

cairn_code cairn_log_writer_upsert(cairn_log_writer* writer, const void* src, size_t size,
                                   const char* const* key, size_t nkey,
                                   cairn_log_upsert_report* report, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_RETURN_IF_ERROR(cairn::c_api::CheckReport(report));
    CAIRN_ASSIGN_OR_RETURN(const cairn::Bytes records, cairn::c_api::ToBytes(src, size, "src"));
    CAIRN_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                           cairn::c_api::ToTexts(key, nkey, "key"));
    CAIRN_ASSIGN_OR_RETURN(
        const cairn::UpsertReport done,
        writer->writer.Upsert(records, {.key = names, .time_only = key != nullptr}));
    const cairn_log_upsert_report result = {.struct_size = sizeof(cairn_log_upsert_report),
                                            .inserted = done.inserted,
                                            .replaced = done.replaced,
                                            .unchanged = done.unchanged,
                                            .removed = done.removed};
    cairn::c_api::WriteReport(result, report);
    return absl::OkStatus();
  });
}

cairn_code cairn_log_writer_code_of(cairn_log_writer* writer, const char* field, const char* text,
                                    uint32_t* code, cairn_status* status) {
  return ReturnValue(code, status, [&]() -> absl::StatusOr<uint32_t> {
    CAIRN_REQUIRE(writer);
    CAIRN_REQUIRE(field);
    CAIRN_REQUIRE(text);
    CAIRN_REQUIRE(code);
    return writer->writer.CodeOf(field, text);
  });
}

cairn_code cairn_log_writer_delete(cairn_log_writer* writer, const cairn_log_selection* which,
                                   int64_t* deleted, cairn_status* status) {
  return ReturnValue(deleted, status, [&]() -> absl::StatusOr<int64_t> {
    CAIRN_REQUIRE(writer);
    CAIRN_REQUIRE(deleted);
    CAIRN_ASSIGN_OR_RETURN(const cairn::LogSelection selection, ToCpp(which));
    return writer->writer.Delete(selection);
  });
}

cairn_code cairn_log_writer_add_field(cairn_log_writer* writer, const char* field,
                                      cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_REQUIRE(field);
    CAIRN_ASSIGN_OR_RETURN(const cairn::Field added, cairn::Schema::ParseField(field));
    return writer->writer.AddField(added);
  });
}

cairn_code cairn_log_writer_commit(cairn_log_writer* writer, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    return writer->writer.Commit();
  });
}

cairn_code cairn_log_writer_checkpoint(cairn_log_writer* writer, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    return writer->writer.Checkpoint();
  });
}

cairn_code cairn_log_writer_set_retention(cairn_log_writer* writer,
                                          const cairn_log_retention* retention,
                                          cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_REQUIRE(retention);
    CAIRN_ASSIGN_OR_RETURN(const cairn::Retention converted, ToCpp(retention));
    return writer->writer.SetRetention(converted);
  });
}

cairn_code cairn_log_writer_set_rotation(cairn_log_writer* writer,
                                         const cairn_log_rotation* rotation, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_REQUIRE(rotation);
    CAIRN_ASSIGN_OR_RETURN(const cairn::Rotation converted, ToCpp(rotation));
    return writer->writer.SetRotation(converted);
  });
}

cairn_code cairn_log_writer_apply_retention(cairn_log_writer* writer, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    return writer->writer.ApplyRetention();
  });
}

int64_t cairn_log_writer_end_record(const cairn_log_writer* writer) {
  return writer == nullptr ? 0 : writer->writer.end_record();
}

cairn_code cairn_log_writer_snapshot(const cairn_log_writer* writer, cairn_log_snapshot** snapshot,
                                     cairn_status* status) {
  return ReturnHandle(snapshot, "snapshot", status, [&]() -> absl::StatusOr<cairn::LogSnapshot> {
    CAIRN_REQUIRE(writer);
    return writer->writer.snapshot();
  });
}

cairn_code cairn_log_writer_close(cairn_log_writer* writer, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    return writer->writer.Close();
  });
}

void cairn_log_writer_free(cairn_log_writer* writer) { delete writer; }
