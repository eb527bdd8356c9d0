// Knows the bytes of a contiguous frame's file that die with the next checkpoint.
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
// them. The next checkpoint does not need them: they are chunks that no commit needs any more, and
// everything from the index to the end of the journal except the chunks that live there.
//
// A checkpoint that is made during commits splits them: bytes that were dying in its state die with
// it, and bytes that began to die later die with the next one. Not thread-safe.
class DyingSpace {
 public:
  DyingSpace() = default;
  // Begins without dying bytes before the index, for a file whose index begins at `index_begin`.
  // The journal of the file began after the checkpoint of generation `journal_since`.
  DyingSpace(int64_t index_begin, uint64_t journal_since)
      : index_begin_(index_begin), journal_since_(journal_since) {}

  int64_t index_begin() const { return index_begin_; }
  // Generation of the oldest checkpoint whose readers may follow the journal to its end.
  uint64_t journal_since() const { return journal_since_; }

  // Adds a chunk that lives at the index or after it.
  void PlaceInJournal(const Extent& chunk);
  // Marks a chunk that a commit no longer needs.
  void MarkDying(const Extent& chunk, const Births& births);
  // Moves the beginning of the index.
  void MoveIndex(int64_t index_begin) { index_begin_ = index_begin; }

  // Dying chunks before the journal, in the order in which they were marked, since the split if
  // there is one.
  const std::vector<format::DeadExtent>& chunks() const { return now_.dying; }
  // Bytes of dying chunks before the journal, and of chunks that live in it.
  int64_t chunk_bytes() const;
  int64_t live_bytes() const;
  // Returns the end of the last chunk that lives in the journal, or where the index begins.
  int64_t EndOfLive() const;
  // Returns the bytes that die with the next checkpoint if the journal ends there. BytesInJournal
  // returns how many of them lie from the index on: index, trailer, records, and replaced chunks.
  int64_t Bytes(int64_t journal_end) const { return BytesInJournal(journal_end) + chunk_bytes(); }
  int64_t BytesInJournal(int64_t journal_end) const {
    return journal_end - index_begin_ - live_bytes();
  }
  // Returns the most extents that a checkpoint adds to the dead ones.
  int64_t count() const { return std::ssize(now_.dying) + std::ssize(now_.live) + 1; }

  // Returns, in order, the extents that are dead after a checkpoint of that generation, to which
  // the journal up to `end` leads. `dead` has the extents that are dead before it.
  std::vector<format::DeadExtent> DeadAfter(const DeadSpace& dead, uint64_t generation,
                                            int64_t end) const;

  // Begins a checkpoint of that generation, of the journal up to `end`, which is made during
  // commits.
  void Split(uint64_t generation, int64_t end);
  bool is_split() const { return split_.has_value(); }
  // Generation of the checkpoint for which this was split.
  uint64_t split_generation() const { return split_->generation; }
  // Bytes from the index to the journal's end at the split.
  Extent split_journal() const { return {index_begin_, split_->end}; }
  // Returns the extents that are dead after that checkpoint. A thread may call this: the bytes that
  // it reads do not change before one of the calls that follow.
  std::vector<format::DeadExtent> DeadAfterSplit(const DeadSpace& dead) const;
  // Ends the split with a durable checkpoint: the bytes that were dying at the split are dead. The
  // index begins at `index_begin` now, and the journal continues.
  void EndSplit(int64_t index_begin);
  // Ends the split with a durable checkpoint that has a journal of its own, in which no chunk
  // lives.
  void EndSplitAndJournal(int64_t index_begin);
  // Joins both parts again, because the checkpoint was dropped.
  void CancelSplit();

  // Checks that the sums are right.
  void Check() const;

 private:
  struct Part {
    std::vector<format::DeadExtent> dying;  // before the journal; `died` is not known yet
    int64_t dying_bytes = 0;
    std::vector<Extent> live;  // in the journal, in order; chunks that died since are empty
    int64_t live_bytes = 0;
  };
  // Holds the bytes that die with the checkpoint which is made during commits.
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
