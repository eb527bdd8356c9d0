#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/cairn.h"
#include "cairn/collection.h"
#include "cairn/options.h"
#include "engine/base/status.h"
#include "engine/c_api/handles.h"
#include "engine/c_api/options.h"
#include "engine/c_api/result.h"

using cairn::c_api::EditedMember;
using cairn::c_api::Return;
using cairn::c_api::ReturnHandle;
using cairn::c_api::ReturnValue;
using cairn::c_api::ToCpp;

void cairn_collection_writer_free(cairn_collection_writer* writer) { delete writer; }

cairn_code cairn_collection_writer_edit(cairn_collection_writer* writer, const char* name,
                                        cairn_writer** member, cairn_status* status) {
  return ReturnHandle(member, "member", status, [&]() -> absl::StatusOr<EditedMember> {
    CAIRN_REQUIRE(writer);
    CAIRN_REQUIRE(name);
    CAIRN_RETURN_IF_ERROR(writer->writer->Edit(name).status());
    return EditedMember{.writer = writer->writer, .name = name};
  });
}

cairn_code cairn_collection_writer_add(cairn_collection_writer* writer, const char* name,
                                       const cairn_create_options* options, cairn_writer** member,
                                       cairn_status* status) {
  return ReturnHandle(member, "member", status, [&]() -> absl::StatusOr<EditedMember> {
    CAIRN_REQUIRE(writer);
    CAIRN_REQUIRE(name);
    CAIRN_ASSIGN_OR_RETURN(const cairn::CreateOptions converted, ToCpp(options));
    CAIRN_RETURN_IF_ERROR(writer->writer->Add(name, converted).status());
    return EditedMember{.writer = writer->writer, .name = name};
  });
}

cairn_code cairn_collection_writer_edit_attributes(cairn_collection_writer* writer,
                                                   const char* group, cairn_writer** attributes,
                                                   cairn_status* status) {
  return ReturnHandle(attributes, "attributes", status, [&]() -> absl::StatusOr<EditedMember> {
    CAIRN_REQUIRE(writer);
    CAIRN_REQUIRE(group);
    CAIRN_RETURN_IF_ERROR(writer->writer->EditAttributes(group).status());
    return EditedMember{.writer = writer->writer, .name = group, .is_group = true};
  });
}

cairn_code cairn_collection_writer_remove(cairn_collection_writer* writer, const char* name,
                                          cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_REQUIRE(name);
    return writer->writer->Remove(name);
  });
}

cairn_code cairn_collection_writer_copy(cairn_collection_writer* writer, const char* from,
                                        const char* to, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_REQUIRE(from);
    CAIRN_REQUIRE(to);
    return writer->writer->Copy(from, to);
  });
}

cairn_code cairn_collection_writer_move(cairn_collection_writer* writer, const char* from,
                                        const char* to, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_REQUIRE(from);
    CAIRN_REQUIRE(to);
    return writer->writer->Move(from, to);
  });
}

cairn_code cairn_collection_writer_compact(cairn_collection_writer* writer, const char* name,
                                           cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    CAIRN_REQUIRE(name);
    return writer->writer->Compact(name);
  });
}

cairn_code cairn_collection_writer_commit(cairn_collection_writer* writer, uint64_t* number,
                                          cairn_status* status) {
  uint64_t committed = 0;
  const cairn_code code = ReturnValue(&committed, status, [&]() -> absl::StatusOr<uint64_t> {
    CAIRN_REQUIRE(writer);
    return writer->writer->Commit();
  });
  if (code == CAIRN_OK && number != nullptr) *number = committed;
  return code;
}

cairn_code cairn_collection_writer_rollback(cairn_collection_writer* writer, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    writer->writer->Rollback();
    return absl::OkStatus();
  });
}

cairn_code cairn_collection_writer_has_waiters(const cairn_collection_writer* writer,
                                               bool* has_waiters, cairn_status* status) {
  return ReturnValue(has_waiters, status, [&]() -> absl::StatusOr<bool> {
    CAIRN_REQUIRE(writer);
    CAIRN_REQUIRE(has_waiters);
    return writer->writer->HasWaiters();
  });
}

cairn_code cairn_collection_writer_close(cairn_collection_writer* writer, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(writer);
    return writer->writer->Close();
  });
}
