#include "tests/crash/model/collection/writer.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cairn::model {

namespace {

constexpr int kFirstLedgerSlot = 1;
constexpr int kOtherLedgerSlot = 20;

std::vector<int> LedgerJournalAfter(int slot) {
  std::vector<int> journal;
  for (size_t i = 1; i <= kLedgerJournal; ++i) journal.push_back(slot + static_cast<int>(i));
  return journal;
}

// Bytes of a member of which the ledger has a copy: a record or a chunk.
struct Copy {
  int slot = 0;
  Id id = 0;
  Cell cell;
};

bool IsThere(const Cell& here, const Copy& copy) {
  const auto* record = As<Record>(here);
  const auto* chunk = As<Chunk>(here);
  return (record != nullptr && record->id == copy.id) || (chunk != nullptr && chunk->id == copy.id);
}

}  // namespace

void CollectionWriter::CreateCollection(Machine& machine, Id& ids) {
  const FilePtr file = machine.Create(kLedgerName);
  const LedgerCheckpoint checkpoint{.id = ++ids, .journal = LedgerJournalAfter(kFirstLedgerSlot)};
  machine.Write(*file, kFirstLedgerSlot, Make(checkpoint));
  machine.Write(*file, 0, Make(Header{kFirstLedgerSlot}));
  machine.Sync(*file);
  machine.SyncNames();
}

// Stops the writer after a failure, and tells whether it goes on.
bool CollectionWriter::Need(bool succeeded) {
  if (!succeeded && site_.rules.stops_after_failure) stopped_ = true;
  return running();
}

std::string CollectionWriter::Open() {
  ledger_ = ReadLedger(site_.machine.files());
  if (!ledger_.opens) return "the ledger does not open";
  ledger_file_ = site_.machine.files().at(kLedgerName);
  ConfirmLedger();
  if (!running()) return "";
  std::set<MemberId> touched;
  for (const LedgerRecord& commit : ledger_.records) {
    for (const Part& part : commit.parts) {
      const bool is_kept = site_.rules.redoes_removed && ledger_.keeps(part.member);
      if (is_kept || ledger_.table.contains(part.member)) touched.insert(part.member);
    }
  }
  for (const MemberId id : touched) {
    const FilePtr file = Redo(id);
    if (!ledger_.table.contains(id)) {
      if (file != nullptr && !Need(site_.machine.Sync(*file))) return "";
    } else if (site_.rules.confirms_members && OpenMember(id) == nullptr) {
      return problem_;
    }
  }
  if (site_.rules.names_redone) PlaceNames();
  if (running()) Keep(site_.random.Percent(50) ? ledger_.keep : site_.random.Below(5));
  LetMembersGo();
  return problem_;
}

void CollectionWriter::Keep(size_t commits) {
  const bool changes = commits != ledger_.keep;
  KeepPast(commits, ledger_);
  if (changes && site_.rules.lists_kept_first) WriteLedgerCheckpoint();
  if (running() && commits > 0) site_.readers.Keep(this, ledger_.oldest());
}

// Returns since which commits that are kept the ledger lists the generations of the member.
MemberWriter::Listed CollectionWriter::ListedOf(MemberId id) const {
  MemberWriter::Listed listed;
  const auto note = [&](Txn txn, const Table& table) {
    const auto entry = table.find(id);
    if (entry != table.end()) listed.emplace_back(txn, entry->second.position.generation);
  };
  for (const KeptState& state : ledger_.past) note(state.txn, state.table);
  note(ledger_.newest, ledger_.table);
  if (!site_.rules.lists_generations) listed = {{ledger_.oldest(), listed.back().second}};
  return listed;
}

// Writes again what may be in the page cache alone.
void CollectionWriter::ConfirmLedger() {
  const std::vector<int>& journal = ledger_.checkpoint.journal;
  const auto again = [&](int slot) {
    site_.machine.Write(*ledger_file_, slot, ledger_file_->cache[static_cast<size_t>(slot)]);
  };
  const size_t next = ledger_.records.size();
  if (site_.rules.confirms_ledger) {
    again(0);
    for (size_t i = 0; i < next; ++i) again(journal[i]);
  }
  if (site_.rules.cuts_tail && next < journal.size()) {
    site_.machine.Write(*ledger_file_, journal[next], nullptr);
  }
  if (site_.rules.confirms_ledger) Need(site_.machine.Sync(*ledger_file_));
}

// Writes to a member what the ledger has copies of.
FilePtr CollectionWriter::Redo(MemberId id) {
  FilePtr file = FindMember(site_.machine.files(), site_.rules, id, ledger_.NamesOf(id));
  if (file == nullptr || !site_.rules.redoes) return file;
  const Checkpoint* checkpoint = CheckpointOf(*file);
  std::vector<Copy> copies;
  for (const Part* part : ledger_.PartsOf(id, site_.rules)) {
    const Record& record = part->record;
    if (site_.rules.redoes_only_newer && record.generation <= checkpoint->generation) continue;
    copies.push_back({.slot = record.slot, .id = record.id, .cell = Make(record)});
    std::vector<ChunkAt> chunks = part->taken_back;
    for (const Edit& edit : record.edits) {
      if (edit.copied) chunks.push_back(edit.chunk);
    }
    for (const ChunkAt& chunk : chunks) {
      copies.push_back({.slot = chunk.slot, .id = chunk.id, .cell = Make(Chunk{chunk.id})});
    }
  }
  for (auto copy = copies.begin(); copy != copies.end(); ++copy) {
    const auto is_here = [&](const Copy& later) { return later.slot == copy->slot; };
    const bool is_covered = std::any_of(copy + 1, copies.end(), is_here);
    const Cell here = file->cache[static_cast<size_t>(copy->slot)];
    const bool is_there = IsThere(here, *copy);
    if (is_covered && site_.rules.redoes_last) continue;
    if (is_there && !site_.rules.redoes_present) continue;
    site_.machine.Write(*file, copy->slot, is_there ? here : copy->cell);
  }
  return file;
}

MemberWriter* CollectionWriter::OpenMember(MemberId id) {
  std::unique_ptr<MemberWriter>& member = members_[id];
  if (member != nullptr) return member.get();
  const Entry& entry = ledger_.table.at(id);
  MemberView view = ReadMember(site_.machine.files(), site_.rules, ledger_, id, entry,
                               ledger_.NamesOf(id), site_.machine.boot());
  if (!view.problem.empty()) {
    if (running() && problem_.empty()) problem_ = view.problem;
    stopped_ = true;
    return nullptr;
  }
  // A checkpoint may follow that position, and holds the same.
  view = ReadAlone(view.file, site_.machine.boot());
  member = std::make_unique<MemberWriter>(site_, std::move(view), ListedOf(id));
  if (!Need(member->Confirm())) return nullptr;
  return member.get();
}

void CollectionWriter::Act() {
  const uint64_t action = site_.random.Below(100);
  if (action < 55) {
    Commit(false);
  } else if (action < 70) {
    Commit(true);
  } else if (action < 90) {
    CheckpointSomeMember();
  } else {
    CheckpointLedger();
  }
}

void CollectionWriter::Close() {
  for (const auto& [id, entry] : Table(ledger_.table)) {
    MemberWriter* const member = running() ? OpenMember(id) : nullptr;
    if (member == nullptr || !Need(member->WriteCheckpoint())) return;
  }
  if (ledger_.records.size() == kLedgerJournal) CheckpointLedger();
  if (!running()) return;
  // A commit without edits.
  LedgerRecord commit = NextRecord();
  commit.is_quiet = true;
  ListCheckpoints(commit);
  history_.states.push_back(Truth(history_.states.back()));
  WriteLedger(commit);
  CheckpointLedger();
  if (running()) history_.acknowledged = ledger_.newest;
}

LedgerRecord CollectionWriter::NextRecord() {
  return {.id = ++site_.ids,
          .base = ledger_.checkpoint.id,
          .previous = ledger_.last,
          .txn = ledger_.newest + 1};
}

void CollectionWriter::Commit(bool changes_names) {
  if (ledger_.records.size() == kLedgerJournal) CheckpointLedger();
  if (!running()) return;
  LedgerRecord commit = NextRecord();
  Truth truth = history_.states.back();
  std::set<MemberId> busy;
  if (changes_names) ChooseNames(commit, truth, busy);
  // 1. Chunks of which the ledger gets no copy.
  for (const auto& [id, part] : staged_) AddPart(part, commit, truth);
  for (const auto& [id, entry] : ledger_.table) {
    if (holders_ != nullptr || busy.contains(id) || !site_.random.Percent(60)) continue;
    if (!StagePart(id, commit, truth)) return;
  }
  if (commit.parts.empty() && commit.names.empty()) return;
  if (!commit.parts.empty()) commit.is_quiet = false;
  if (site_.rules.direct_first && !SyncStaged(commit)) return;
  if (!site_.rules.names_after_commit) Rename(commit.names);
  if (!site_.rules.ledger_first) PublishParts(commit);
  if (!running()) return;
  // 2. The ledger decides.
  ListCheckpoints(commit);
  history_.states.push_back(truth);
  WriteLedger(commit);
  if (!running()) return;
  if (!site_.rules.direct_first && !SyncStaged(commit)) return;
  // 3. Records and copied chunks.
  if (site_.rules.ledger_first) PublishParts(commit);
  // 4. Names.
  if (site_.rules.names_after_commit) Rename(commit.names);
  for (const NameEdit& edit : commit.names) {
    const auto member = members_.find(edit.member);
    if (!edit.to.empty() || member == members_.end()) continue;
    // The ledger's next checkpoint will not know that older commits need the file.
    if (ledger_.keep > 0 && site_.rules.syncs_removed) Need(member->second->Sync());
    members_.erase(member);
  }
  if (running()) history_.acknowledged = ledger_.newest;
  RemoveAside();
}

// Lists positions of members that got a checkpoint, except those that the commit changes.
void CollectionWriter::ListCheckpoints(LedgerRecord& commit) {
  for (const auto& [id, member] : members_) {
    const auto is_this = [id = id](const Part& part) { return part.member == id; };
    const bool changes = std::ranges::any_of(commit.parts, is_this);
    const std::optional<Position> position = member->Unlisted();
    if (changes || !position.has_value()) continue;
    commit.checkpoints.push_back({.member = id, .position = *position});
    member->NoteListed(commit.txn);
  }
}

bool CollectionWriter::StagePart(MemberId id, LedgerRecord& commit, Truth& truth) {
  MemberWriter* const member = OpenMember(id);
  if (member == nullptr) return false;
  if (!member->has_room() && !Need(member->WriteCheckpoint())) return false;
  if (!member->has_room()) return true;
  Part part = member->Stage();
  part.member = id;
  part.copied = site_.rules.copies_records;
  AddPart(part, commit, truth);
  return running();
}

void CollectionWriter::AddPart(const Part& part, LedgerRecord& commit, Truth& truth) const {
  std::vector<ChunkAt> chunks = members_.at(part.member)->chunks();
  ApplyEdits(part.record, chunks);
  truth[part.member].chunks = IdsOf(chunks);
  commit.parts.push_back(part);
}

// All of these syncs run at the same time.
bool CollectionWriter::SyncStaged(const LedgerRecord& commit) {
  if (!site_.rules.syncs_direct) return running();
  for (const Part& part : commit.parts) {
    MemberWriter& member = *members_.at(part.member);
    if (member.needs_sync() && !Need(member.Sync())) return false;
  }
  return running();
}

void CollectionWriter::WriteLedger(const LedgerRecord& commit) {
  const size_t number = ledger_.records.size();
  site_.machine.Write(*ledger_file_, ledger_.checkpoint.journal[number], Make(commit));
  ledger_.records.push_back(commit);
  ledger_.newest = commit.txn;
  ledger_.last = commit.id;
  ApplyTo(commit, ledger_);
  if (site_.rules.syncs_ledger) Need(site_.machine.Sync(*ledger_file_));
  if (running() && ledger_.keep > 0) site_.readers.Keep(this, ledger_.oldest());
}

void CollectionWriter::PublishParts(const LedgerRecord& commit) {
  for (const Part& part : commit.parts) {
    members_.at(part.member)->Publish(part.record, commit.txn);
  }
}

void CollectionWriter::ChooseNames(LedgerRecord& commit, Truth& truth, std::set<MemberId>& busy) {
  std::set<std::string> free = {"a", "b", "c"};
  std::vector<MemberId> members;
  for (const auto& [id, entry] : ledger_.table) {
    free.erase(entry.name);
    if (!IsHeldByOther(id) && !staged_.contains(id)) members.push_back(id);
  }
  const auto name_of = [&](MemberId id) { return ledger_.table.at(id).name; };
  const auto rename = [&](MemberId id, const std::string& to) {
    commit.names.push_back({.member = id, .from = name_of(id), .to = to});
    if (to.empty()) {
      truth.erase(id);
    } else {
      truth[id].name = to;
    }
    busy.insert(id);
  };
  const uint64_t kind = site_.random.Below(5);
  if (kind == 0 && members.size() >= 2) {  // two members swap their names
    const std::string other = name_of(members[1]);
    rename(members[1], name_of(members[0]));
    rename(members[0], other);
  } else if (kind == 1 && !members.empty() && !free.empty()) {
    rename(members[site_.random.Below(members.size())], *free.begin());
  } else if (kind == 2 && !members.empty()) {  // compacts: a copy replaces the member
    const MemberId old = members[site_.random.Below(members.size())];
    const std::vector<Id> chunks = truth[old].chunks;
    const std::string name = name_of(old);
    rename(old, "");
    AddMember(name, chunks, commit, truth, busy);
    commit.is_quiet = true;
  } else if (kind == 3 && !members.empty()) {
    const MemberId old = members[site_.random.Below(members.size())];
    const std::string name = name_of(old);
    rename(old, "");
    if (site_.random.Percent(50)) AddMember(name, {}, commit, truth, busy);
  } else if (!free.empty()) {
    AddMember(*free.begin(), {}, commit, truth, busy);
  }
}

void CollectionWriter::AddMember(const std::string& name, const std::vector<Id>& chunks,
                                 LedgerRecord& commit, Truth& truth, std::set<MemberId>& busy) {
  const MemberId id = ++site_.ids;
  const std::string aside = AsideName(id);
  const Position position = CreateMember(site_, id, chunks, aside);
  if (site_.rules.syncs_new_files && running()) {
    Need(site_.machine.Sync(*site_.machine.files().at(aside)));
    site_.machine.SyncNames();
  }
  commit.names.push_back({.member = id, .to = name, .position = position});
  truth[id] = {.name = name, .chunks = chunks};
  busy.insert(id);
}

// All old names go before the new ones come, so swaps and replacements need no order.
void CollectionWriter::Rename(const std::vector<NameEdit>& edits) {
  for (const NameEdit& edit : edits) {
    if (!edit.from.empty()) site_.machine.Rename(edit.from, AsideName(edit.member));
  }
  for (const NameEdit& edit : edits) {
    if (!edit.to.empty()) site_.machine.Rename(AsideName(edit.member), edit.to);
  }
}

// Gives files the names that the ledger has, after a writer died between its commit and that.
void CollectionWriter::PlaceNames() {
  std::map<std::string, MemberId> wanted;
  for (const auto& [id, entry] : ledger_.table) wanted[entry.name] = id;
  for (const auto& [name, file] : Files(site_.machine.files())) {
    const Checkpoint* checkpoint = IsMemberName(name) ? CheckpointOf(*file) : nullptr;
    if (checkpoint == nullptr) continue;
    const auto here = wanted.find(name);
    if (here != wanted.end() && here->second == checkpoint->member) continue;
    site_.machine.Rename(name, AsideName(checkpoint->member));
  }
  for (const auto& [id, entry] : ledger_.table) {
    if (site_.machine.files().contains(AsideName(id))) {
      site_.machine.Rename(AsideName(id), entry.name);
    }
  }
}

void CollectionWriter::RemoveAside() {
  if (site_.rules.keeps_removed && site_.readers.AnyIn(0, ledger_.oldest())) return;
  // Readers may have found a state that nobody comes to any more.
  const bool is_between = site_.rules.keeps_removed_between &&
                          site_.readers.AnyIn(ledger_.oldest() + 1, ledger_.newest);
  for (const auto& [name, file] : Files(site_.machine.files())) {
    const Checkpoint* checkpoint = name.starts_with(".cairn/") ? CheckpointOf(*file) : nullptr;
    const bool is_member = checkpoint != nullptr && ledger_.table.contains(checkpoint->member);
    const bool is_kept = checkpoint != nullptr && site_.rules.keeps_removed_past &&
                         ledger_.keeps(checkpoint->member);
    if (name.starts_with(".cairn/") && !is_member && !is_kept && !is_between) {
      site_.machine.Remove(name);
    }
  }
}

void CollectionWriter::CheckpointSomeMember() {
  if (ledger_.table.empty()) return;
  auto entry = ledger_.table.begin();
  std::advance(entry, static_cast<ptrdiff_t>(site_.random.Below(ledger_.table.size())));
  MemberWriter* const member = OpenMember(entry->first);
  if (member == nullptr) return;
  if (member->has_begun()) {
    Need(member->EndCheckpoint());
  } else if (site_.random.Percent(40)) {
    member->BeginCheckpoint();
  } else {
    Need(member->WriteCheckpoint());
  }
}

void CollectionWriter::CheckpointLedger() {
  if (!ledger_.records.empty() && running()) WriteLedgerCheckpoint();
}

void CollectionWriter::WriteLedgerCheckpoint() {
  std::set<MemberId> touched;
  for (const LedgerRecord& commit : ledger_.records) {
    for (const Part& part : commit.parts) touched.insert(part.member);
  }
  for (const MemberId id : touched) {
    const auto member = members_.find(id);
    if (member == members_.end()) {
      if (holders_ != nullptr && !CompleteFree(id)) return;
    } else if (site_.rules.syncs_before_cut && !Need(member->second->Sync())) {
      return;
    }
  }
  if (site_.rules.syncs_names_before_cut) site_.machine.SyncNames();
  const int old = As<Header>(ledger_file_->cache[0])->checkpoint;
  const int slot = old == kFirstLedgerSlot ? kOtherLedgerSlot : kFirstLedgerSlot;
  const LedgerCheckpoint next{.id = ++site_.ids,
                              .txn = ledger_.newest,
                              .table = ledger_.table,
                              .journal = LedgerJournalAfter(slot),
                              .keep = ledger_.keep,
                              .past = ledger_.past,
                              .is_quiet = ledger_.is_quiet};
  site_.machine.Write(*ledger_file_, slot, Make(next));
  if (!Need(site_.machine.Sync(*ledger_file_))) return;
  site_.machine.Write(*ledger_file_, 0, Make(Header{slot}));
  if (!Need(site_.machine.Sync(*ledger_file_))) return;
  ledger_.checkpoint = next;
  ledger_.records.clear();
  ledger_.last = next.id;
  RemoveAside();
}

}  // namespace cairn::model
