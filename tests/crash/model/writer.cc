#include "tests/crash/model/writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace cairn::model {
namespace {

Bytes Slice(const Bytes& bytes, uint64_t begin, uint64_t end) {
  return {bytes.begin() + static_cast<ptrdiff_t>(begin),
          bytes.begin() + static_cast<ptrdiff_t>(end)};
}

void Append(Bytes& bytes, const Bytes& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

}  // namespace

bool Writer::Open() {
  view_ = Replay(disk_.cache(), disk_.boot(), conditions_.header_size, rules_);
  if (!view_.opens || (view_.damaged && rules_.refuses_damage)) return false;
  // What Confirm makes so.
  synced_end_ = view_.end;
  synced_generation_ = view_.generation;
  if (disk_.cache().size() > view_.end) disk_.Resize(view_.end);
  if (rules_.confirms) Confirm();
  return true;
}

// The cache may show what the disk lacks: what the writer builds upon is written once more.
void Writer::Confirm() {
  const Bytes& file = disk_.cache();
  disk_.Write(0, Slice(file, 0, conditions_.header_size));
  if (view_.end > view_.durable_end && disk_.running()) {
    disk_.Write(view_.durable_end, Slice(file, view_.durable_end, view_.end));
  }
  disk_.Sync(rules_.syncs_cut);
  if (rules_.writes_receipts && rules_.receipt_at_open) LeaveReceipt();
}

// Says of commits that were acknowledged before that they are durable, in this boot.
void Writer::LeaveReceipt() {
  if (view_.commit_end == view_.base.end) return;  // there is no journal
  const std::optional<Receipt> last = view_.receipt;
  const bool says_so = last.has_value() && last->boot == disk_.boot() &&
                       last->generation == view_.generation &&
                       last->durable_generation == view_.generation;
  if (says_so) return;
  const bool over_last = !rules_.appends_receipt && last.has_value();
  const uint64_t at = over_last ? view_.receipt_at : view_.end;
  disk_.Write(at, EncodeReceipt(at, view_.generation));
  view_.end = std::max(view_.end, at + kReceiptSize);
}

void Writer::ReserveSpace(uint64_t end) {
  if (disk_.cache().size() < end) {
    disk_.Resize((end / kPageSize + 1 + random_.Below(2)) * kPageSize);
  }
}

Bytes Writer::EncodeRecord(const BatchRecord& record, uint64_t position) {
  Bytes bytes = Encode(record, rules_.binds_position ? position : 0);
  proofs_.push_back({position, bytes, record.base, record.generation});
  return bytes;
}

Bytes Writer::EncodeReceipt(uint64_t position, uint64_t durable_generation) {
  view_.receipt = {view_.base, view_.generation, disk_.boot(), durable_generation};
  view_.receipt_at = position;
  Bytes bytes = Encode(*view_.receipt, rules_.binds_position ? position : 0);
  proofs_.push_back({position, bytes, view_.base, view_.generation, durable_generation});
  return bytes;
}

// A receipt that comes first stands before the chunks, which lie right before their record.
uint64_t Writer::ChunksBegin() const {
  const bool receipt_first = rules_.writes_receipts && !rules_.receipt_after_record;
  return view_.end + (receipt_first ? kReceiptSize : 0);
}

uint64_t Writer::RecordEndAfter(const Edit& edit) const {
  uint64_t end = ChunksBegin() + RecordSize(edit.chunks.size());
  for (const Bytes& chunk : edit.chunks) end += chunk.size();
  return end;
}

State Writer::StateAfter(const Edit& edit) const {
  State state = view_.state;
  uint64_t offset = ChunksBegin();
  for (const Bytes& chunk : edit.chunks) {
    state.chunks.push_back({offset, chunk.size(), Hash(chunk, 0, chunk.size())});
    offset += chunk.size();
  }
  if (edit.metadata != 0) state.metadata = edit.metadata;
  return state;
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

void Writer::Commit(const Edit& edit) {
  const State after = StateAfter(edit);
  const uint64_t begin = view_.end;
  const uint64_t end = RecordEndAfter(edit);
  ReserveSpace(end + (rules_.writes_receipts ? kReceiptSize : 0));
  Bytes chunks;
  for (const Bytes& chunk : edit.chunks) Append(chunks, chunk);
  const std::vector<ChunkRef> added(
      after.chunks.begin() + static_cast<ptrdiff_t>(view_.state.chunks.size()), after.chunks.end());
  if (edit.syncs_chunks && rules_.receipt_after_record) {
    disk_.Write(begin, chunks);
    disk_.Sync(false);
    synced_end_ = begin + chunks.size();
    synced_generation_ = view_.generation;
    chunks.clear();
  }
  const BatchRecord record = {.base = view_.base,
                              .generation = ++view_.generation,
                              .previous = rules_.chains ? view_.previous : 0,
                              .durable_end = synced_end_,
                              .metadata = edit.metadata,
                              .chunks = added};
  view_.state = after;
  WriteRecord(end - RecordSize(added.size()) - chunks.size(), chunks, record, edit.machine);
}

void Writer::WriteRecord(uint64_t begin, const Bytes& chunks, const BatchRecord& record,
                         bool machine) {
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
  WriteParts(begin, parts);
  if (!machine) return;
  disk_.Sync(false);
  synced_end_ = view_.end;
  synced_generation_ = view_.generation;
  if (rules_.writes_receipts && rules_.receipt_after_sync && disk_.running()) {
    const Bytes receipt = EncodeReceipt(receipt_at, synced_generation_);
    disk_.Write(receipt_at + kReceiptDurableAt, Slice(receipt, kReceiptDurableAt, kReceiptSize));
  }
}

void Writer::SyncCommitted() {
  if (synced_generation_ == view_.generation) return;
  disk_.Sync(false);
  synced_end_ = view_.end;
  synced_generation_ = view_.generation;
  if (rules_.writes_receipts && disk_.running()) LeaveReceipt();
}

void Writer::MakeCheckpoint() {
  const CheckpointBytes checkpoint =
      EncodeCheckpoint(view_.state, view_.generation, view_.end,
                       {conditions_.header_size, !rules_.flips_one_sector}, random_.Next());
  disk_.Write(view_.end, checkpoint.after_chunks);
  if (rules_.syncs_before_flip) disk_.Sync(false);
  const size_t flipped = rules_.flips_one_sector ? kFixedHeaderSize : checkpoint.header.size();
  disk_.Write(0, Slice(checkpoint.header, 0, flipped));
  if (rules_.syncs_after_flip) disk_.Sync(false);
  view_.base = checkpoint.base;
  view_.previous = checkpoint.base.id;
  view_.end = view_.commit_end = synced_end_ = checkpoint.base.end;
  synced_generation_ = view_.generation;
}

void CreateFile(Disk& disk, const Conditions& conditions, const Rules& rules, Random& random) {
  const CheckpointBytes first =
      EncodeCheckpoint(State(), 0, conditions.header_size,
                       {conditions.header_size, !rules.flips_one_sector}, random.Next());
  disk.StartProcess(std::nullopt, false);
  disk.Write(0, first.header);
  disk.Write(conditions.header_size, first.after_chunks);
  disk.Sync(true);
}

}  // namespace cairn::model
