#include "tests/crash/model/collection/reading.h"

#include <algorithm>
#include <utility>

namespace cairn::model {

namespace {

const Cell& CellAt(const SlotFile& file, int slot) { return file.cache[static_cast<size_t>(slot)]; }

// A file with what the ledger has copies of.
class Patched {
 public:
  Patched(const SlotFile& file, const Checkpoint& checkpoint, const std::vector<const Part*>& parts)
      : file_(file) {
    for (const Part* part : parts) {
      if (part->record.generation <= checkpoint.generation) continue;
      records_[part->record.slot] = &part->record;
      for (const ChunkAt& chunk : part->taken_back) chunks_[chunk.slot] = chunk.id;
      for (const Edit& edit : part->record.edits) {
        if (edit.copied) chunks_[edit.chunk.slot] = edit.chunk.id;
      }
    }
  }
  explicit Patched(const SlotFile& file) : file_(file) {}

  const Record* RecordAt(int slot) const {
    const auto found = records_.find(slot);
    return found != records_.end() ? found->second : As<Record>(CellAt(file_, slot));
  }
  // A copy covers what the file has in its place.
  bool HasChunk(const ChunkAt& at) const {
    const auto copy = chunks_.find(at.slot);
    return copy != chunks_.end() ? copy->second == at.id : ChunkIsAt(file_, at);
  }

 private:
  const SlotFile& file_;
  std::map<int, const Record*> records_;  // by slot
  std::map<int, Id> chunks_;
};

// Follows the journal of the view's checkpoint up to a generation. A record that nothing vouches
// for counts if its chunks are there.
void Replay(const Patched& file, Generation last, uint64_t boot, MemberView& view) {
  const Checkpoint& checkpoint = view.checkpoint;
  view.chunks = checkpoint.chunks;
  view.used.clear();
  view.position = {checkpoint.generation, checkpoint.last};
  std::vector<const Record*> chain;
  size_t vouched = 0;
  Id previous = checkpoint.last;
  for (size_t i = 0; i + 1 < checkpoint.journal.size(); i += 2) {
    const Record* record = file.RecordAt(checkpoint.journal[i]);
    const bool follows = record != nullptr && record->base == checkpoint.base &&
                         record->previous == previous && record->generation <= last;
    if (!follows) break;
    chain.push_back(record);
    previous = record->id;
    const auto* receipt = As<Receipt>(CellAt(*view.file, checkpoint.journal[i + 1]));
    if (receipt == nullptr || receipt->record != record->id) continue;
    if (receipt->boot == boot) vouched = chain.size();
    for (size_t j = 0; j < chain.size(); ++j) {
      if (chain[j]->generation <= receipt->durable) vouched = std::max(vouched, j + 1);
    }
  }
  for (size_t i = 0; i < chain.size(); ++i) {
    const auto is_there = [&](const Edit& edit) { return file.HasChunk(edit.chunk); };
    if (i >= vouched && !std::ranges::all_of(chain[i]->edits, is_there)) return;
    ApplyEdits(*chain[i], view.chunks);
    view.used.push_back(*chain[i]);
    view.position = {chain[i]->generation, chain[i]->id};
  }
}

// Begins at the newest checkpoint that the generation follows, if the file still has one.
bool GoToCheckpointBefore(Generation generation, MemberView& view) {
  while (view.checkpoint.generation > generation) {
    const Checkpoint* previous = view.checkpoint.previous == 0
                                     ? nullptr
                                     : CheckpointAt(*view.file, view.checkpoint.previous);
    if (previous == nullptr || previous->id != view.checkpoint.previous_id) return false;
    view.checkpoint_slot = view.checkpoint.previous;
    view.checkpoint = Checkpoint(*previous);
  }
  return true;
}

void BeginAtNewest(MemberView& view) {
  view.checkpoint = *CheckpointOf(*view.file);
  view.checkpoint_slot = As<Header>(view.file->cache[0])->checkpoint;
}

// Fails unless all chunks can be read.
void CheckChunks(const Patched& file, MemberView& view) {
  for (const ChunkAt& chunk : view.chunks) {
    if (!file.HasChunk(chunk)) view.problem = "a chunk is damaged";
    if (!ChunkIsAt(*view.file, chunk)) view.copies.insert(chunk.id);
  }
}

}  // namespace

std::string AsideName(MemberId id) { return ".cairn/" + std::to_string(id); }

bool IsMemberName(const std::string& name) {
  return name != kLedgerName && !name.starts_with(".cairn/");
}

const Checkpoint* CheckpointAt(const SlotFile& file, int slot) {
  return As<Checkpoint>(CellAt(file, slot));
}

const Checkpoint* CheckpointOf(const SlotFile& file) {
  const auto* header = As<Header>(file.cache[0]);
  return header == nullptr ? nullptr : CheckpointAt(file, header->checkpoint);
}

bool ChunkIsAt(const SlotFile& file, const ChunkAt& at) {
  const auto* chunk = As<Chunk>(CellAt(file, at.slot));
  return chunk != nullptr && chunk->id == at.id;
}

std::vector<Id> IdsOf(const std::vector<ChunkAt>& chunks) {
  std::vector<Id> ids;
  for (const ChunkAt& chunk : chunks) ids.push_back(chunk.id);
  return ids;
}

void ApplyEdits(const Record& record, std::vector<ChunkAt>& chunks) {
  for (const Edit& edit : record.edits) {
    if (edit.position < chunks.size()) {
      chunks[edit.position] = edit.chunk;
    } else {
      chunks.push_back(edit.chunk);
    }
  }
}

std::vector<const Part*> Ledger::PartsOf(MemberId member, const CollectionRules& rules) const {
  std::vector<const Part*> parts;
  for (const LedgerRecord& commit : records) {
    for (const Part& part : commit.parts) {
      if (part.member != member || !part.copied) continue;
      if (part.synced && rules.syncs_void_copies) parts.clear();
      parts.push_back(&part);
    }
  }
  return parts;
}

std::vector<std::string> Ledger::NamesOf(MemberId member) const {
  std::vector<std::string> names;
  const auto add = [&](const Table& each) {
    const auto entry = each.find(member);
    if (entry != each.end()) names.push_back(entry->second.name);
  };
  add(table);
  add(checkpoint.table);
  for (const LedgerRecord& commit : records) {
    for (const NameEdit& edit : commit.names) {
      if (edit.member != member) continue;
      for (const std::string& name : {edit.from, edit.to}) {
        if (!name.empty()) names.push_back(name);
      }
    }
  }
  return names;
}

bool Ledger::keeps(MemberId member) const {
  return std::ranges::any_of(past,
                             [&](const KeptState& each) { return each.table.contains(member); });
}

void KeepPast(size_t commits, Ledger& ledger) {
  ledger.keep = commits;
  const size_t most = commits + (commits > 0 && ledger.is_quiet ? 1 : 0);
  if (ledger.past.size() <= most) return;
  ledger.past.erase(ledger.past.begin(), ledger.past.end() - static_cast<ptrdiff_t>(most));
}

void ApplyTo(const LedgerRecord& commit, Ledger& ledger) {
  Table& table = ledger.table;
  // Nobody comes to the state after a commit without content that another one follows.
  const bool is_joined = ledger.is_quiet && !ledger.past.empty();
  if (!is_joined) ledger.past.push_back({.txn = commit.txn - 1, .table = table});
  ledger.is_quiet = commit.is_quiet;
  KeepPast(ledger.keep, ledger);
  for (const NameEdit& edit : commit.names) {
    if (edit.to.empty()) {
      table.erase(edit.member);
    } else {
      Entry& entry = table[edit.member];
      entry.name = edit.to;
      if (edit.from.empty()) entry.position = edit.position;
    }
  }
  const auto set = [&](MemberId member, const Position& position) {
    const auto entry = table.find(member);
    if (entry != table.end()) entry->second.position = position;
  };
  for (const Checkpointed& each : commit.checkpoints) set(each.member, each.position);
  for (const Part& part : commit.parts) {
    set(part.member, {part.record.generation, part.record.id});
  }
}

Ledger ReadLedger(const Files& files) {
  Ledger ledger;
  const auto found = files.find(kLedgerName);
  if (found == files.end()) return ledger;
  const SlotFile& file = *found->second;
  const auto* header = As<Header>(file.cache[0]);
  const auto* checkpoint =
      header == nullptr ? nullptr : As<LedgerCheckpoint>(CellAt(file, header->checkpoint));
  if (checkpoint == nullptr) return ledger;
  ledger.opens = true;
  ledger.checkpoint = *checkpoint;
  ledger.table = checkpoint->table;
  ledger.keep = checkpoint->keep;
  ledger.past = checkpoint->past;
  ledger.is_quiet = checkpoint->is_quiet;
  ledger.newest = checkpoint->txn;
  ledger.last = checkpoint->id;
  for (const int slot : checkpoint->journal) {
    const auto* record = As<LedgerRecord>(CellAt(file, slot));
    const bool follows =
        record != nullptr && record->base == checkpoint->id && record->previous == ledger.last;
    if (!follows) break;
    ledger.records.push_back(*record);
    ledger.newest = record->txn;
    ledger.last = record->id;
    ApplyTo(*record, ledger);
  }
  return ledger;
}

Ledger LedgerAt(const Ledger& newest, Txn txn) {
  if (txn == newest.newest) return newest;
  Ledger ledger = newest;
  ledger.table =
      std::ranges::find(newest.past, txn, [](const KeptState& each) { return each.txn; })->table;
  ledger.newest = txn;
  ledger.past.clear();
  std::erase_if(ledger.records, [&](const LedgerRecord& commit) { return commit.txn > txn; });
  return ledger;
}

FilePtr FindMember(const Files& files, const CollectionRules& rules, MemberId id,
                   std::vector<std::string> names) {
  if (rules.looks_aside) names.push_back(AsideName(id));
  for (const std::string& name : names) {
    const auto found = files.find(name);
    if (found == files.end()) continue;
    const Checkpoint* checkpoint = CheckpointOf(*found->second);
    if (checkpoint == nullptr) continue;
    if (!rules.checks_position || checkpoint->member == id) return found->second;
  }
  return nullptr;
}

MemberView ReadMember(const Files& files, const CollectionRules& rules, const Ledger& ledger,
                      MemberId id, const Entry& entry, const std::vector<std::string>& more_names,
                      uint64_t boot) {
  MemberView view;
  std::vector<std::string> names = {entry.name};
  names.insert(names.end(), more_names.begin(), more_names.end());
  view.file = FindMember(files, rules, id, names);
  if (view.file == nullptr) {
    view.problem = "the file is missing or another one";
    return view;
  }
  BeginAtNewest(view);
  if (view.checkpoint.foreign && rules.tells_foreign) {
    view.problem = "edited by another Blosc2";
    return view;
  }
  const Generation wanted = entry.position.generation;
  const Patched plain(*view.file);
  if (!rules.stops_at_position) {
    Replay(plain, UINT64_MAX, boot, view);
    CheckChunks(plain, view);
    return view;
  }
  if (!GoToCheckpointBefore(wanted, view)) {
    view.problem = "no checkpoint of so old a state";
    return view;
  }
  Replay(plain, wanted, boot, view);
  const Patched patched(*view.file, view.checkpoint, ledger.PartsOf(id, rules));
  const bool lacks = view.position.generation < wanted && rules.overlays;
  if (lacks) Replay(patched, wanted, boot, view);
  CheckChunks(lacks ? patched : plain, view);
  const bool fits = view.position.generation == wanted &&
                    (!rules.checks_position || view.position.record == entry.position.record);
  if (!fits && view.problem.empty()) view.problem = "the member lacks a commit";
  return view;
}

MemberView ReadAlone(const FilePtr& file, uint64_t boot) {
  MemberView view;
  view.file = file;
  BeginAtNewest(view);
  Replay(Patched(*file), UINT64_MAX, boot, view);
  return view;
}

}  // namespace cairn::model
