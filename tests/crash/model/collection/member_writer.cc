#include "tests/crash/model/collection/member_writer.h"

#include <algorithm>

namespace cairn::model {

MemberWriter::MemberWriter(Site site, MemberView view, Listed listed)
    : site_(site),
      file_(std::move(view.file)),
      checkpoint_(std::move(view.checkpoint)),
      checkpoint_slot_(view.checkpoint_slot),
      chunks_(std::move(view.chunks)),
      position_(view.position),
      used_(view.used.size()),
      dead_(checkpoint_.dead),
      listed_(std::move(listed)) {
  for (int slot = 1; slot < kSlots; ++slot) free_.insert(slot);
  free_.erase(checkpoint_slot_);
  for (const int slot : checkpoint_.journal) free_.erase(slot);
  for (const ChunkAt& chunk : checkpoint_.chunks) free_.erase(chunk.slot);
  for (const Record& record : view.used) {
    for (const Edit& edit : record.edits) {
      free_.erase(edit.chunk.slot);
      std::erase_if(dead_, [&](const Dead& dead) { return dead.slot == edit.chunk.slot; });
    }
  }
  for (const Dead& dead : dead_) free_.erase(dead.slot);
}

// Writes again what may be in the page cache alone.
bool MemberWriter::Confirm() {
  if (!site_.rules.confirms_members) return true;
  const auto again = [&](int slot) {
    const Cell cell = file_->cache[static_cast<size_t>(slot)];
    if (cell != nullptr) site_.machine.Write(*file_, slot, cell);
  };
  again(0);
  for (size_t i = 0; i < 2 * used_; ++i) again(checkpoint_.journal[i]);
  for (const ChunkAt& chunk : chunks_) again(chunk.slot);
  return Sync();
}

bool MemberWriter::Sync() {
  const bool synced = site_.machine.Sync(*file_);
  needs_sync_ = false;
  return synced || !site_.rules.stops_after_failure;
}

bool MemberWriter::has_room() const {
  return 2 * used_ < checkpoint_.journal.size() && free_.size() >= 2;
}

// Returns the first commit whose ledger lists this generation or a later one.
Txn MemberWriter::ListedFrom(Generation generation) const {
  for (const auto& [txn, listed] : listed_) {
    if (listed >= generation) return txn;
  }
  return UINT64_MAX;
}

// Bytes are held for readers of all states before the one that they died with, and until the ledger
// lists a newer one: readers that come need the state that it lists.
bool MemberWriter::IsHeld(const Dead& dead) const {
  if (!site_.rules.asks_readers) return false;
  if (site_.rules.keeps_listed && ListedFrom(dead.died) == UINT64_MAX) return true;
  const bool keeps = site_.rules.keeps_between || dead.born <= listed_.front().second;
  return site_.readers.AnyIn(keeps ? 0 : ListedFrom(dead.born), ListedFrom(dead.died));
}

void MemberWriter::FreeDead() {
  if (begun_.has_value()) return;  // that checkpoint lists what is dead
  std::erase_if(dead_, [&](const Dead& dead) {
    const bool held = IsHeld(dead);
    if (!held) free_.insert(dead.slot);
    return !held;
  });
}

int MemberWriter::Take() {
  auto at = free_.begin();
  std::advance(at, static_cast<ptrdiff_t>(site_.random.Below(std::min<size_t>(free_.size(), 4))));
  const int slot = *at;
  free_.erase(at);
  return slot;
}

// Stages a chunk that another one of the same commit replaces.
ChunkAt MemberWriter::StageAndTakeBack() {
  const ChunkAt chunk{.slot = Take(), .id = ++site_.ids};
  site_.machine.Write(*file_, chunk.slot, Make(Chunk{chunk.id}));
  free_.insert(chunk.slot);
  return chunk;
}

Part MemberWriter::Stage() {
  FreeDead();
  Record record{.id = ++site_.ids,
                .base = checkpoint_.base,
                .previous = position_.record,
                .generation = position_.generation + 1,
                .slot = checkpoint_.journal[2 * used_],
                .receipt_slot = checkpoint_.journal[2 * used_ + 1]};
  Part part;
  if (site_.random.Percent(20)) part.taken_back.push_back(StageAndTakeBack());
  const size_t count = 1 + site_.random.Below(2);
  size_t size = chunks_.size();
  for (size_t i = 0; i < count; ++i) {
    Edit edit{.position = site_.random.Below(std::min<size_t>(size + 1, 4)),
              .chunk = {.slot = Take(), .id = ++site_.ids},
              .copied = site_.random.Percent(50)};
    if (edit.position >= size) ++size;
    if (!edit.copied) {
      site_.machine.Write(*file_, edit.chunk.slot, Make(Chunk{edit.chunk.id}));
      needs_sync_ = part.synced = true;
    }
    record.edits.push_back(edit);
  }
  if (part.synced) part.taken_back.clear();
  part.record = std::move(record);
  return part;
}

void MemberWriter::Publish(const Record& record, Txn txn) {
  for (const Edit& edit : record.edits) {
    if (edit.copied) {
      site_.machine.Write(*file_, edit.chunk.slot, Make(Chunk{edit.chunk.id}));
    }
  }
  site_.machine.Write(*file_, record.slot, Make(record));
  const Receipt receipt{.record = record.id, .boot = site_.machine.boot()};
  site_.machine.Write(*file_, record.receipt_slot, Make(receipt));
  ApplyEdits(record, chunks_);
  position_ = {record.generation, record.id};
  ++used_;
  listed_.emplace_back(txn, record.generation);
}

std::optional<Position> MemberWriter::Unlisted() const {
  if (listed_.back().second == position_.generation) return std::nullopt;
  return position_;
}

// Returns the slots that nothing needs but states before a checkpoint that keeps these.
std::vector<int> MemberWriter::SlotsWithout(const std::vector<int>& kept) const {
  std::set<int> slots;
  for (int slot = 1; slot < kSlots; ++slot) slots.insert(slot);
  for (const int slot : free_) slots.erase(slot);
  for (const Dead& dead : dead_) slots.erase(dead.slot);
  for (const int slot : kept) slots.erase(slot);
  return {slots.begin(), slots.end()};
}

// Returns what is dead after a checkpoint of the present state. A reader of that state may have
// opened the checkpoint before, so the bytes die with the next generation.
std::vector<Dead> MemberWriter::DeadWith(const std::vector<int>& slots) const {
  std::vector<Dead> dead = dead_;
  for (const int slot : slots) {
    const auto is_here = [&](const ChunkAt& chunk) { return chunk.slot == slot; };
    const bool is_older = std::ranges::any_of(checkpoint_.chunks, is_here);
    dead.push_back({.slot = slot,
                    .born = is_older ? 0 : checkpoint_.generation,
                    .died = position_.generation + 1});
  }
  return dead;
}

bool MemberWriter::WriteCheckpoint() {
  if (used_ == 0) return true;
  begun_.reset();
  FreeDead();
  if (free_.size() < 1 + 2 * kMemberJournal) return true;  // readers hold too much
  Checkpoint next{.id = ++site_.ids,
                  .member = checkpoint_.member,
                  .generation = position_.generation + 1,
                  .chunks = chunks_,
                  .previous = checkpoint_slot_,
                  .previous_id = checkpoint_.id};
  next.base = next.last = next.id;
  std::vector<int> kept;
  for (const ChunkAt& chunk : chunks_) kept.push_back(chunk.slot);
  next.dead = DeadWith(SlotsWithout(kept));
  const int slot = Take();
  for (size_t i = 0; i < 2 * kMemberJournal; ++i) next.journal.push_back(Take());
  used_ = 0;
  position_ = {next.generation, next.last};
  return Flip(next, slot);
}

bool MemberWriter::Flip(const Checkpoint& next, int slot) {
  site_.machine.Write(*file_, slot, Make(next));
  if (!Sync()) return false;
  site_.machine.Write(*file_, 0, Make(Header{slot}));
  if (!Sync()) return false;
  checkpoint_ = next;
  checkpoint_slot_ = slot;
  dead_ = next.dead;
  return true;
}

// Begins a checkpoint of the present state, which inherits the rest of the journal.
void MemberWriter::BeginCheckpoint() {
  if (used_ == 0 || 2 * used_ >= checkpoint_.journal.size() || free_.empty()) return;
  Begun begun{.slot = Take(), .used = used_};
  begun.checkpoint = {.id = ++site_.ids,
                      .member = checkpoint_.member,
                      .generation = position_.generation,
                      .chunks = chunks_,
                      .base = checkpoint_.base,
                      .last = position_.record,
                      .previous = checkpoint_slot_,
                      .previous_id = checkpoint_.id};
  const auto rest = checkpoint_.journal.begin() + static_cast<ptrdiff_t>(2 * used_);
  begun.checkpoint.journal.assign(rest, checkpoint_.journal.end());
  std::vector<int> kept = begun.checkpoint.journal;
  kept.push_back(begun.slot);
  for (const ChunkAt& chunk : chunks_) kept.push_back(chunk.slot);
  begun.dead = SlotsWithout(kept);
  begun_ = std::move(begun);
}

bool MemberWriter::EndCheckpoint() {
  Begun begun = *std::exchange(begun_, std::nullopt);
  begun.checkpoint.dead = DeadWith(begun.dead);
  used_ -= begun.used;
  return Flip(begun.checkpoint, begun.slot);
}

Position CreateMember(const MemberWriter::Site& site, MemberId id, const std::vector<Id>& chunks,
                      const std::string& name) {
  const FilePtr file = site.machine.Create(name);
  Checkpoint checkpoint{.id = ++site.ids, .member = id, .generation = 1};
  checkpoint.base = checkpoint.last = checkpoint.id;
  int slot = 2;
  for (size_t i = 0; i < 2 * kMemberJournal; ++i) checkpoint.journal.push_back(slot++);
  for (const Id chunk : chunks) {
    checkpoint.chunks.push_back({.slot = slot, .id = chunk});
    site.machine.Write(*file, slot++, Make(Chunk{chunk}));
  }
  site.machine.Write(*file, 1, Make(checkpoint));
  site.machine.Write(*file, 0, Make(Header{1}));
  return {checkpoint.generation, checkpoint.last};
}

}  // namespace cairn::model
