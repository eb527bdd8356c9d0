#include "cairn/frame.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/cairn.h"
#include "cairn/options.h"
#include "cairn/reports.h"
#include "cairn/snapshot.h"
#include "cairn/types.h"
#include "cairn/writer.h"
#include "engine/base/status.h"
#include "engine/c_api/handles.h"
#include "engine/c_api/options.h"
#include "engine/c_api/result.h"
#include "engine/c_api/versioned_struct.h"

using cairn::c_api::CheckReport;
using cairn::c_api::ReadStruct;
using cairn::c_api::Return;
using cairn::c_api::ReturnHandle;
using cairn::c_api::ToBytes;
using cairn::c_api::ToCpp;
using cairn::c_api::WriteReport;

namespace cairn::c_api {
namespace {

absl::StatusOr<CompactOptions> ToCompactOptions(const cairn_compact_options* options) {
  constexpr cairn_compact_options kDefaults = CAIRN_COMPACT_OPTIONS_INIT;
  CAIRN_ASSIGN_OR_RETURN(const cairn_compact_options given,
                         ReadStruct(options, kDefaults, "compact options"));
  return CompactOptions{.wait = std::chrono::milliseconds(given.wait_ms),
                        .progress = ToFunction(given.progress, given.context),
                        .executor = ToCpp(given.executor)};
}

}  // namespace
}  // namespace cairn::c_api

cairn_code cairn_frame_open(const char* path, const cairn_open_options* options,
                            cairn_frame** frame, cairn_status* status) {
  return ReturnHandle(frame, "frame", status, [&]() -> absl::StatusOr<cairn::Frame> {
    CAIRN_REQUIRE(path);
    CAIRN_ASSIGN_OR_RETURN(const cairn::OpenOptions converted, ToCpp(options));
    return cairn::Frame::Open(path, converted);
  });
}

cairn_code cairn_frame_open_buffer(const void* data, size_t data_size,
                                   const cairn_open_options* options, cairn_frame** frame,
                                   cairn_status* status) {
  return ReturnHandle(frame, "frame", status, [&]() -> absl::StatusOr<cairn::Frame> {
    CAIRN_ASSIGN_OR_RETURN(const cairn::Bytes bytes, ToBytes(data, data_size, "data"));
    CAIRN_ASSIGN_OR_RETURN(const cairn::OpenOptions converted, ToCpp(options));
    return cairn::Frame::OpenBuffer(bytes, converted);
  });
}

cairn_code cairn_frame_create(const char* path, const cairn_create_options* options,
                              cairn_frame** frame, cairn_status* status) {
  return ReturnHandle(frame, "frame", status, [&]() -> absl::StatusOr<cairn::Frame> {
    CAIRN_REQUIRE(path);
    CAIRN_ASSIGN_OR_RETURN(const cairn::CreateOptions converted, ToCpp(options));
    return cairn::Frame::Create(path, converted);
  });
}

cairn_code cairn_frame_create_in_memory(const cairn_create_options* options, cairn_frame** frame,
                                        cairn_status* status) {
  return ReturnHandle(frame, "frame", status, [&]() -> absl::StatusOr<cairn::Frame> {
    CAIRN_ASSIGN_OR_RETURN(const cairn::CreateOptions converted, ToCpp(options));
    return cairn::Frame::CreateInMemory(converted);
  });
}

cairn_code cairn_frame_build(const char* path, const cairn_create_options* options,
                             cairn_writer** writer, cairn_status* status) {
  return ReturnHandle(writer, "writer", status, [&]() -> absl::StatusOr<cairn::Writer> {
    CAIRN_REQUIRE(path);
    CAIRN_ASSIGN_OR_RETURN(const cairn::CreateOptions converted, ToCpp(options));
    return cairn::Frame::BeginCreate(path, converted);
  });
}

void cairn_frame_free(cairn_frame* frame) { delete frame; }

cairn_code cairn_frame_snapshot(const cairn_frame* frame, cairn_snapshot** snapshot,
                                cairn_status* status) {
  return ReturnHandle(snapshot, "snapshot", status, [&]() -> absl::StatusOr<cairn::Snapshot> {
    CAIRN_REQUIRE(frame);
    return frame->frame.snapshot();
  });
}

cairn_code cairn_frame_refresh(cairn_frame* frame, cairn_snapshot** snapshot,
                               cairn_status* status) {
  return ReturnHandle(snapshot, "snapshot", status, [&]() -> absl::StatusOr<cairn::Snapshot> {
    CAIRN_REQUIRE(frame);
    return frame->frame.Refresh();
  });
}

cairn_code cairn_frame_wait_for_commit(cairn_frame* frame, const cairn_snapshot* seen,
                                       int64_t timeout_ms, cairn_snapshot** snapshot,
                                       cairn_status* status) {
  return ReturnHandle(snapshot, "snapshot", status, [&]() -> absl::StatusOr<cairn::Snapshot> {
    CAIRN_REQUIRE(frame);
    CAIRN_REQUIRE(seen);
    return frame->frame.WaitForCommit(seen->snapshot, std::chrono::milliseconds(timeout_ms));
  });
}

cairn_code cairn_frame_history(const cairn_frame* frame, const cairn_history_options* options,
                               bool (*each)(void* context, const cairn_generation_info* info),
                               void* context, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(frame);
    if (each == nullptr) return cairn::InvalidArgument("each is NULL");
    constexpr cairn_history_options kDefaults = CAIRN_HISTORY_OPTIONS_INIT;
    CAIRN_ASSIGN_OR_RETURN(const cairn_history_options given,
                           ReadStruct(options, kDefaults, "history options"));
    cairn::HistoryOptions converted;
    if (given.before != nullptr) converted.before = *given.before;
    converted.limit = given.limit;
    CAIRN_ASSIGN_OR_RETURN(const std::vector<cairn::GenerationInfo> history,
                           frame->frame.History(converted));
    for (const cairn::GenerationInfo& state : history) {
      const cairn_generation_info info = {.struct_size = sizeof(cairn_generation_info),
                                          .generation = state.generation,
                                          .checkpoint = state.checkpoint,
                                          .nchunks = state.nchunks,
                                          .nbytes = state.nbytes,
                                          .end = state.end};
      if (!each(context, &info)) break;
    }
    return absl::OkStatus();
  });
}

cairn_code cairn_frame_old_readers(const cairn_frame* frame,
                                   bool (*each)(void* context,
                                                const cairn_generation_holder* holder),
                                   void* context, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(frame);
    if (each == nullptr) return cairn::InvalidArgument("each is NULL");
    CAIRN_ASSIGN_OR_RETURN(const std::vector<cairn::GenerationHolder> holders,
                           frame->frame.OldReaders());
    for (const cairn::GenerationHolder& found : holders) {
      const cairn_generation_holder holder = cairn::c_api::FromCpp(found);
      if (!each(context, &holder)) break;
    }
    return absl::OkStatus();
  });
}

cairn_code cairn_frame_compact(cairn_frame* frame, const cairn_compact_options* options,
                               cairn_compact_report* report, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(frame);
    CAIRN_RETURN_IF_ERROR(CheckReport(report));
    CAIRN_ASSIGN_OR_RETURN(const cairn::CompactOptions converted,
                           cairn::c_api::ToCompactOptions(options));
    CAIRN_ASSIGN_OR_RETURN(const cairn::CompactReport done, frame->frame.Compact(converted));
    const cairn_compact_report result = {.struct_size = sizeof(cairn_compact_report),
                                         .size_before = done.size_before,
                                         .size_after = done.size_after};
    WriteReport(result, report);
    return absl::OkStatus();
  });
}

cairn_code cairn_frame_open_writer(cairn_frame* frame, const cairn_writer_options* options,
                                   cairn_writer** writer, cairn_status* status) {
  return ReturnHandle(writer, "writer", status, [&]() -> absl::StatusOr<cairn::Writer> {
    CAIRN_REQUIRE(frame);
    CAIRN_ASSIGN_OR_RETURN(const cairn::WriterOptions converted, ToCpp(options));
    return frame->frame.OpenWriter(converted);
  });
}
