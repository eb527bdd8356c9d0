// Bytes of a contiguous frame's file that die with the next checkpoint.
#ifndef CAIRN_ENGINE_FRAME_SPACE_DYING_SPACE_H_
#define CAIRN_ENGINE_FRAME_SPACE_DYING_SPACE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/extent.h"
#include "engine/format/seal.h"
#include "engine/frame/space/births.h"
#include "engine/frame/space/dead_space.h"

namespace cairn::frame {

// The newest checkpoint and the commits after it need these bytes, since recovery may go back to
// them. The next checkpoint does not: they are chunks that no commit needs any more, and all that
// lies between the index and the journal's end except the chunks that live there.
//
// A checkpoint that is made beside commits splits them: what was dying at its state dies with it,
// and what commits do meanwhile dies with the next one. Not thread-safe.
class DyingSpace {
 public:
  DyingSpace() = default;
  // Nothing is dying, of a file whose index begins there. Its journal began after the checkpoint of
  // generation `journal_since`.
  DyingSpace(int64_t index_begin, uint64_t journal_since)
      : index_begin_(index_begin), journal_since_(journal_since) {}

  int64_t index_begin() const { return index_begin_; }
  // Readers of the checkpoint of that generation may follow the journal to where it is now.
  uint64_t journal_since() const { return journal_since_; }

  // A chunk lives there, at the index or after it.
  void PlaceInJournal(const Extent& chunk);
  // A commit no longer needs the chunk there.
  void MarkDying(const Extent& chunk, const Births& births);
  // The index begins at another place.
  void MoveIndex(int64_t index_begin) { index_begin_ = index_begin; }

  // Chunks before the journal that are dying, as they were marked. Those of before a split are left
  // out.
  const std::vector<format::DeadExtent>& chunks() const { return now_.dying; }
  // Bytes of dying chunks before the journal, and of chunks that live in it.
  int64_t chunk_bytes() const;
  int64_t live_bytes() const;
  // Bytes that die with the next checkpoint if the journal ends there, and how many of these lie
  // from the index on: index, trailer, records, and chunks that were replaced.
  int64_t Bytes(int64_t journal_end) const { return BytesInJournal(journal_end) + chunk_bytes(); }
  int64_t BytesInJournal(int64_t journal_end) const {
    return journal_end - index_begin_ - live_bytes();
  }
  // The most extents that a checkpoint adds to those that are dead.
  int64_t count() const { return std::ssize(now_.dying) + std::ssize(now_.live) + 1; }

  // Returns, in order, what is dead after a checkpoint of that generation that the journal up to
  // `end` leads to. `dead` is what is dead before it.
  std::vector<format::DeadExtent> DeadAfter(const DeadSpace& dead, uint64_t generation,
                                            int64_t end) const;

  // A checkpoint of that generation, of the journal up to `end`, is made beside commits that
  // continue after that.
  void Split(uint64_t generation, int64_t end);
  bool is_split() const { return split_.has_value(); }
  // Generation of the checkpoint for which this was split.
  uint64_t split_generation() const { return split_->generation; }
  // Bytes from the index to the journal's end at the split.
  Extent split_journal() const { return {index_begin_, split_->end}; }
  // Returns what is dead after that checkpoint. A thread may call this: it reads what does not
  // change before one of the calls that follow.
  std::vector<format::DeadExtent> DeadAfterSplit(const DeadSpace& dead) const;
  // The checkpoint is durable, and what was dying at the split is dead. The index begins there now,
  // and the journal continues.
  void EndSplit(int64_t index_begin);
  // The same, of a checkpoint with a journal of its own: no chunk lives in it.
  void EndSplitAndJournal(int64_t index_begin);
  // The checkpoint was dropped.
  void CancelSplit();

  // Checks that the sums are right.
  void Check() const;

 private:
  struct Part {
    std::vector<format::DeadExtent> dying;  // before the journal; `died` is not known yet
    int64_t dying_bytes = 0;
    std::vector<Extent> live;  // in the journal, in order; those that died since are empty
    int64_t live_bytes = 0;
  };
  // What dies with the checkpoint that is made beside commits.
  struct SplitPart {
    uint64_t generation = 0;
    int64_t end = 0;  // of the journal
    Part part;
  };

  std::vector<format::DeadExtent> DeadOf(const Part& part, const DeadSpace& dead,
                                         uint64_t generation, int64_t end) const;

  int64_t index_begin_ = 0;
  uint64_t journal_since_ = 0;
  Part now_;  // since the split, if there is one
  std::optional<SplitPart> split_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_SPACE_DYING_SPACE_H_
