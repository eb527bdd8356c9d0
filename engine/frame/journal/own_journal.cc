#include "engine/frame/journal/own_journal.h"

#include "engine/base/check.h"
#include "engine/base/random.h"
#include "engine/base/status.h"
#include "engine/frame/replay/commit_step.h"

namespace cairn::frame {

// Gives the journal a random base, which no record that was ever written there has.
OwnJournal::OwnJournal(const CommittedFrame& frame, const Extent& room)
    : frame_(frame), room_end_(room.end) {
  position_.base_known = true;
  position_.base = position_.last = RandomNumber();
  position_.generation = frame.state->generation();
  position_.begin = position_.end = position_.durable_end = room.begin;
}

format::InheritedJournal OwnJournal::Start(uint64_t since) const {
  return {.generation = position_.generation,
          .begin = position_.begin,
          .base = position_.base,
          .last = position_.last,
          .since = since};
}

absl::Status OwnJournal::Begin() {
  bytes_.assign(static_cast<size_t>(format::kEndMark), std::byte{0});
  return frame_.file->WriteAt(position_.begin, bytes_);
}

format::Receipt OwnJournal::ReceiptOf(uint64_t generation, uint64_t durable_generation) const {
  return {.base = position_.base,
          .generation = generation,
          .boot = frame_.source.BootHere(frame_.core->env()->boot),
          .durable_generation = durable_generation};
}

absl::StatusOr<bool> OwnJournal::Write(std::vector<std::byte>& bytes) {
  bytes.resize(bytes.size() + static_cast<size_t>(format::kEndMark));
  // Leaves room for one more receipt, which may have to follow.
  if (std::ssize(bytes) + format::kReceiptSize > room_end_ - position_.end) return false;
  const absl::Status written = frame_.file->WriteAt(position_.end, bytes);
  if (absl::IsResourceExhausted(written)) return false;
  CAIRN_RETURN_IF_ERROR(written);
  return true;
}

absl::StatusOr<bool> OwnJournal::Add(const Stager& stager, int64_t reused) {
  // Add was called for each commit since this began.
  CAIRN_DCHECK(position_.generation == stager.base()->generation());
  const uint64_t generation = position_.generation + 1;
  const format::CommitRecordParts commit = stager.MakeCommit({.base = position_.base,
                                                              .generation = generation,
                                                              .previous = position_.last,
                                                              .durable_end = position_.begin});
  if (format::RecordSize(commit) > format::kMaxRecordSize) return false;
  const format::Receipt receipt = ReceiptOf(generation, frame_.sync->durable().generation);
  bytes_.clear();
  format::AppendRecord(commit, position_.end, bytes_);
  const uint64_t checksum = format::StoredChecksum(bytes_);
  format::AppendReceipt(receipt, position_.end + std::ssize(bytes_), bytes_);
  const int64_t end = position_.end + std::ssize(bytes_);
  CAIRN_ASSIGN_OR_RETURN(const bool written, Write(bytes_));
  if (!written) return false;
  Advance({.links = commit.links,
           .checksum = checksum,
           .end = end,
           .receipt = receipt,
           .chunk_edits = commit.chunks.count(),
           .layer_edits = std::ssize(commit.layers),
           .reused = reused},
          position_);
  return true;
}

absl::StatusOr<bool> OwnJournal::AddChunk(std::vector<std::byte> chunk) {
  const format::Receipt receipt = ReceiptOf(position_.generation, 0);
  format::AppendReceipt(receipt, position_.end + std::ssize(chunk), chunk);
  const int64_t end = position_.end + std::ssize(chunk);
  CAIRN_ASSIGN_OR_RETURN(const bool written, Write(chunk));
  if (written) Extend(receipt, end, position_);
  return written;
}

}  // namespace cairn::frame
