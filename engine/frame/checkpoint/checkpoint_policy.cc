#include "engine/frame/checkpoint/checkpoint_policy.h"

#include <algorithm>

#include "engine/frame/space/disk_reserve.h"

namespace cairn::frame {

namespace {

// The most edits that a journal may hold, because opening the frame replays them. Up to there it
// may hold an eighth as many edits as the frame has chunks, so that n appends write O(n) bytes. In
// a small frame it may hold `least_edits`, so that the syncs of checkpoints cost little.
constexpr int64_t kLongJournal = int64_t{1} << 20;
// The most pieces of the index. Edits all over a large frame make many pieces, and take far longer
// to replay than appends.
constexpr int64_t kManyPieces = int64_t{1} << 18;
// How many bytes may be dying: a part of the live bytes, and at least a floor.
struct Allowance {
  int64_t floor = 0;
  int64_t part = 1;

  int64_t Of(int64_t living) const { return std::max(floor, living / part); }
};
constexpr Allowance kUsual = {.floor = int64_t{2} << 20, .part = 8};
// Durable commits wait for the disk anyway, so the two syncs of a checkpoint cost little, and fewer
// bytes may be dying. But a checkpoint does not come this early if it writes more than a quarter of
// what it frees.
constexpr Allowance kDurable = {.floor = int64_t{1} << 18, .part = 16};
constexpr int64_t kTimesWritten = 4;
// Fewer bytes may be dying while a reader holds dead bytes, which already take space. The limit in
// the journal is always this one: a file of small commits holds two journals, the dead one and the
// one that is written.
constexpr Allowance kTight = {.floor = int64_t{1} << 20, .part = 32};

// A checkpoint compresses the pending items in vain, since the next one compresses them again. It
// waits until the journal has this many times as many bytes as the pending items take.
constexpr int64_t kPerPendingByte = 4;

// Close writes a checkpoint of up to this many bytes, however short the journal is.
constexpr int64_t kLittle = int64_t{256} << 10;

// Estimates the bytes of the pending items as a chunk, from how well the stored part of them, or
// else the frame, was compressed.
int64_t PendingCost(const StagedState& staged) {
  const PartialChunk& partial = staged.partial;
  const auto nbytes = static_cast<double>(partial.filled());
  if (partial.head.has_value()) {
    return static_cast<int64_t>(nbytes * partial.head->entry.cbytes / partial.head->nbytes);
  }
  const auto before = static_cast<double>(staged.header.nbytes);
  const auto stored = static_cast<double>(staged.stored_bytes.value_or(0));
  return static_cast<int64_t>(stored > 0 && stored < before ? nbytes * stored / before : nbytes);
}

}  // namespace

bool IsCheckpointDue(const StagedState& staged, const State& base, const JournalLoad& load,
                     int64_t patience) {
  const int64_t edits = base.journal->edits + staged.chunk_edits.count();
  if (edits > patience * kLongJournal) return true;
  if (staged.chunks.pieces() > patience * kManyPieces) return true;
  if (load.written < kPerPendingByte * PendingCost(staged)) return false;
  const int64_t living = base.stored_bytes.value_or(0);
  int64_t many = (load.is_held ? kTight : kUsual).Of(living);
  if (load.is_durable) {
    many = std::min(many, std::max(kDurable.Of(living), kTimesWritten * load.checkpoint));
  }
  const int64_t most = std::max(many, load.checkpoint);
  const int64_t most_in_journal = std::max(kTight.Of(living), load.checkpoint);
  return load.dying > patience * most || load.dying_in_journal > patience * most_in_journal ||
         edits > patience * std::max(staged.chunks.size() / 8, base.env()->checkpoints.least_edits);
}

bool IsWorthClosing(const StagedState& staged, const State& base, const JournalLoad& load) {
  const int64_t cost = NeedOf(staged, base).index + PendingCost(staged);
  return cost <= std::max(load.written, kLittle);
}

}  // namespace cairn::frame
