// The two layers of a collection's ledger: the table of all members, and the last commit. Each is a
// binary value of msgpack, so that python-blosc2 can show it. docs/collections.md describes them.
#ifndef CAIRN_ENGINE_COLLECTION_LEDGER_LEDGER_CODEC_H_
#define CAIRN_ENGINE_COLLECTION_LEDGER_LEDGER_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/collection/ledger/file_patch.h"
#include "engine/collection/ledger/object_copy.h"

namespace cairn::collection {

inline constexpr std::string_view kTableLayer("cairn.members");
inline constexpr std::string_view kCommitLayer("cairn.commit");

// The state of a member.
struct Position {
  uint64_t generation = 0;
  uint64_t hash = 0;        // of the commit record, or the identity of the checkpoint
  bool checkpoint = false;  // no commit follows the checkpoint
  bool operator==(const Position&) const = default;
};

// Says how the file of a member is called. The numbers are those of the ledger.
enum class MemberKind : uint8_t {
  kArray = 0,    // NAME.b2nd
  kOther = 2,    // NAME.b2f
  kBatches = 4,  // NAME.b2b: what a store of python-blosc2 calls a BatchArray
};
// Returns the end of the file's name. Empty for a number that no kind has.
std::string_view SuffixOf(MemberKind kind);
// Returns the kind of the member whose file has this name, or nothing.
std::optional<MemberKind> KindOfFile(std::string_view file);

struct MemberEntry {
  uint64_t id = 0;  // random, of the file
  MemberKind kind = MemberKind::kArray;
  Position position = {};
  bool operator==(const MemberEntry&) const = default;
};
// By name.
using MemberTable = absl::btree_map<std::string, MemberEntry, std::less<>>;

// An edit of a commit, and how the member was before.
struct PastEdit {
  // The numbers are those of the ledger. A checkpoint changes the position, and a copy of the
  // member may take its place. Neither changes content.
  enum class Kind : uint8_t {
    kAdded = 0,
    kRemoved = 1,
    kChanged = 2,
    kCheckpointed = 3,
    kReplaced = 4
  };
  std::string name;
  Kind kind = Kind::kAdded;
  MemberEntry before = {};  // of an added one nothing, of a changed one the position

  bool changes_content() const { return kind < Kind::kCheckpointed; }
  // Returns true if `before` is a whole entry.
  bool has_entry() const { return kind == Kind::kRemoved || kind == Kind::kReplaced; }
  bool operator==(const PastEdit&) const = default;
};
// Leads from the state after a commit to that of an older one.
struct PastCommit {
  uint64_t before = 0;  // number of the older one
  std::vector<PastEdit> edits = {};

  bool changes_content() const;
  bool operator==(const PastCommit&) const = default;
};

struct LedgerTable {
  uint64_t number = 0;  // of the last commit that it has
  // Most commits before the last one that are kept. Those that change no content do not count.
  uint64_t keep = 0;
  MemberTable members = {};
  // The last commits, the newest last. The states that they lead back to are kept. Only the last of
  // them may change no content: the next commit takes over its edits.
  std::vector<std::shared_ptr<const PastCommit>> past = {};

  uint64_t oldest_kept() const { return past.empty() ? number : past.front()->before; }
  bool operator==(const LedgerTable& other) const;
};

// A member that stays, and what its file gets.
struct MemberPart {
  std::string name;
  Position position = {};
  // The file was synced for this commit, because it got more than the ledger has copies of. Patches
  // of older commits are in it, and must not be written again: their place may have been used
  // again.
  bool synced = false;
  std::vector<FilePatch> patches = {};
  bool operator==(const MemberPart&) const = default;
};

struct AddedMember {
  std::string name;
  MemberEntry entry;
  // The commit removes a member of that name with the same content, whose place this one takes.
  bool replaces = false;
  bool operator==(const AddedMember&) const = default;
};

// A commit of the collection. Members are removed first, then added.
struct LedgerCommit {
  uint64_t number = 0;
  std::vector<std::string> removed = {};
  std::vector<AddedMember> added = {};
  std::vector<MemberPart> parts = {};
  ObjectCopies copies = {};  // in an object store
  bool operator==(const LedgerCommit&) const = default;
};

std::vector<std::byte> EncodeTable(const LedgerTable& table);
std::vector<std::byte> EncodeCommit(const LedgerCommit& commit);

// Errors: kDataLoss if the bytes are not such a layer; kUnimplemented if a newer version wrote it.
absl::StatusOr<LedgerTable> ParseTable(Bytes layer);
absl::StatusOr<LedgerCommit> ParseLedgerCommit(Bytes layer);

// Makes the table that of the next commit. Errors: kDataLoss if the commit does not fit.
absl::Status ApplyCommit(const LedgerCommit& commit, LedgerTable& table);
// Adds the newest commit to those that are kept. It takes over the edits of one before that changes
// no content.
void AddPast(PastCommit newest, LedgerTable& table);
// Keeps at most this many commits before the last one from now on.
void KeepPast(uint64_t commits, LedgerTable& table);
// Returns how many of the past commits change content.
size_t CountPast(const LedgerTable& table);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_LEDGER_LEDGER_CODEC_H_
