#include "engine/frame/journal/unsynced_commits.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/base/status.h"

namespace cairn::frame {

namespace {

// Bytes that are noted together. Those of them that are durable may be written again.
constexpr int64_t kMostJoined = int64_t{1} << 20;

}  // namespace

void UnsyncedCommits::BeginAfterCheckpoint() {
  Clear();
  owes_header_ = false;
}

void UnsyncedCommits::Clear() {
  bytes_outside_ = 0;
  placed_.clear();
}

void UnsyncedCommits::NotePlaced(std::span<const JournalFootprint::Placed> chunks) {
  for (const JournalFootprint::Placed& chunk : chunks) Note(chunk);
}

// Chunks of many small commits mostly follow each other: a writer that suspends after each of them
// looks at all that is noted here.
void UnsyncedCommits::Note(const JournalFootprint::Placed& chunk) {
  if (chunk.bytes.begin >= base().journal->begin) return;
  if (!placed_.empty()) {
    JournalFootprint::Placed& last = placed_.back();
    if (last.bytes.end == chunk.bytes.begin && last.bytes.size() < kMostJoined) {
      last = {.bytes = {last.bytes.begin, chunk.bytes.end}, .record_end = chunk.record_end};
      return;
    }
  }
  placed_.push_back(chunk);
}

// Remembers the chunks because a writer that suspends may have to write them again.
void UnsyncedCommits::NoteCommit(std::span<const Extent> placed, int64_t record_end,
                                 int64_t durable_end, int64_t bytes) {
  while (!placed_.empty() && placed_.front().record_end <= durable_end) placed_.pop_front();
  for (const Extent& chunk : placed) Note({.bytes = chunk, .record_end = record_end});
  bytes_outside_ += bytes;
}

void UnsyncedCommits::Owe(bool header_too) {
  const JournalPosition& journal = *base().journal;
  owes_header_ = header_too || (owes_header_ && frame_.sync->owes());
  std::vector<Extent> bytes;
  for (const JournalFootprint::Placed& chunk : placed_) {
    if (chunk.record_end > journal.durable_end) bytes.push_back(chunk.bytes);
  }
  bytes.push_back({journal.durable_end, journal.end});
  frame_.OweHeaderAnd(std::move(bytes), journal.durable_end);
}

bool UnsyncedCommits::OwesHeader() {
  owes_header_ = owes_header_ && frame_.sync->owes();
  return owes_header_;
}

absl::StatusOr<bool> UnsyncedCommits::MayReuse() {
  if (!OwesHeader()) return true;
  if (avoids_syncs_) return false;
  CAIRN_RETURN_IF_ERROR(frame_.sync->Sync(frame_.committed()));
  return true;
}

absl::Status UnsyncedCommits::PersistPlaced() {
  for (const JournalFootprint::Placed& chunk : placed_) {
    if (chunk.record_end <= base().journal->durable_end) continue;
    CAIRN_RETURN_IF_ERROR(frame_.PersistAgain(chunk.bytes));
  }
  placed_ = {};
  return absl::OkStatus();
}

int64_t UnsyncedCommits::BytesOutside(const CommitPoint& synced) {
  if (synced.generation == base().generation()) bytes_outside_ = 0;
  return bytes_outside_;
}

void UnsyncedCommits::SyncAhead() {
  if (sync_ahead_.is_running()) return;
  syncing_bytes_ = bytes_outside_;
  sync_ahead_.Start([sync = frame_.sync, point = frame_.committed()] { return sync->Sync(point); },
                    frame_.core->env()->checkpoints.use_thread);
}

absl::Status UnsyncedCommits::TakeResult() {
  const std::optional<absl::Status> ended = sync_ahead_.Poll();
  if (!ended.has_value()) return absl::OkStatus();
  CAIRN_RETURN_IF_ERROR(*ended);
  bytes_outside_ -= std::min(bytes_outside_, std::exchange(syncing_bytes_, 0));
  return absl::OkStatus();
}

}  // namespace cairn::frame
