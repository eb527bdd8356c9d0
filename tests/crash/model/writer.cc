#include "tests/crash/model/writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace cairn::model {
namespace {

void Append(Bytes& bytes, const Bytes& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

}  // namespace

bool Writer::Load() {
  view_ = Replay(disk_.cache(), disk_.boot(), conditions_.header_size, rules_, Begin::kCheckpoint);
  if (!view_.opens || view_.checkpoint.trailer_damaged) return false;
  if (view_.damaged && rules_.refuses_damage) return false;
  births_.clear();
  died_.clear();
  gradual_.reset();
  summary_.reset();
  VoidSummaries();
  shared_end_ = view_.end;
  TakeSpace();
  return true;
}

// The space as the checkpoint lists it, less what the journal took since: what was dead then, too.
void Writer::TakeSpace() {
  const Checkpoint& base = view_.checkpoint;
  const uint64_t born = rules_.journal_born_before ? base.journal.born : base.generation;
  std::vector<Extent> taken;
  for (const PlacedChunk& placed : view_.placed) {
    births_[placed.chunk.offset] = born;
    if (rules_.minds_journal) taken.push_back({placed.chunk.offset, placed.chunk.end()});
  }
  // In the journal, too: where it went nothing was seen any more.
  for (const ChunkRef& chunk : view_.state.chunks) taken.push_back({chunk.offset, chunk.end()});
  std::vector<DeadExtent> dead;
  for (const Extent& extent : base.space.dead) dead.push_back({extent, 0, base.generation});
  space_ = Space(base.space.free, dead);
  space_.RemoveEverywhere(taken);
  for (const ChunkRef& chunk : view_.removed) MarkDying(chunk, rules_.waits_for_checkpoint);
  Release();
}

bool Writer::AccountsForSpace() const {
  std::vector<Extent> known = space_.free();
  for (const std::vector<DeadExtent>& more : {space_.dead(), died_}) {
    for (const DeadExtent& dead : more) known.push_back(dead.extent);
  }
  for (const ChunkRef& chunk : view_.state.chunks) known.push_back({chunk.offset, chunk.end()});
  if (gradual_.has_value() && gradual_->own.has_value()) known.push_back(gradual_->own->taken);
  return Without({conditions_.header_size, view_.checkpoint.index_begin}, known).empty();
}

void Writer::Release() {
  const Nobody nobody;
  const Registrations& readers = rules_.asks_readers ? readers_ : nobody;
  space_.Release(readers, view_.checkpoint.index_begin);
}

// Chunks that died are needed until the next checkpoint: by the one that is there, and by the
// commits after it.
void Writer::MarkDying(const ChunkRef& chunk, bool waits) {
  const Extent extent = {chunk.offset, chunk.end()};
  const auto born = births_.find(chunk.offset);
  const uint64_t since = born == births_.end() ? 0 : born->second;
  if (chunk.end() > view_.checkpoint.index_begin) return;  // what the journal holds goes as a whole
  if (waits) {
    died_.push_back({extent, since, 0});
  } else {
    std::vector<Extent> free = space_.free();
    free.push_back(extent);
    space_ = Space(free, space_.dead());
  }
}

void Writer::ReserveSpace(uint64_t end) {
  // Nothing follows the journal then, whenever the process dies.
  if (conditions_.owes && random_.Percent(70)) return;
  if (disk_.cache().size() < end) {
    constexpr uint64_t kStep = 4096;
    disk_.Resize((end / kStep + 1 + random_.Below(2)) * kStep);
  }
}

Bytes Writer::EncodeRecord(const BatchRecord& record, uint64_t position) {
  Bytes bytes = Encode(record, rules_.binds_position ? position : 0);
  proofs_.push_back({.offset = position,
                     .bytes = bytes,
                     .base = record.base,
                     .generation = record.generation,
                     .header_is_durable = !owes_ || !owes_header_});
  return bytes;
}

Bytes Writer::EncodeReceipt(uint64_t position, uint64_t durable_generation) {
  view_.receipt = {view_.base, view_.generation, disk_.boot(), durable_generation};
  view_.receipt_at = position;
  Bytes bytes = Encode(*view_.receipt, rules_.binds_position ? position : 0);
  proofs_.push_back({.offset = position,
                     .bytes = bytes,
                     .base = view_.base,
                     .generation = view_.generation,
                     .durable_generation = durable_generation,
                     .boot = disk_.boot()});
  return bytes;
}

// A receipt that comes first stands before the chunks, which lie right before their record.
uint64_t Writer::ChunksBegin() const {
  const bool receipt_first = rules_.writes_receipts && !rules_.receipt_after_record;
  return view_.end + (receipt_first ? kReceiptSize : 0) + (NeedsAnchor() ? kAnchorSize : 0);
}

bool Writer::JournalMayReach(uint64_t end) {
  if (!rules_.limits_journal || end <= space_.LimitFrom(view_.end)) return true;
  Release();
  return end <= space_.LimitFrom(view_.end);
}

bool Writer::HasSpaceFor(const Edit& edit) {
  uint64_t end = ChunksBegin() + RecordSize(edit.chunks.size(), edit.removed.size());
  for (const Bytes& chunk : edit.chunks) end += chunk.size();
  return JournalMayReach(end + 2 * kReceiptSize);
}

Placed Writer::Place(const Edit& edit) {
  Placed placed;
  placed.moved = edit.moved;
  placed.machine = edit.machine;
  placed.syncs_chunks = edit.syncs_chunks;
  BatchRecord& record = placed.record;
  uint64_t offset = ChunksBegin();
  const bool may_reuse = rules_.reuses && !edit.at_end && MayReuse(edit.machine);
  for (const Bytes& chunk : edit.chunks) {
    const std::optional<uint64_t> free = may_reuse ? space_.Take(chunk.size()) : std::nullopt;
    const uint64_t begin = free.value_or(offset);
    record.chunks.push_back({begin, chunk.size(), Hash(chunk, 0, chunk.size())});
    births_[begin] = view_.checkpoint.generation;
    if (free.has_value()) {
      placed.in_free_space.push_back({begin, chunk});
    } else {
      Append(placed.in_journal, chunk);
      offset += chunk.size();
    }
  }
  record.metadata = edit.metadata;
  record.removed = edit.removed;
  placed.after = view_.state;
  Apply(record, placed.after);
  return placed;
}

void Writer::WriteFreeChunks(const Placed& placed) {
  for (const Placed::FreeChunk& chunk : placed.in_free_space) {
    disk_.Write(chunk.offset, chunk.bytes);
  }
}

// In one call, in two or in one a part.
void Writer::WriteParts(uint64_t begin, const std::vector<Bytes>& parts) {
  const uint64_t way = random_.Below(3);
  Bytes gathered;
  for (size_t i = 0; i < parts.size(); ++i) {
    Append(gathered, parts[i]);
    if (way == 0 || (way == 1 && i == 0) || i + 1 == parts.size()) {
      disk_.Write(begin, gathered);
      begin += gathered.size();
      gathered.clear();
    }
  }
}

// And for its record. A shrinking checkpoint goes with it, if it cannot follow.
void Writer::ReserveFor(const Placed& placed) {
  if (gradual_.has_value() && gradual_->own.has_value() && !CanCopy(placed)) DropCheckpoint();
  const BatchRecord& record = placed.record;
  const size_t record_size = RecordSize(record.chunks.size(), record.removed.size());
  ReserveSpace(ChunksBegin() + placed.in_journal.size() + record_size +
               (rules_.writes_receipts ? kReceiptSize : 0));
  if (NeedsAnchor()) {
    disk_.Write(view_.end, EmptyAnchor(AnchorIdentity(view_.checkpoint, rules_.binds_anchor)));
  }
}

void Writer::Prepare(const Placed& placed) {
  ReserveFor(placed);
  WriteFreeChunks(placed);
  BatchRecord record = placed.record;
  record.base = view_.base;
  record.generation = view_.generation + 1;
  record.previous = view_.previous;
  record.durable_end = synced_end_;
  const uint64_t begin = ChunksBegin();
  disk_.Write(begin, placed.in_journal);
  if (!rules_.prepares_unseen) {
    const uint64_t at = begin + placed.in_journal.size();
    disk_.Write(at, Encode(record, rules_.binds_position ? at : 0));
  }
  if (gradual_.has_value() && gradual_->own.has_value() && rules_.copies_commits) {
    CopyCommit(record);
  }
  if (placed.machine) Sync();
  is_prepared_ = true;
}

// The checkpoint made in steps counts on it; a journal of its own even leads to it.
void Writer::Cancel(const Placed& placed) {
  is_prepared_ = false;
  std::vector<Extent> free = space_.free();
  for (const Placed::FreeChunk& chunk : placed.in_free_space) {
    free.push_back({chunk.offset, chunk.offset + chunk.bytes.size()});
  }
  space_ = Space(std::move(free), space_.dead());
  if (rules_.cancel_drops_copy) DropCheckpoint();
  CutUnused(false);
}

void Writer::Commit(const Placed& placed) {
  const bool is_prepared = std::exchange(is_prepared_, false);
  MarkSummaries();
  if (!is_prepared) ReserveFor(placed);
  uint64_t begin = ChunksBegin();
  Bytes chunks = placed.in_journal;
  BatchRecord record = placed.record;
  if (rules_.chunks_before_record && !is_prepared) WriteFreeChunks(placed);
  if (is_prepared) {
    begin += chunks.size();
    chunks.clear();
  } else if (placed.syncs_chunks && rules_.receipt_after_record) {
    disk_.Write(begin, chunks);
    SyncDisk();
    begin += chunks.size();
    synced_end_ = begin;
    synced_generation_ = view_.generation;
    chunks.clear();
  }
  for (const uint64_t number : record.removed) {
    MarkDying(view_.state.chunks[number],
              number == placed.moved ? rules_.moved_waits : rules_.waits_for_checkpoint);
    if (gradual_.has_value()) gradual_->removed.push_back(view_.state.chunks[number]);
  }
  for (const Placed::FreeChunk& chunk : placed.in_free_space) {
    if (!gradual_.has_value()) break;
    gradual_->placed.push_back({chunk.offset, chunk.offset + chunk.bytes.size()});
  }
  record.base = view_.base;
  record.generation = ++view_.generation;
  record.previous = rules_.chains ? view_.previous : 0;
  record.durable_end = synced_end_;
  view_.state = placed.after;
  WriteRecord(begin, chunks, record, placed.machine, !is_prepared);
  if (!rules_.chunks_before_record) WriteFreeChunks(placed);
}

void Writer::WriteRecord(uint64_t begin, const Bytes& chunks, const BatchRecord& record,
                         bool machine, bool may_copy) {
  const Bytes encoded = EncodeRecord(record, begin + chunks.size());
  view_.previous = Hash(encoded, 0, encoded.size() - 8);
  view_.commit_end = begin + chunks.size() + encoded.size();
  view_.end = view_.commit_end;
  uint64_t receipt_at = view_.commit_end;
  std::vector<Bytes> parts = {chunks, encoded};
  if (rules_.writes_receipts) {
    if (rules_.receipt_after_record) {
      view_.end += kReceiptSize;
    } else {
      receipt_at = begin - kReceiptSize;
    }
    const Bytes receipt = EncodeReceipt(
        receipt_at, rules_.receipt_after_sync ? synced_generation_ : view_.generation);
    if (rules_.receipt_after_record) {
      parts.push_back(receipt);
    } else {
      parts.insert(parts.begin(), receipt);
      begin = receipt_at;
    }
  }
  const bool copies =
      may_copy && gradual_.has_value() && gradual_->own.has_value() && rules_.copies_commits;
  if (copies && rules_.copies_before_sync) CopyCommit(record);
  WriteParts(begin, parts);
  if (machine) SyncDisk();
  if (copies && !rules_.copies_before_sync) CopyCommit(record);
  if (!machine) return;
  synced_end_ = view_.end;
  synced_generation_ = view_.generation;
  if (rules_.writes_receipts && rules_.receipt_after_sync && disk_.running()) {
    const Bytes receipt = EncodeReceipt(receipt_at, synced_generation_);
    disk_.Write(receipt_at + kReceiptDurableAt, Slice(receipt, kReceiptDurableAt, kReceiptSize));
  }
}

void Writer::Sync() {
  if (!owes_ && synced_generation_ == view_.generation) return;
  SyncDisk();
  synced_end_ = view_.end;
  synced_generation_ = view_.generation;
}

void Writer::SyncCommitted() {
  if (!owes_ && synced_generation_ == view_.generation) return;
  Sync();
  if (rules_.writes_receipts && disk_.running()) LeaveReceipt();
}

void CreateFile(Disk& disk, const Conditions& conditions, const Rules& rules, Random& random) {
  Checkpoint empty;
  empty.index_begin = conditions.header_size;
  const CheckpointBytes first =
      EncodeCheckpoint(empty, {conditions.header_size, !rules.flips_one_sector}, random.Next());
  disk.StartProcess(std::nullopt, false);
  disk.Write(0, first.header);
  disk.Write(conditions.header_size, first.after_chunks);
  disk.Sync(true);
}

}  // namespace cairn::model
