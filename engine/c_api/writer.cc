#include "cairn/writer.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/cairn.h"
#include "cairn/options.h"
#include "cairn/reports.h"
#include "cairn/snapshot.h"
#include "cairn/types.h"
#include "engine/base/status.h"
#include "engine/c_api/handles.h"
#include "engine/c_api/options.h"
#include "engine/c_api/result.h"
#include "engine/c_api/versioned_struct.h"

namespace cairn::c_api {

template <>
struct StructVersions<cairn_reclaim_options> {
  static constexpr std::array<size_t, 2> kSizes = {offsetof(cairn_reclaim_options, on_holder),
                                                   sizeof(cairn_reclaim_options)};
};

}  // namespace cairn::c_api

using cairn::Bytes;
using cairn::MutableBytes;
using cairn::c_api::CallWith;
using cairn::c_api::EditWith;
using cairn::c_api::Return;
using cairn::c_api::ReturnHandle;
using cairn::c_api::ReturnValue;
using cairn::c_api::ToBytes;
using cairn::c_api::ToMutableBytes;
using cairn::c_api::ToSpan;

void cairn_writer_free(cairn_writer* writer) { delete writer; }

cairn_code cairn_writer_append(cairn_writer* writer, const void* src, size_t size,
                               cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_ASSIGN_OR_RETURN(const Bytes items, ToBytes(src, size, "src"));
    return EditWith(*writer, [&](auto& edited) { return edited.Append(items); });
  });
}

cairn_code cairn_writer_append_compressed(cairn_writer* writer, const void* chunk,
                                          size_t chunk_size, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, ToBytes(chunk, chunk_size, "chunk"));
    return EditWith(*writer, [&](auto& edited) { return edited.AppendCompressed(bytes); });
  });
}

cairn_code cairn_writer_append_special(cairn_writer* writer, cairn_special special, int64_t nitems,
                                       const void* value, size_t value_size, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_ASSIGN_OR_RETURN(const cairn::SpecialValue kind, cairn::c_api::ToSpecial(special));
    CAIRN_ASSIGN_OR_RETURN(const Bytes item, ToBytes(value, value_size, "value"));
    return EditWith(*writer,
                    [&](auto& edited) { return edited.AppendSpecial(kind, nitems, item); });
  });
}

cairn_code cairn_writer_insert_chunk(cairn_writer* writer, int64_t nchunk, const void* src,
                                     size_t size, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_ASSIGN_OR_RETURN(const Bytes items, ToBytes(src, size, "src"));
    return EditWith(*writer, [&](auto& edited) { return edited.InsertChunk(nchunk, items); });
  });
}

cairn_code cairn_writer_update_chunk(cairn_writer* writer, int64_t nchunk, const void* src,
                                     size_t size, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_ASSIGN_OR_RETURN(const Bytes items, ToBytes(src, size, "src"));
    return EditWith(*writer, [&](auto& edited) { return edited.UpdateChunk(nchunk, items); });
  });
}

cairn_code cairn_writer_read_chunk(cairn_writer* writer, int64_t nchunk, void* dst, size_t size,
                                   cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_ASSIGN_OR_RETURN(const MutableBytes to, ToMutableBytes(dst, size));
    return EditWith(*writer, [&](auto& edited) { return edited.ReadChunk(nchunk, to); });
  });
}

cairn_code cairn_writer_insert_compressed(cairn_writer* writer, int64_t nchunk, const void* chunk,
                                          size_t chunk_size, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, ToBytes(chunk, chunk_size, "chunk"));
    return EditWith(*writer, [&](auto& edited) { return edited.InsertCompressed(nchunk, bytes); });
  });
}

cairn_code cairn_writer_update_compressed(cairn_writer* writer, int64_t nchunk, const void* chunk,
                                          size_t chunk_size, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, ToBytes(chunk, chunk_size, "chunk"));
    return EditWith(*writer, [&](auto& edited) { return edited.UpdateCompressed(nchunk, bytes); });
  });
}

cairn_code cairn_writer_delete_chunks(cairn_writer* writer, int64_t first, int64_t count,
                                      cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    return EditWith(*writer, [&](auto& edited) { return edited.DeleteChunks(first, count); });
  });
}

cairn_code cairn_writer_reorder_chunks(cairn_writer* writer, const int64_t* order, size_t nchunks,
                                       cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_ASSIGN_OR_RETURN(const std::span<const int64_t> chunks,
                           ToSpan(order, static_cast<int64_t>(nchunks), "order"));
    return EditWith(*writer, [&](auto& edited) { return edited.ReorderChunks(chunks); });
  });
}

cairn_code cairn_writer_write_items(cairn_writer* writer, int64_t start, const void* src,
                                    size_t size, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_ASSIGN_OR_RETURN(const Bytes items, ToBytes(src, size, "src"));
    return EditWith(*writer, [&](auto& edited) { return edited.WriteItems(start, items); });
  });
}

cairn_code cairn_writer_write_box(cairn_writer* writer, const int64_t* start, const int64_t* shape,
                                  int32_t ndim, const void* src, size_t size,
                                  cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_ASSIGN_OR_RETURN(const std::span<const int64_t> from, ToSpan(start, ndim, "start"));
    CAIRN_ASSIGN_OR_RETURN(const std::span<const int64_t> extent, ToSpan(shape, ndim, "shape"));
    CAIRN_ASSIGN_OR_RETURN(const Bytes items, ToBytes(src, size, "src"));
    return EditWith(*writer, [&](auto& edited) { return edited.WriteBox(from, extent, items); });
  });
}

cairn_code cairn_writer_resize_array(cairn_writer* writer, const int64_t* shape, int32_t ndim,
                                     cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_ASSIGN_OR_RETURN(const std::span<const int64_t> extent, ToSpan(shape, ndim, "shape"));
    return EditWith(*writer, [&](auto& edited) { return edited.ResizeArray(extent); });
  });
}

cairn_code cairn_writer_append_slices(cairn_writer* writer, int32_t axis, const void* src,
                                      size_t size, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_ASSIGN_OR_RETURN(const Bytes items, ToBytes(src, size, "src"));
    return EditWith(*writer, [&](auto& edited) { return edited.AppendSlices(axis, items); });
  });
}

cairn_code cairn_writer_delete_slices(cairn_writer* writer, int32_t axis, int64_t start,
                                      int64_t count, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    return EditWith(*writer, [&](auto& edited) { return edited.DeleteSlices(axis, start, count); });
  });
}

cairn_code cairn_writer_set_metalayer(cairn_writer* writer, const char* name, const void* src,
                                      size_t size, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_REQUIRE(name);
    CAIRN_ASSIGN_OR_RETURN(const Bytes content, ToBytes(src, size, "src"));
    return EditWith(*writer, [&](auto& edited) { return edited.SetMetalayer(name, content); });
  });
}

cairn_code cairn_writer_set_vlmetalayer(cairn_writer* writer, const char* name, const void* src,
                                        size_t size, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_REQUIRE(name);
    CAIRN_ASSIGN_OR_RETURN(const Bytes content, ToBytes(src, size, "src"));
    return EditWith(*writer, [&](auto& edited) { return edited.SetVlmetalayer(name, content); });
  });
}

cairn_code cairn_writer_delete_vlmetalayer(cairn_writer* writer, const char* name,
                                           cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_REQUIRE(name);
    return EditWith(*writer, [&](auto& edited) { return edited.DeleteVlmetalayer(name); });
  });
}

cairn_code cairn_writer_apply_increment(cairn_writer* writer, const cairn_snapshot* increment,
                                        cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_REQUIRE(increment);
    return EditWith(*writer,
                    [&](auto& edited) { return edited.ApplyIncrement(increment->snapshot); });
  });
}

cairn_code cairn_writer_staged_snapshot(cairn_writer* writer, cairn_snapshot** snapshot,
                                        cairn_status* status) {
  return ReturnHandle(snapshot, "snapshot", status, [&]() -> absl::StatusOr<cairn::Snapshot> {
    CAIRN_REQUIRE(writer);
    return EditWith(*writer, [&](auto& edited) { return edited.StagedSnapshot(); });
  });
}

cairn_code cairn_writer_commit(cairn_writer* writer, cairn_durability durability,
                               cairn_snapshot** committed, cairn_status* status) {
  cairn_snapshot* snapshot = nullptr;
  const cairn_code code =
      ReturnHandle(&snapshot, "committed", status, [&]() -> absl::StatusOr<cairn::Snapshot> {
        CAIRN_REQUIRE(writer);
        CAIRN_ASSIGN_OR_RETURN(const cairn::Durability survives,
                               cairn::c_api::ToDurability(durability, "durability"));
        return CallWith(*writer, [&](auto& frame) { return frame.Commit(survives); });
      });
  cairn::c_api::GiveOrFree(snapshot, committed);
  return code;
}

cairn_code cairn_writer_sync(const cairn_writer* writer, const cairn_snapshot* committed,
                             cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_REQUIRE(committed);
    return CallWith(*writer, [&](auto& frame) { return frame.Sync(committed->snapshot); });
  });
}

cairn_code cairn_writer_checkpoint(cairn_writer* writer, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    return CallWith(*writer, [&](auto& frame) { return frame.Checkpoint(); });
  });
}

cairn_code cairn_writer_flush(cairn_writer* writer, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    return CallWith(*writer, [&](auto& frame) { return frame.Flush(); });
  });
}

cairn_code cairn_writer_rollback(cairn_writer* writer, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    return CallWith(*writer, [](cairn::Writer& frame) {
      frame.Rollback();
      return absl::OkStatus();
    });
  });
}

cairn_code cairn_writer_reclaim(cairn_writer* writer, const cairn_reclaim_options* options,
                                cairn_reclaim_report* report, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_RETURN_IF_ERROR(cairn::c_api::CheckReport(report));
    constexpr cairn_reclaim_options kDefaults = CAIRN_RECLAIM_OPTIONS_INIT;
    CAIRN_ASSIGN_OR_RETURN(const cairn_reclaim_options given,
                           cairn::c_api::ReadStruct(options, kDefaults, "reclaim options"));
    CAIRN_ASSIGN_OR_RETURN(const cairn::ReclaimReport done,
                           CallWith(*writer, [&](cairn::Writer& frame) {
                             return frame.Reclaim({.keep_generations = given.keep_generations});
                           }));
    if (given.on_holder != nullptr) {
      for (const cairn::GenerationHolder& found : done.holders) {
        const cairn_generation_holder holder = cairn::c_api::FromCpp(found);
        given.on_holder(given.context, &holder);
      }
    }
    const cairn_reclaim_report result = {.struct_size = sizeof(cairn_reclaim_report),
                                         .freed = done.freed,
                                         .blocked = done.blocked,
                                         .oldest_generation = done.oldest_generation};
    cairn::c_api::WriteReport(result, report);
    return absl::OkStatus();
  });
}

cairn_code cairn_writer_suspend(cairn_writer* writer, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    return CallWith(*writer, [&](auto& frame) { return frame.Suspend(); });
  });
}

cairn_code cairn_writer_resume(cairn_writer* writer, int64_t wait_ms, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    return CallWith(*writer,
                    [&](auto& frame) { return frame.Resume(std::chrono::milliseconds(wait_ms)); });
  });
}

cairn_code cairn_writer_has_waiters(const cairn_writer* writer, bool* has_waiters,
                                    cairn_status* status) {
  return ReturnValue(has_waiters, status, [&]() -> absl::StatusOr<bool> {
    CAIRN_REQUIRE(writer);
    CAIRN_REQUIRE(has_waiters);
    return CallWith(*writer, [&](auto& frame) { return frame.HasWaiters(); });
  });
}

cairn_code cairn_writer_close(cairn_writer* writer, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    return CallWith(*writer, [&](auto& frame) { return frame.Close(); });
  });
}
