#include "cairn/collection.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/cairn.h"
#include "cairn/options.h"
#include "cairn/snapshot.h"
#include "engine/base/status.h"
#include "engine/c_api/handles.h"
#include "engine/c_api/options.h"
#include "engine/c_api/result.h"

using cairn::c_api::Return;
using cairn::c_api::ReturnHandle;
using cairn::c_api::ToCpp;

namespace cairn::c_api {
namespace {

const std::vector<std::string>& MembersOf(const cairn_collection_snapshot& snapshot) {
  return snapshot.members.Get([&] { return snapshot.snapshot.Members(); });
}

const std::vector<std::string>& GroupsOf(const cairn_collection_snapshot& snapshot) {
  return snapshot.groups.Get([&] { return snapshot.snapshot.Groups(); });
}

const char* NameOf(const std::vector<std::string>& names, size_t number) {
  return number < names.size() ? names[number].c_str() : nullptr;
}

CollectionWriterOptions WritingBy(const WriterOptions& members) {
  CollectionWriterOptions options{.wait = members.wait, .members = members};
  if (members.keep_generations > 0) options.keep_commits = members.keep_generations;
  return options;
}

std::vector<const char*> TextsOf(const std::vector<std::string>& names) {
  std::vector<const char*> texts;
  for (const std::string& name : names) texts.push_back(name.c_str());
  return texts;
}

bool Show(const CommitInfo& commit, bool (*each)(void* context, const cairn_commit_info* info),
          void* context) {
  const std::vector<const char*> added = TextsOf(commit.added);
  const std::vector<const char*> removed = TextsOf(commit.removed);
  const std::vector<const char*> changed = TextsOf(commit.changed);
  const std::vector<const char*> attributes = TextsOf(commit.attributes);
  const cairn_commit_info info = {.struct_size = sizeof(cairn_commit_info),
                                  .number = commit.number,
                                  .added = added.data(),
                                  .removed = removed.data(),
                                  .changed = changed.data(),
                                  .attributes = attributes.data(),
                                  .added_count = added.size(),
                                  .removed_count = removed.size(),
                                  .changed_count = changed.size(),
                                  .attributes_count = attributes.size()};
  return each(context, &info);
}

}  // namespace
}  // namespace cairn::c_api

cairn_code cairn_collection_open(const char* path, const cairn_open_options* options,
                                 cairn_collection** collection, cairn_status* status) {
  return ReturnHandle(collection, "collection", status, [&]() -> absl::StatusOr<cairn::Collection> {
    CAIRN_REQUIRE(path);
    CAIRN_ASSIGN_OR_RETURN(const cairn::OpenOptions members, ToCpp(options));
    return cairn::Collection::Open(path, {.members = members});
  });
}

cairn_code cairn_collection_create(const char* path, const cairn_open_options* options,
                                   cairn_collection** collection, cairn_status* status) {
  return ReturnHandle(collection, "collection", status, [&]() -> absl::StatusOr<cairn::Collection> {
    CAIRN_REQUIRE(path);
    CAIRN_ASSIGN_OR_RETURN(const cairn::OpenOptions members, ToCpp(options));
    return cairn::Collection::Create(path, {.members = members});
  });
}

void cairn_collection_free(cairn_collection* collection) { delete collection; }

cairn_code cairn_collection_newest(const cairn_collection* collection,
                                   cairn_collection_snapshot** snapshot, cairn_status* status) {
  return ReturnHandle(snapshot, "snapshot", status,
                      [&]() -> absl::StatusOr<cairn::CollectionSnapshot> {
                        CAIRN_REQUIRE(collection);
                        return collection->collection.snapshot();
                      });
}

cairn_code cairn_collection_refresh(cairn_collection* collection,
                                    cairn_collection_snapshot** snapshot, cairn_status* status) {
  return ReturnHandle(snapshot, "snapshot", status,
                      [&]() -> absl::StatusOr<cairn::CollectionSnapshot> {
                        CAIRN_REQUIRE(collection);
                        return collection->collection.Refresh();
                      });
}

cairn_code cairn_collection_open_writer(cairn_collection* collection,
                                        const cairn_writer_options* options,
                                        cairn_collection_writer** writer, cairn_status* status) {
  return ReturnHandle(writer, "writer", status, [&]() -> absl::StatusOr<cairn::CollectionWriter> {
    CAIRN_REQUIRE(collection);
    CAIRN_ASSIGN_OR_RETURN(const cairn::WriterOptions members, ToCpp(options));
    return collection->collection.OpenWriter(cairn::c_api::WritingBy(members));
  });
}

cairn_code cairn_collection_open_shared_writer(cairn_collection* collection,
                                               const cairn_writer_options* options,
                                               cairn_collection_writer** writer,
                                               cairn_status* status) {
  return ReturnHandle(writer, "writer", status, [&]() -> absl::StatusOr<cairn::CollectionWriter> {
    CAIRN_REQUIRE(collection);
    CAIRN_ASSIGN_OR_RETURN(const cairn::WriterOptions members, ToCpp(options));
    cairn::CollectionWriterOptions writing = cairn::c_api::WritingBy(members);
    writing.shared = true;
    return collection->collection.OpenWriter(writing);
  });
}

cairn_code cairn_collection_history(cairn_collection* collection,
                                    bool (*each)(void* context, const cairn_commit_info* info),
                                    void* context, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(collection);
    if (each == nullptr) return cairn::InvalidArgument("each is NULL");
    CAIRN_ASSIGN_OR_RETURN(const std::vector<cairn::CommitInfo> history,
                           collection->collection.History());
    for (const cairn::CommitInfo& commit : history) {
      if (!cairn::c_api::Show(commit, each, context)) break;
    }
    return absl::OkStatus();
  });
}

cairn_code cairn_collection_open_commit(cairn_collection* collection, uint64_t number,
                                        cairn_collection_snapshot** snapshot,
                                        cairn_status* status) {
  return ReturnHandle(snapshot, "snapshot", status,
                      [&]() -> absl::StatusOr<cairn::CollectionSnapshot> {
                        CAIRN_REQUIRE(collection);
                        return collection->collection.OpenCommit(number);
                      });
}

cairn_code cairn_collection_apply_increment(cairn_collection* collection,
                                            const cairn_collection_snapshot* increment,
                                            const cairn_writer_options* options, bool* applied,
                                            cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(collection);
    CAIRN_REQUIRE(increment);
    CAIRN_ASSIGN_OR_RETURN(const cairn::WriterOptions members, ToCpp(options));
    CAIRN_ASSIGN_OR_RETURN(const bool done,
                           collection->collection.ApplyIncrement(increment->snapshot,
                                                                 cairn::c_api::WritingBy(members)));
    if (applied != nullptr) *applied = done;
    return absl::OkStatus();
  });
}

void cairn_collection_snapshot_free(cairn_collection_snapshot* snapshot) { delete snapshot; }

bool cairn_collection_snapshot_equal(const cairn_collection_snapshot* a,
                                     const cairn_collection_snapshot* b) {
  return a != nullptr && b != nullptr && a->snapshot == b->snapshot;
}

uint64_t cairn_collection_snapshot_number(const cairn_collection_snapshot* snapshot) {
  return snapshot == nullptr ? 0 : snapshot->snapshot.number();
}

size_t cairn_collection_snapshot_member_count(const cairn_collection_snapshot* snapshot) {
  return snapshot == nullptr ? 0 : cairn::c_api::MembersOf(*snapshot).size();
}

const char* cairn_collection_snapshot_member_name(const cairn_collection_snapshot* snapshot,
                                                  size_t number) {
  if (snapshot == nullptr) return nullptr;
  return cairn::c_api::NameOf(cairn::c_api::MembersOf(*snapshot), number);
}

size_t cairn_collection_snapshot_group_count(const cairn_collection_snapshot* snapshot) {
  return snapshot == nullptr ? 0 : cairn::c_api::GroupsOf(*snapshot).size();
}

const char* cairn_collection_snapshot_group_name(const cairn_collection_snapshot* snapshot,
                                                 size_t number) {
  if (snapshot == nullptr) return nullptr;
  return cairn::c_api::NameOf(cairn::c_api::GroupsOf(*snapshot), number);
}

cairn_code cairn_collection_snapshot_open_member(const cairn_collection_snapshot* snapshot,
                                                 const char* name, cairn_snapshot** member,
                                                 cairn_status* status) {
  return ReturnHandle(member, "member", status, [&]() -> absl::StatusOr<cairn::Snapshot> {
    CAIRN_REQUIRE(snapshot);
    CAIRN_REQUIRE(name);
    return snapshot->snapshot.OpenMember(name);
  });
}

cairn_code cairn_collection_snapshot_open_attributes(const cairn_collection_snapshot* snapshot,
                                                     const char* group, cairn_snapshot** attributes,
                                                     cairn_status* status) {
  return ReturnHandle(attributes, "attributes", status, [&]() -> absl::StatusOr<cairn::Snapshot> {
    CAIRN_REQUIRE(snapshot);
    CAIRN_REQUIRE(group);
    return snapshot->snapshot.OpenAttributes(group);
  });
}

cairn_code cairn_collection_snapshot_write_increment(const cairn_collection_snapshot* snapshot,
                                                     const char* path,
                                                     const cairn_collection_snapshot* since,
                                                     cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_REQUIRE(path);
    CAIRN_REQUIRE(since);
    return snapshot->snapshot.WriteIncrement(path, since->snapshot);
  });
}

cairn_code cairn_collection_snapshot_copy_to(const cairn_collection_snapshot* snapshot,
                                             const char* path, cairn_status* status) {
  return Return(status, [&]() -> absl::Status {
    CAIRN_REQUIRE(snapshot);
    CAIRN_REQUIRE(path);
    return snapshot->snapshot.CopyTo(path);
  });
}
