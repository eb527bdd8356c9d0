// The C API: collections, directories of frames that change together. The calls are those of
// Collection, CollectionSnapshot and CollectionWriter in cairn/collection.h. See
// docs/collections.md. Include cairn/cairn.h.
#ifndef CAIRN_C_COLLECTION_H_
#define CAIRN_C_COLLECTION_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cairn/c_frame.h"
#include "cairn/c_snapshot.h"
#include "cairn/c_types.h"
#include "cairn/c_writer.h"

#ifdef __cplusplus
extern "C" {
#endif

// A directory of frames, its members. The name of one is a path such as "/day/temp".
typedef struct cairn_collection cairn_collection;
// A committed state of all members, which never changes.
typedef struct cairn_collection_snapshot cairn_collection_snapshot;
// The only writer of a collection. It and the writers of its members belong to one thread at a
// time.
typedef struct cairn_collection_writer cairn_collection_writer;

// ---- Collections ----

// Opens the collection in the directory at `path`, or for reading a store of python-blosc2: a
// directory, or a .b2z or .b2e file. The options say how members are opened; offset, durable_only
// and generation are not used.
// Errors: CAIRN_NOT_FOUND if no collection is there; CAIRN_INVALID_ARGUMENT if the file is no
// store.
CAIRN_EXPORT cairn_code cairn_collection_open(const char* path, const cairn_open_options* options,
                                              cairn_collection** collection, cairn_status* status);
// Makes an empty collection, and the directory at `path` if there is none.
// Errors: CAIRN_ALREADY_EXISTS if a collection or a TreeStore is there; CAIRN_UNIMPLEMENTED if the
// file system has no directories.
CAIRN_EXPORT cairn_code cairn_collection_create(const char* path, const cairn_open_options* options,
                                                cairn_collection** collection,
                                                cairn_status* status);
CAIRN_EXPORT void cairn_collection_free(cairn_collection* collection);
// Returns the newest state that this handle has seen.
CAIRN_EXPORT cairn_code cairn_collection_newest(const cairn_collection* collection,
                                                cairn_collection_snapshot** snapshot,
                                                cairn_status* status);
// Looks for newer commits and returns the newest state. Never waits for a writer. Errors: as for
// opening.
CAIRN_EXPORT cairn_code cairn_collection_refresh(cairn_collection* collection,
                                                 cairn_collection_snapshot** snapshot,
                                                 cairn_status* status);
// Opens the only writer of the collection. The options are those of all members; opening and
// max_file_size are not used. If keep_generations is not 0, the collection keeps this many commits
// before the newest from now on, and remembers the number.
// Errors: CAIRN_UNAVAILABLE if another writer holds the collection for longer than wait_ms.
CAIRN_EXPORT cairn_code cairn_collection_open_writer(cairn_collection* collection,
                                                     const cairn_writer_options* options,
                                                     cairn_collection_writer** writer,
                                                     cairn_status* status);
// Opens one of several writers, which share the collection: each holds the members that it edits,
// removes or copies until it commits or rolls back. A call that needs a member of another writer
// waits for wait_ms, and then returns CAIRN_UNAVAILABLE. A commit returns CAIRN_ABORTED if another
// writer has added a member of the same name: roll back, and stage the edits again.
// Errors: CAIRN_UNAVAILABLE if a writer that does not share holds the collection for longer than
// wait_ms; CAIRN_FAILED_PRECONDITION if others share it and keep_generations is another number than
// the one that it keeps.
CAIRN_EXPORT cairn_code cairn_collection_open_shared_writer(cairn_collection* collection,
                                                            const cairn_writer_options* options,
                                                            cairn_collection_writer** writer,
                                                            cairn_status* status);

// A commit that can be opened. The names are those of the members that it added, removed and
// changed, and of the groups whose attributes it changed, each list in order. A member that was
// replaced is added and removed. The oldest commit has no names, nor has the newest one if it
// changed no content.
typedef struct cairn_commit_info {
  size_t struct_size;
  uint64_t number;
  const char* const* added;
  const char* const* removed;
  const char* const* changed;
  const char* const* attributes;
  size_t added_count;
  size_t removed_count;
  size_t changed_count;
  size_t attributes_count;
} cairn_commit_info;

// Calls `each` for every commit that is kept, the oldest first. The info is valid during the call.
// If `each` returns false, the list ends with CAIRN_OK.
// Errors: as for refreshing; CAIRN_UNIMPLEMENTED in an object store; CAIRN_FAILED_PRECONDITION for
// a store of python-blosc2.
CAIRN_EXPORT cairn_code cairn_collection_history(cairn_collection* collection,
                                                 bool (*each)(void* context,
                                                              const cairn_commit_info* info),
                                                 void* context, cairn_status* status);
// Opens the state after a commit that is kept. Errors: CAIRN_NOT_FOUND if it is not; else as above.
CAIRN_EXPORT cairn_code cairn_collection_open_commit(cairn_collection* collection, uint64_t number,
                                                     cairn_collection_snapshot** snapshot,
                                                     cairn_status* status);
// Brings the collection up to date with an increment, in one commit. *applied is false if it has
// that content already; it may be NULL.
// Errors: CAIRN_FAILED_PRECONDITION if the collection has not the content that the increment was
// made for; those of opening a writer and of committing.
CAIRN_EXPORT cairn_code cairn_collection_apply_increment(cairn_collection* collection,
                                                         const cairn_collection_snapshot* increment,
                                                         const cairn_writer_options* options,
                                                         bool* applied, cairn_status* status);

// ---- Snapshots ----

CAIRN_EXPORT void cairn_collection_snapshot_free(cairn_collection_snapshot* snapshot);
// Returns true if both are the same state, seen through the same handle. Returns false for NULL.
CAIRN_EXPORT bool cairn_collection_snapshot_equal(const cairn_collection_snapshot* a,
                                                  const cairn_collection_snapshot* b);
// Returns the number of the commit: each has that of the one before, plus one. Returns 0 for NULL.
CAIRN_EXPORT uint64_t cairn_collection_snapshot_number(const cairn_collection_snapshot* snapshot);
// Return the members and groups, in order. The first group is "/". A count is 0 for NULL. A name
// belongs to the snapshot; it is NULL if there is no such number.
CAIRN_EXPORT size_t
cairn_collection_snapshot_member_count(const cairn_collection_snapshot* snapshot);
CAIRN_EXPORT const char* cairn_collection_snapshot_member_name(
    const cairn_collection_snapshot* snapshot, size_t number);
CAIRN_EXPORT size_t
cairn_collection_snapshot_group_count(const cairn_collection_snapshot* snapshot);
CAIRN_EXPORT const char* cairn_collection_snapshot_group_name(
    const cairn_collection_snapshot* snapshot, size_t number);
// Opens a member in this state.
// Errors: CAIRN_NOT_FOUND if there is none of that name; CAIRN_DATA_LOSS also if its file was
// removed, changed or restored outside the collection.
CAIRN_EXPORT cairn_code
cairn_collection_snapshot_open_member(const cairn_collection_snapshot* snapshot, const char* name,
                                      cairn_snapshot** member, cairn_status* status);
// Opens the attributes of a group, such as "/" or "/day": the vlmetalayers of the snapshot.
// Errors: CAIRN_NOT_FOUND if it has none; else as above.
CAIRN_EXPORT cairn_code cairn_collection_snapshot_open_attributes(
    const cairn_collection_snapshot* snapshot, const char* group, cairn_snapshot** attributes,
    cairn_status* status);
// Copies this state to a new collection at `path`, also while a writer is open.
// Errors: CAIRN_ALREADY_EXISTS if `path` is not an empty directory or nothing; those of opening
// members.
CAIRN_EXPORT cairn_code cairn_collection_snapshot_copy_to(const cairn_collection_snapshot* snapshot,
                                                          const char* path, cairn_status* status);
// Writes what is new since an older state, or a state of a copy, as a file at `path`.
// Errors: as for a copy.
CAIRN_EXPORT cairn_code cairn_collection_snapshot_write_increment(
    const cairn_collection_snapshot* snapshot, const char* path,
    const cairn_collection_snapshot* since, cairn_status* status);
// Checks the ledger and all members. A section begins with the name of the member. Errors: as for
// cairn_snapshot_verify.
CAIRN_EXPORT cairn_code cairn_collection_snapshot_verify(const cairn_collection_snapshot* snapshot,
                                                         const cairn_verify_options* options,
                                                         cairn_verify_report* report,
                                                         cairn_status* status);

// ---- Writers ----

// Frees the writer, and drops staged edits unless it was closed. Writers of members stay valid, but
// every call of them then fails.
CAIRN_EXPORT void cairn_collection_writer_free(cairn_collection_writer* writer);

// Return a writer that stages edits of one member: of one that is there, of a new one, or of the
// attributes of a group. It stages into the member that has the name at the time of each call, so
// it goes on after a commit, and is freed by cairn_writer_free. Of its calls, only edits,
// read_chunk and staged_snapshot work: the collection commits, and the others return
// CAIRN_FAILED_PRECONDITION. A staged snapshot keeps the file of the member open and locked.
//
// The options of a new member are those of a frame; layout, overwrite and files are not used.
// Errors: CAIRN_NOT_FOUND if there is no such member; CAIRN_ALREADY_EXISTS if there is, for a new
// one; CAIRN_INVALID_ARGUMENT if no member can have the name; CAIRN_UNAVAILABLE if a writer has the
// member's file open by itself.
// Errors of all calls of a writer: CAIRN_FAILED_PRECONDITION if it is closed or has failed.
CAIRN_EXPORT cairn_code cairn_collection_writer_edit(cairn_collection_writer* writer,
                                                     const char* name, cairn_writer** member,
                                                     cairn_status* status);
CAIRN_EXPORT cairn_code cairn_collection_writer_add(cairn_collection_writer* writer,
                                                    const char* name,
                                                    const cairn_create_options* options,
                                                    cairn_writer** member, cairn_status* status);
CAIRN_EXPORT cairn_code cairn_collection_writer_edit_attributes(cairn_collection_writer* writer,
                                                                const char* group,
                                                                cairn_writer** attributes,
                                                                cairn_status* status);
// Stages the removal of a member. Another one may be added under its name in the same commit.
CAIRN_EXPORT cairn_code cairn_collection_writer_remove(cairn_collection_writer* writer,
                                                       const char* name, cairn_status* status);
// Stage a copy of a member's committed state under another name, and the same with the removal of
// the old one.
// Errors: CAIRN_FAILED_PRECONDITION also if the member is new or edited in this commit.
CAIRN_EXPORT cairn_code cairn_collection_writer_copy(cairn_collection_writer* writer,
                                                     const char* from, const char* to,
                                                     cairn_status* status);
CAIRN_EXPORT cairn_code cairn_collection_writer_move(cairn_collection_writer* writer,
                                                     const char* from, const char* to,
                                                     cairn_status* status);
// Stages a copy of a member, without its dead bytes, that takes its place. Errors: as for a copy.
CAIRN_EXPORT cairn_code cairn_collection_writer_compact(cairn_collection_writer* writer,
                                                        const char* name, cairn_status* status);
// Makes all staged edits visible and durable, or none of them. `number` is that of the commit, and
// may be NULL. After an error nothing is staged any more.
CAIRN_EXPORT cairn_code cairn_collection_writer_commit(cairn_collection_writer* writer,
                                                       uint64_t* number, cairn_status* status);
CAIRN_EXPORT cairn_code cairn_collection_writer_rollback(cairn_collection_writer* writer,
                                                         cairn_status* status);
// Sets *has_waiters to true if another writer waits for the collection.
CAIRN_EXPORT cairn_code cairn_collection_writer_has_waiters(const cairn_collection_writer* writer,
                                                            bool* has_waiters,
                                                            cairn_status* status);
// Commits, leaves members that every Blosc2 reads completely, and lets others write.
CAIRN_EXPORT cairn_code cairn_collection_writer_close(cairn_collection_writer* writer,
                                                      cairn_status* status);

#ifdef __cplusplus
}
#endif

#endif  // CAIRN_C_COLLECTION_H_
