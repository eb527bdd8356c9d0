// Objects that the files of a collection hold in the model. A file is an array of slots, and a
// write fills one slot. Ids stand for hashes: equal ids mean equal bytes.
#ifndef CAIRN_TESTS_CRASH_MODEL_COLLECTION_OBJECTS_H_
#define CAIRN_TESTS_CRASH_MODEL_COLLECTION_OBJECTS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace cairn::model {

using Id = uint64_t;          // of each object that is written
using Txn = uint64_t;         // number of a commit of the collection
using Generation = uint64_t;  // of a member
using MemberId = uint64_t;    // of a member's file

constexpr int kSlots = 48;  // of a file; slot 0 is the header
constexpr size_t kMemberJournal = 3;
constexpr size_t kLedgerJournal = 5;

struct Header {
  int checkpoint = 0;
};
struct Chunk {
  Id id = 0;
};
struct ChunkAt {
  int slot = 0;
  Id id = 0;
};
// Replaces a chunk, or appends one at the end.
struct Edit {
  size_t position = 0;
  ChunkAt chunk;
  bool copied = false;  // the ledger's record has the chunk
};
struct Record {
  Id id = 0;
  Id base = 0;
  Id previous = 0;
  Generation generation = 0;
  std::vector<Edit> edits = {};
  int slot = 0;
  int receipt_slot = 0;
};
struct Receipt {
  Id record = 0;
  uint64_t boot = 0;
  Generation durable = 0;
};
// Bytes that states of [born, died) need.
struct Dead {
  int slot = 0;
  Generation born = 0;
  Generation died = 0;
};
struct Checkpoint {
  Id id = 0;
  MemberId member = 0;
  Generation generation = 0;
  std::vector<ChunkAt> chunks = {};
  // The journal that follows. A checkpoint that was made beside commits inherits one.
  Id base = 0;
  Id last = 0;                    // the record whose state this is, or the checkpoint itself
  std::vector<int> journal = {};  // two slots for each record: its own and its receipt's
  int previous = 0;               // slot of the checkpoint before
  Id previous_id = 0;
  std::vector<Dead> dead = {};
  bool foreign = false;  // another Blosc2 wrote it
};

// Position of a member: a generation, and the record that made it.
struct Position {
  Generation generation = 0;
  Id record = 0;
};
struct Entry {
  std::string name;
  Position position;
};
using Table = std::map<MemberId, Entry>;

// A commit of one member. The ledger has a copy of the record, and of the chunks that are small.
struct Part {
  MemberId member = 0;
  Record record;
  bool copied = true;
  // Small chunks that the commit itself replaced. The ledger has copies, but their place is free.
  std::vector<ChunkAt> taken_back = {};
  bool synced = false;  // the member, for chunks of which the ledger has no copy
};
struct NameEdit {
  MemberId member = 0;
  std::string from = {};  // empty: it is new
  std::string to = {};    // empty: it is removed
  Position position = {};
};
// A checkpoint of a member since the ledger's record before. The content is the same.
struct Checkpointed {
  MemberId member = 0;
  Position position;
};
// A state that is kept.
struct KeptState {
  Txn txn = 0;
  Table table = {};
};
struct LedgerRecord {
  Id id = 0;
  Id base = 0;
  Id previous = 0;
  Txn txn = 0;
  std::vector<Checkpointed> checkpoints = {};
  std::vector<Part> parts = {};
  std::vector<NameEdit> names = {};
  bool is_quiet = false;  // changes no content
};
struct LedgerCheckpoint {
  Id id = 0;
  Txn txn = 0;
  Table table = {};
  std::vector<int> journal = {};
  size_t keep = 0;                   // most commits before the newest that are kept
  std::vector<KeptState> past = {};  // after each of these commits, the newest last
  bool is_quiet = false;             // the newest commit changes no content
};

using Object =
    std::variant<Header, Chunk, Record, Receipt, Checkpoint, LedgerRecord, LedgerCheckpoint>;
using Cell = std::shared_ptr<const Object>;  // null: nothing, or torn

template <typename T>
const T* As(const Cell& cell) {
  return cell == nullptr ? nullptr : std::get_if<T>(cell.get());
}
template <typename T>
Cell Make(T value) {
  return std::make_shared<const Object>(std::move(value));
}

// The content that a member was given, by the truth of the test.
struct MemberTruth {
  std::string name;
  std::vector<Id> chunks = {};
  auto operator<=>(const MemberTruth&) const = default;
};
using Truth = std::map<MemberId, MemberTruth>;

struct History {
  std::vector<Truth> states = {Truth()};  // by transaction
  Txn acknowledged = 0;
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_COLLECTION_OBJECTS_H_
