// The space of a contiguous frame's file that may be used again, as the frame's writer knows it.
//
// Bytes become free in three steps. A commit no longer needs a chunk: the checkpoint and the
// commits after it still do, and recovery may go back to them. With the next checkpoint it is dead:
// only readers of older states may see it. When none of them is left it is free. The index, the
// trailer and the records of a checkpoint die with the next one.
#ifndef CAIRN_ENGINE_FRAME_CHECKPOINT_FRAME_SPACE_H_
#define CAIRN_ENGINE_FRAME_CHECKPOINT_FRAME_SPACE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"

#include "cairn/file_system.h"
#include "engine/base/extent.h"
#include "engine/base/extent_pool.h"
#include "engine/format/seal.h"
#include "engine/frame/journal/replay.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// A copy is cheap where little is free. Not thread-safe.
class FrameSpace {
 public:
  // Nothing is free, and nothing becomes free.
  FrameSpace() = default;
  // As the checkpoint lists it, less what the commits after it took. That list is a cache: where it
  // cannot be trusted, space is lost until Reclaim finds it.
  FrameSpace(const State& base, const JournalFootprint& journal);

  // More commits follow, of another writer.
  void Follow(const JournalFootprint& journal);

  // For chunks.
  ExtentPool& free() { return free_; }
  // What chunks of any size leave between each other does not fit most others, so there has to be
  // room: a `part`th of what is used, and `least` bytes; and what commits until the next checkpoint
  // need, if as much dies as until the last one.
  struct Slack {
    int64_t part = 8;
    int64_t least = int64_t{16} << 10;
    bool for_commits = true;
  };
  // The chunks that begin after this have room before it, and the file gets shorter when they go
  // there; where there is none, it is the end of the file. New chunks go before it, too.
  int64_t SetLine(const Slack& slack);
  // Whether more than 4 MiB, and than a third of what lies before the index, is free.
  bool has_much_free() const {
    return free_.size() > std::max(int64_t{4} << 20, (index_begin_ - header_len_) / 3);
  }
  // Whether a reader of a checkpoint before the last one held bytes when the line was set.
  bool is_held() const { return is_held_; }

  // A commit, or a stage that a snapshot may still read, has chunks there, in this order.
  void Place(std::span<const Extent> chunks);
  // A commit no longer needs the chunks there.
  void Bury(std::span<const Extent> chunks);

  // A scan of all chunks has found that these are not alive; nothing is dead.
  void SetFree(std::span<const Extent> extents);
  // Whether anything can become free.
  bool enabled() const { return enabled_; }
  // Of the checkpoint that the journal began after.
  uint64_t journal_since() const { return journal_since_; }
  // Bytes that become dead with the next checkpoint, if the journal ends there.
  int64_t DyingBytes(int64_t journal_end) const {
    return DyingInJournal(journal_end) + dying_bytes_;
  }
  // Those that lie from the index on: index, trailer, records, and chunks that were replaced.
  int64_t DyingInJournal(int64_t journal_end) const {
    return journal_end - index_begin_ - bytes_in_journal_;
  }

  // Frees what is dead and no reader sees. `oldest` is the generation of the oldest checkpoint that
  // is kept.
  void Release(const File& file, uint64_t oldest);
  bool has_dead() const { return !dead_.empty(); }
  // The journal that ends at `position` must not reach so far: a reader sees what lies there.
  int64_t LimitFrom(int64_t position) const;
  // Where the last dead bytes end.
  int64_t EndOfDead() const;

  // As it is after a checkpoint of that generation, which the journal up to `end` leads to. Its own
  // journal follows it, or it `inherits` the one that there is.
  FrameSpace Next(uint64_t generation, int64_t end, bool inherits = false) const;
  // Of Next: free space for a checkpoint of up to `size` bytes so that the frame gets shorter.
  std::optional<Extent> FindBelow(int64_t size) const;
  // Of Next: the index begins there.
  void PlaceIndex(int64_t begin);
  // What the checkpoint is to list.
  format::SpaceList List() const;

 private:
  int64_t JustDied() const;

  bool enabled_ = false;
  bool is_held_ = false;
  uint64_t generation_ = 0;  // of the checkpoint
  // Of the one that the journal began after: its readers may follow the journal to where it is now.
  uint64_t journal_since_ = 0;
  int64_t header_len_ = 0;
  int64_t index_begin_ = 0;
  int64_t journal_end_ = 0;  // of Next
  ExtentPool free_;          // before the index
  std::vector<format::DeadExtent> dead_;
  std::vector<format::DeadExtent> dying_;  // before the index; `died` is not known yet
  int64_t dying_bytes_ = 0;
  int64_t died_bytes_ = 0;                 // with the checkpoint
  std::map<int64_t, int64_t> in_journal_;  // ends of chunks that live there, by begin
  int64_t bytes_in_journal_ = 0;
  // Generations of the checkpoints after which chunks came, by begin, as far as readers of older
  // ones are there. They do not see these chunks.
  std::map<int64_t, uint64_t> births_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_CHECKPOINT_FRAME_SPACE_H_
