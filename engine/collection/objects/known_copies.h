// Saves requests for small objects of members: the ledger, which everybody reads, has copies.
//
// A copy is right for as long as the ledger has it. The object was put before the commit, and
// nobody replaces it. Garbage is collected only after a checkpoint of the ledger, which drops the
// copies of objects that nothing refers to. So no object has lost its name to another one while a
// commit or a checkpoint with its copy can be read.
#ifndef CAIRN_ENGINE_COLLECTION_OBJECTS_KNOWN_COPIES_H_
#define CAIRN_ENGINE_COLLECTION_OBJECTS_KNOWN_COPIES_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "cairn/snapshot.h"
#include "engine/collection/ledger/ledger.h"
#include "engine/collection/ledger/object_copy.h"
#include "engine/collection/members/site.h"
#include "engine/format/journal.h"
#include "engine/frame/state/state.h"

namespace cairn::collection {

// The most bytes of an object that is copied. A page of keys of Zarr has some 3 KiB.
inline constexpr int64_t kMaxCopy = 8 << 10;
// The most bytes of copies in a commit. Each reader gets them, needed or not.
inline constexpr int64_t kMaxCopiesOfCommit = 64 << 10;
// The most bytes of copies in a checkpoint: the indexes and pages of some hundred arrays.
inline constexpr int64_t kMaxCopiesOfCheckpoint = 256 << 10;

// Takes note of the copies that the ledger has and `before` has not. `before` may be null.
void KnowCopies(const Site& site, const Snapshot& snapshot, const Ledger& ledger,
                const Ledger* before);

// Adds a copy of the object if this process has put or got it lately, and it is small.
void AddCopy(const Site& site, const MemberEntry& entry, ObjectCopy copy, ObjectCopies& copies);
// Adds copies of the chunks that a commit of a member stores. `copy` says which member it is.
void AddCopiesOfChunks(const Site& site, const MemberEntry& entry,
                       const format::CommitRecord& commit, const ObjectCopy& copy,
                       ObjectCopies& copies);

// Returns the last copies, in their order, as many as have this many bytes in all. Of several of
// one object the last one stays.
ObjectCopies LastCopies(ObjectCopies copies, int64_t nbytes);

// Returns the copies for a checkpoint, which has all commits of `ledger`: those of objects that are
// still referred to. `snapshot` is the ledger before it. `changed` are the members that get an
// index, of which no old one is copied, and `chunks_of` returns the numbers of the chunk files of
// such a member.
ObjectCopies CopiesOfCheckpoint(
    const Snapshot& snapshot, const Ledger& ledger, const std::set<std::string>& changed,
    const std::function<std::set<uint64_t>(const std::string& member)>& chunks_of);

// Returns the numbers of the chunk files that a state of a member refers to.
std::set<uint64_t> ChunkFilesOf(const frame::State& state);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_OBJECTS_KNOWN_COPIES_H_
