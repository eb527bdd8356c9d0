// Reads a collection in the model: the ledger, and members at a position.
#ifndef CAIRN_TESTS_CRASH_MODEL_COLLECTION_READING_H_
#define CAIRN_TESTS_CRASH_MODEL_COLLECTION_READING_H_

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/crash/model/collection/machine.h"
#include "tests/crash/model/collection/objects.h"
#include "tests/crash/model/collection/rules.h"

namespace cairn::model {

inline constexpr char kLedgerName[] = "embed.b2e";

// The name of a file that has no name in the collection yet, or no longer.
std::string AsideName(MemberId id);
bool IsMemberName(const std::string& name);

const Checkpoint* CheckpointAt(const SlotFile& file, int slot);
// Returns the checkpoint that the header leads to, or null.
const Checkpoint* CheckpointOf(const SlotFile& file);
bool ChunkIsAt(const SlotFile& file, const ChunkAt& at);
std::vector<Id> IdsOf(const std::vector<ChunkAt>& chunks);
void ApplyEdits(const Record& record, std::vector<ChunkAt>& chunks);

// The state of the ledger. It is an ordinary frame, so an intact chain of records is a prefix of
// what was committed.
struct Ledger {
  bool opens = false;
  LedgerCheckpoint checkpoint;
  std::vector<LedgerRecord> records;  // since the checkpoint
  Txn newest = 0;
  Id last = 0;
  Table table;
  size_t keep = 0;
  std::vector<KeptState> past;  // after the commits before the newest that are kept
  bool is_quiet = false;        // the newest commit changes no content, and does not count

  Txn oldest() const { return past.empty() ? newest : past.front().txn; }
  bool keeps(MemberId member) const;  // for an older commit
  // Returns the commits of the member since the ledger's checkpoint that its file may lack.
  std::vector<const Part*> PartsOf(MemberId member, const CollectionRules& rules) const;
  std::vector<std::string> NamesOf(MemberId member) const;
};
Ledger ReadLedger(const Files& files);
// Returns the state after a commit that is kept.
Ledger LedgerAt(const Ledger& newest, Txn txn);
void ApplyTo(const LedgerRecord& commit, Ledger& ledger);
// Keeps at most this many commits before the newest.
void KeepPast(size_t commits, Ledger& ledger);

struct MemberView {
  std::string problem;  // why it cannot be read; empty: it can
  FilePtr file;
  Checkpoint checkpoint;
  int checkpoint_slot = 0;
  std::vector<ChunkAt> chunks;
  std::set<Id> copies;       // chunks that are taken from the ledger
  std::vector<Record> used;  // records of the journal
  Position position;
};

// Looks for the member under these names and aside.
FilePtr FindMember(const Files& files, const CollectionRules& rules, MemberId id,
                   std::vector<std::string> names);
// Reads the member at the position that the ledger lists.
MemberView ReadMember(const Files& files, const CollectionRules& rules, const Ledger& ledger,
                      MemberId id, const Entry& entry, const std::vector<std::string>& more_names,
                      uint64_t boot);
// Returns the newest state of a member that is opened alone.
MemberView ReadAlone(const FilePtr& file, uint64_t boot);

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_COLLECTION_READING_H_
