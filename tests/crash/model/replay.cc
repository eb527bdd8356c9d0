#include "tests/crash/model/replay.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace cairn::model {
namespace {

// A commit of the journal, and the receipt after it.
struct CommitRecord {
  FoundRecord found;
  uint64_t end = 0;
  std::optional<Receipt> receipt = {};
  uint64_t receipt_at = 0;
};

class Replayer {
 public:
  Replayer(const Bytes& file, uint64_t boot, const Rules& rules, const Checkpoint& checkpoint)
      : file_(file),
        boot_(boot),
        rules_(rules),
        start_(checkpoint.journal),
        base_known_(!checkpoint.trailer_damaged),
        index_begin_(checkpoint.index_begin),
        generation_(checkpoint.generation),
        previous_(start_.previous),
        first_begin_(start_.begin),
        taken_end_(start_.begin),
        durable_end_(start_.begin),
        trusted_generation_(checkpoint.generation) {}

  // Skips what it sums up.
  void BeginAfter(const Summary& summary) {
    generation_ = trusted_generation_ = summary.generation;
    previous_ = summary.previous;
    first_begin_ = taken_end_ = summary.end;
    durable_end_ = std::max(durable_end_, summary.durable_end);
  }

  // Follows the chain of records as far as it goes.
  void Scan();
  // Applies what is trusted or proves intact.
  void Settle(Replayed& result) const;

 private:
  bool TakeRecord(size_t position);
  bool TakeReceipt(size_t position);
  bool IsEnded(size_t position) const;
  bool ProvesOther(size_t position) const;
  bool Rejoin();
  bool IsNext(const BatchRecord& record) const;
  void LearnFromStranded();
  uint64_t TrustedBy(const Receipt& receipt) const;
  void Learn(const Receipt& receipt) {
    trusted_generation_ = std::max(trusted_generation_, TrustedBy(receipt));
  }
  bool IsVouchedFor(const FoundRecord& found) const;
  bool IsTrusted(const FoundRecord& found) const;

  const Bytes& file_;
  const uint64_t boot_;
  const Rules& rules_;
  JournalStart start_;
  bool base_known_;  // else the first record gives it
  const uint64_t index_begin_;
  uint64_t generation_;
  uint64_t previous_;
  uint64_t first_begin_;         // of the first commit
  uint64_t taken_end_;           // of the last record or receipt taken
  uint64_t durable_end_;         // as records tell
  uint64_t trusted_generation_;  // as receipts tell: no power cut took a part of it
  bool stranded_ = false;        // there are records, and where they belong is not known
  bool was_ended_ = false;       // a newer checkpoint was durable: the header is not the last one
  std::vector<CommitRecord> batches_;
};

uint64_t Replayer::TrustedBy(const Receipt& receipt) const {
  const bool known = boot_ != 0 || !rules_.knows_boot;
  const bool of_now = (receipt.boot == boot_ && known) || !rules_.compares_boots;
  return of_now && rules_.trusts_this_boot ? receipt.generation : receipt.durable_generation;
}

bool Replayer::IsNext(const BatchRecord& record) const {
  if (!base_known_) return record.previous == record.base.id;
  return record.base == start_.base && record.generation == generation_ + 1 &&
         (record.previous == previous_ || !rules_.chains);
}

bool Replayer::TakeRecord(size_t position) {
  std::optional<FoundRecord> found = FindRecord(file_, position, rules_.binds_position);
  if (!found.has_value()) return false;
  const BatchRecord& record = found->record;
  if (!IsNext(record)) return false;
  if (!rules_.takes_early_durable_end && record.durable_end < start_.begin) return false;
  // Chunks that are not before the index lie right before the record.
  uint64_t chunks_end = position;
  for (size_t i = record.chunks.size(); i-- > 0;) {
    if (record.chunks[i].end() <= index_begin_) continue;
    if (record.chunks[i].end() != chunks_end) return false;
    chunks_end = record.chunks[i].offset;
  }
  if (chunks_end < taken_end_) return false;
  base_known_ = true;
  start_.base = record.base;
  generation_ = record.generation;
  previous_ = found->hash;
  taken_end_ = found->end;
  durable_end_ = std::max(durable_end_, record.durable_end);
  batches_.push_back({.found = *std::move(found), .end = taken_end_});
  return true;
}

bool Replayer::TakeReceipt(size_t position) {
  const std::optional<Receipt> receipt = FindReceipt(file_, position, rules_.binds_position);
  if (!receipt.has_value() || !base_known_ || receipt->base != start_.base) return false;
  const bool early = !rules_.receipt_after_record && receipt->generation == generation_ + 1;
  if (receipt->generation != generation_ && !early) return false;
  if (batches_.empty() && !rules_.takes_leading_receipt) return false;
  taken_end_ = position + kReceiptSize;
  Learn(*receipt);
  if (batches_.empty()) {
    first_begin_ = taken_end_;
    return true;
  }
  batches_.back().end = taken_end_;
  batches_.back().receipt = receipt;
  batches_.back().receipt_at = position;
  return true;
}

// A checkpoint followed, and its header was durable.
bool Replayer::IsEnded(size_t position) const {
  const std::optional<Ended> ended = FindEnded(file_, position, rules_.binds_position);
  return ended.has_value() && base_known_ && ended->base == start_.base;
}

// Something after a newer checkpoint says that no power cut took what was committed there, or that
// something is durable: then so is the header that leads there. The mere commits of a writer that
// owes its syncs prove nothing.
bool Replayer::ProvesOther(size_t position) const {
  if (!rules_.tells_other_journal || !base_known_) return false;
  Base base;
  uint64_t trusted = 0;
  if (const auto receipt = FindReceipt(file_, position, rules_.binds_position)) {
    base = receipt->base;
    trusted = TrustedBy(*receipt);
  } else if (const auto found = FindRecord(file_, position, rules_.binds_position)) {
    base = found->record.base;
    const bool proves = found->record.durable_end > 0 || !rules_.other_was_durable;
    trusted = proves ? found->record.generation : 0;
  }
  if (trusted <= generation_ || base == start_.base) return false;
  const std::optional<uint64_t> generation = TrailerGeneration(file_, base);
  return generation.has_value() && trusted > *generation;
}

void Replayer::Scan() {
  size_t position = taken_end_;
  for (;;) {
    if (const std::optional<size_t> end = SkipChunk(file_, position)) {
      position = *end;
    } else if (TakeRecord(position) || TakeReceipt(position) || Rejoin()) {
      position = taken_end_;
    } else {
      break;
    }
  }
  if (rules_.searches) LearnFromStranded();
}

size_t NextMagic(const Bytes& file, size_t position) {
  const void* found = position < file.size()
                          ? std::memchr(file.data() + position, 'C', file.size() - position)
                          : nullptr;
  if (found == nullptr) return file.size();
  return static_cast<size_t>(static_cast<const uint8_t*>(found) - file.data());
}

// Goes on with the next record of the chain, wherever it is.
bool Replayer::Rejoin() {
  if (!rules_.searches || !rules_.rejoins_chain) return false;
  if (!base_known_ && rules_.rejoins_known) return false;  // it may be an earlier checkpoint's
  for (size_t at = NextMagic(file_, taken_end_); at < file_.size(); at = NextMagic(file_, at + 1)) {
    if (TakeRecord(at)) return true;
  }
  return false;
}

// Receipts of later commits still tell what was there.
void Replayer::LearnFromStranded() {
  for (size_t at = NextMagic(file_, taken_end_); at < file_.size(); at = NextMagic(file_, at + 1)) {
    const std::optional<Receipt> receipt = FindReceipt(file_, at, rules_.binds_position);
    const bool found = receipt.has_value() || FindRecord(file_, at, rules_.binds_position);
    stranded_ |= found && !base_known_ && rules_.tells_unknown_base;
    was_ended_ |= IsEnded(at) || ProvesOther(at);
    if (receipt.has_value() && receipt->base == start_.base && receipt->generation > generation_) {
      Learn(*receipt);
    }
  }
}

bool Replayer::IsVouchedFor(const FoundRecord& found) const {
  return !rules_.checks_chunks || found.end <= durable_end_ ||
         found.record.generation <= trusted_generation_;
}

bool Replayer::IsTrusted(const FoundRecord& found) const {
  return IsVouchedFor(found) ||
         std::ranges::all_of(found.record.chunks,
                             [&](const ChunkRef& chunk) { return ChunkIsIntact(file_, chunk); });
}

void Replayer::Settle(Replayed& result) const {
  result.damaged = trusted_generation_ > generation_ || stranded_ || was_ended_;
  result.durable_end = durable_end_;
  result.end = first_begin_;
  for (const CommitRecord& batch : batches_) {
    if (!IsTrusted(batch.found)) break;
    const BatchRecord& record = batch.found.record;
    if (!record.removed.empty() && record.removed.front() >= result.state.chunks.size()) break;
    for (const uint64_t number : record.removed) {
      result.removed.push_back(result.state.chunks[number]);
    }
    for (const ChunkRef& chunk : record.chunks) {
      if (chunk.end() <= index_begin_) result.placed.push_back({chunk, batch.found.end});
    }
    Apply(record, result.state);
    result.generation = record.generation;
    result.previous = batch.found.hash;
    result.commit_end = batch.found.end;
    result.end = batch.end;
    result.receipt = batch.receipt;
    result.receipt_at = batch.receipt_at;
    if (!rules_.confirms_from_durable && result.generation <= trusted_generation_) {
      result.durable_end = std::max(result.durable_end, result.end);
    }
  }
  result.durable_end = std::min(result.durable_end, result.end);
}

}  // namespace

std::optional<Summary> NewestSummary(const Bytes& file, uint64_t boot, const Rules& rules,
                                     const Checkpoint& checkpoint) {
  const uint64_t identity = AnchorIdentity(checkpoint, rules.binds_anchor);
  std::optional<Summary> newest;
  for (const size_t number : {0, 1}) {
    const auto slot = FindSlot(file, SlotPosition(checkpoint, number), identity);
    if (!slot.has_value() || slot->position == 0) continue;
    if (slot->boot != 0 && slot->boot != boot && rules.slots_compare_boots) continue;
    auto summary = FindSummary(file, *slot, checkpoint, identity, rules.hashes_summaries);
    if (!summary.has_value()) continue;
    if (!newest.has_value() || summary->generation > newest->generation) newest = summary;
  }
  return newest;
}

Replayed Replay(const Bytes& file, uint64_t boot, size_t header_size, const Rules& rules,
                Begin begin) {
  Replayed result;
  const std::optional<Checkpoint> checkpoint = ReadCheckpoint(file, header_size, result.why);
  if (!checkpoint.has_value()) return result;
  result.opens = true;
  result.base = checkpoint->journal.base;
  result.checkpoint = *checkpoint;
  result.state = checkpoint->state;
  result.generation = checkpoint->generation;
  result.previous = checkpoint->journal.previous;
  result.commit_end = checkpoint->journal.begin;
  Replayer replayer(file, boot, rules, *checkpoint);
  if (begin == Begin::kSummary && !checkpoint->trailer_damaged) {
    result.summary = NewestSummary(file, boot, rules, *checkpoint);
  }
  if (result.summary.has_value()) {
    replayer.BeginAfter(*result.summary);
    result.state = result.summary->state;
    result.generation = result.summary->generation;
    result.previous = result.summary->previous;
    result.commit_end = result.summary->end;
  }
  replayer.Scan();
  replayer.Settle(result);
  return result;
}

}  // namespace cairn::model
