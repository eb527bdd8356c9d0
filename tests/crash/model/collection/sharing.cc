// The writers of a collection that share it. One acts at a time, and any may die in its turn.
#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "tests/crash/model/collection/writer.h"

namespace cairn::model {

CollectionWriter::~CollectionWriter() {
  LetMembersGo();
  site_.readers.LetGo(this);
}

bool CollectionWriter::IsHeldByOther(MemberId id) const {
  if (holders_ == nullptr || !site_.rules.asks_for_names) return false;
  const auto holder = holders_->find(id);
  return holder != holders_->end() && holder->second != this;
}

void CollectionWriter::LetMembersGo() {
  if (holders_ == nullptr) return;
  std::erase_if(*holders_, [&](const auto& held) { return held.second == this; });
  members_.clear();
  staged_.clear();
}

// Reads what others have committed. Their last turn may have left it in the page cache alone.
bool CollectionWriter::TakeTurn() {
  const Ledger before = std::exchange(ledger_, ReadLedger(site_.machine.files()));
  const Txn least = std::max(before.newest, history_.acknowledged);
  if (!ledger_.opens || ledger_.newest < least) problem_ = "the ledger lost a commit";
  if (ledger_.newest >= history_.states.size()) problem_ = "a commit that was not made";
  if (!problem_.empty()) return false;
  ledger_file_ = site_.machine.files().at(kLedgerName);
  if (site_.rules.confirms_turn) ConfirmLedger();
  if (!running()) return false;
  history_.states.resize(ledger_.newest + 1);
  history_.acknowledged = ledger_.newest;
  if (site_.rules.keeps_each && ledger_.keep > 0) site_.readers.Keep(this, ledger_.oldest());
  if (site_.rules.places_names) PlaceNames();
  return running();
}

void CollectionWriter::EndTurn() {
  if (!site_.machine.running() || (stopped_ && site_.rules.lets_go)) LetMembersGo();
}

// Completes a member that the ledger is about to drop its copies of.
bool CollectionWriter::CompleteFree(MemberId id) {
  if (!site_.rules.completes_free) return true;
  const bool is_held = IsHeldByOther(id);
  if (is_held && site_.rules.trusts_held) return true;
  if (!ledger_.table.contains(id) && !ledger_.keeps(id)) return true;
  const FilePtr file = Redo(id);
  return file == nullptr || Need(site_.machine.Sync(*file));
}

MemberWriter* CollectionWriter::HoldMember(MemberId id) {
  if (IsHeldByOther(id)) return nullptr;
  if (!members_.contains(id) && site_.rules.completes_held) {
    const FilePtr file = Redo(id);
    if (file == nullptr || !Need(site_.machine.Sync(*file))) return nullptr;
  }
  MemberWriter* const member = OpenMember(id);
  if (member != nullptr) (*holders_)[id] = this;
  return member;
}

void CollectionWriter::StageBesideOthers() {
  auto entry = ledger_.table.begin();
  std::advance(entry, static_cast<ptrdiff_t>(site_.random.Below(ledger_.table.size())));
  const MemberId id = entry->first;
  if (staged_.contains(id)) return;
  MemberWriter* const member = HoldMember(id);
  if (member == nullptr) return;
  if (!member->has_room() && !Need(member->WriteCheckpoint())) return;
  if (!member->has_room()) return;
  Part part = member->Stage();
  part.member = id;
  part.copied = site_.rules.copies_records;
  staged_[id] = std::move(part);
}

void CollectionWriter::CommitBesideOthers() {
  Commit(site_.random.Percent(30));
  if (running()) LetMembersGo();
}

void CollectionWriter::ActBesideOthers() {
  const uint64_t action = site_.random.Below(100);
  if (TakeTurn()) {
    if (action < 50 && !ledger_.table.empty()) {
      StageBesideOthers();
    } else if (action < 85) {
      CommitBesideOthers();
    } else if (action < 90) {
      LetMembersGo();
    } else {
      CheckpointLedger();
    }
  }
  EndTurn();
}

}  // namespace cairn::model
