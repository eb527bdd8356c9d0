#include "tests/crash/model/collection/readers.h"

#include <cstddef>

namespace cairn::model {

bool CollectionReaders::AnyIn(Txn first, Txn end) const {
  for (const auto& [writer, kept] : kept_) {
    if (rules_.locks_kept && kept >= first && kept < end) return true;
  }
  for (const Reader& reader : readers_) {
    if (reader.in_entry && rules_.enters) return true;
    if (reader.lock.has_value() && *reader.lock >= first && *reader.lock < end) return true;
  }
  return false;
}

// After a failed sync the cache may lack what the next writer restores.
void CollectionReaders::Step() {
  if (!harm_.empty() || machine_.sync_failed()) return;
  if (readers_.size() < 3 && random_.Percent(12)) {
    readers_.emplace_back();
    if (random_.Percent(30)) readers_.back().pace = 4;
  }
  for (size_t i = 0; i < readers_.size();) {
    Reader& reader = readers_[i];
    const bool acts = random_.Percent(reader.pace);
    if (acts && reader.phase == Phase::kReads && random_.Percent(6)) {
      readers_.erase(readers_.begin() + static_cast<ptrdiff_t>(i));
      continue;
    }
    if (acts) Continue(reader);
    ++i;
  }
}

void CollectionReaders::Continue(Reader& reader) {
  if (reader.phase == Phase::kEnters) {
    Enter(reader);
  } else if (reader.phase == Phase::kKnows) {
    reader.lock = reader.ledger.newest;  // the one before ends
    reader.in_entry = false;
    reader.phase = Phase::kReads;
  } else if (random_.Percent(15)) {  // refreshes
    reader.in_entry = true;
    reader.phase = Phase::kEnters;
  } else {
    OpenSome(reader);
    for (const auto& [id, member] : reader.opened) Check(member);
  }
}

void CollectionReaders::Enter(Reader& reader) {
  reader.ledger = ReadLedger(machine_.files());
  if (!reader.ledger.opens) return Harm("the ledger does not open");
  if (reader.ledger.newest >= history_.states.size()) return Harm("a commit that was not made");
  const size_t kept = reader.ledger.past.size();
  if (kept > 0 && random_.Percent(40)) {
    reader.ledger = LedgerAt(reader.ledger, reader.ledger.past[random_.Below(kept)].txn);
  }
  reader.truth = history_.states[reader.ledger.newest];
  reader.opened.clear();
  reader.phase = Phase::kKnows;
  if (!rules_.locks_in_entry) reader.in_entry = false;
}

void CollectionReaders::OpenSome(Reader& reader) {
  if (reader.ledger.table.size() != reader.truth.size()) return Harm("other members");
  for (const auto& [id, entry] : reader.ledger.table) {
    if (reader.opened.contains(id) || !random_.Percent(40)) continue;
    // The newest ledger knows where a member that was moved is now.
    const std::vector<std::string> names = ReadLedger(machine_.files()).NamesOf(id);
    const MemberView member =
        ReadMember(machine_.files(), rules_, reader.ledger, id, entry, names, machine_.boot());
    if (!member.problem.empty()) return Harm(member.problem);
    const auto truth = reader.truth.find(id);
    if (truth == reader.truth.end() || truth->second.name != entry.name) {
      return Harm("another name");
    }
    if (truth->second.chunks != IdsOf(member.chunks)) return Harm("a state that was not committed");
    reader.opened[id] = member;
  }
}

// Indexes and chunks are read when they are needed.
void CollectionReaders::Check(const MemberView& member) {
  ++checks_;
  const Checkpoint* checkpoint = CheckpointAt(*member.file, member.checkpoint_slot);
  if (checkpoint == nullptr || checkpoint->id != member.checkpoint.id) Harm("an index is gone");
  for (const ChunkAt& chunk : member.chunks) {
    if (!member.copies.contains(chunk.id) && !ChunkIsAt(*member.file, chunk)) {
      Harm("a chunk is gone");
    }
  }
}

void CollectionReaders::Harm(const std::string& what) {
  if (harm_.empty()) harm_ = "reader: " + what;
}

}  // namespace cairn::model
