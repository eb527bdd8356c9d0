// The space of a contiguous frame's file that may be used again, as the frame's writer knows it.
//
// Bytes become free in three steps. A commit no longer needs a chunk: the checkpoint and the
// commits after it still do, and recovery may go back to them. With the next checkpoint it is dead:
// only readers of older states may see it. When none of them is left it is free. The index, the
// trailer and the records of a checkpoint die with the next one.
#ifndef CAIRN_ENGINE_FRAME_SPACE_FRAME_SPACE_H_
#define CAIRN_ENGINE_FRAME_SPACE_FRAME_SPACE_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"

#include "cairn/file_system.h"
#include "engine/base/extent.h"
#include "engine/base/extent_pool.h"
#include "engine/format/seal.h"
#include "engine/frame/replay/replay.h"
#include "engine/frame/space/births.h"
#include "engine/frame/space/dead_space.h"
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
  void CatchUp(const JournalFootprint& journal);

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
  // Does a bounded part of the work that this is for the free space. Whether it is done.
  bool MoveLine(int64_t most) { return free_.SetLine(line_, most); }
  // Whether more than `least` bytes are free, and what lies before the index takes more than so
  // many times what is used of it.
  bool TakesTimes(int64_t times, int64_t least) const {
    const int64_t all = index_begin_ - header_len_;
    return free_.size() > std::max(least, all - all / times);
  }
  // Whether a reader of a checkpoint before the last one held bytes when the line was set.
  bool is_held() const { return is_held_; }

  // A commit, or a stage that a snapshot may still read, has chunks there, in this order.
  void Place(std::span<const Extent> chunks);
  // A commit no longer needs the chunks there.
  void MarkDying(std::span<const Extent> chunks);

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
  // is kept. Nothing between BeginNext and EndNext.
  void Release(const File& file, uint64_t oldest);
  // The same, of up to `most` extents: a pass through all goes on, or the next one begins.
  void ReleaseSome(const File& file, uint64_t oldest, int64_t most);
  // Whether a pass is to go on.
  bool is_releasing() const { return !ended_.has_value() && dead_.is_releasing(); }
  bool has_dead() const { return !dead_.empty(); }
  // The journal that ends at `position` must not reach so far: a reader sees what lies there.
  int64_t LimitFrom(int64_t position) const { return dead_.FirstAfter(position); }
  // Where the last dead bytes end.
  int64_t EndOfDead() const { return dead_.end(); }

  // Makes it what it is after a checkpoint of that generation, which the journal up to `end` leads
  // to. Its own journal follows it.
  void MakeNext(uint64_t generation, int64_t end);
  // After MakeNext: free space for a checkpoint of up to `size` bytes so that the frame gets
  // shorter.
  std::optional<Extent> FindBelow(int64_t size) const;
  // Where an index is to begin that goes after the journal, which ends at `end`: after all that
  // readers need or, where the frame would then take more than so many times what is used of it, at
  // the first `size` bytes between.
  int64_t FindAbove(int64_t end, int64_t size, int64_t times) const;
  // After MakeNext: the index begins there, or at another place than the last call said.
  void PlaceIndex(int64_t begin);
  // What the checkpoint is to list.
  format::SpaceList List() const;

  // Free space that nothing which lives follows: `size` bytes, and as many as there are after
  // these, but for some that chunks of the next commits may need.
  std::optional<Extent> RoomBelow(int64_t size) const;
  // A checkpoint of that generation, of the journal up to `end`, is made beside commits that go on
  // somewhere after that. It takes what is free from `below` on.
  void BeginNext(uint64_t generation, int64_t end, int64_t below = INT64_MAX);
  // When chunks before the index were born, then: up to `most` of these extents go to the end of
  // `list`, from `begin` on. False if there are no more.
  bool ListBorn(int64_t begin, int64_t most, std::vector<format::BornExtent>& list) const;
  int64_t CountBorn() const { return births_.count(); }
  // What is dead then. It reads what does not change before EndNext or CancelNext: a thread may.
  std::vector<format::DeadExtent> NextDead() const;
  // How many bytes the list of a checkpoint of that generation, of the journal up to `end`, takes
  // at most.
  int64_t MostListed(uint64_t generation, int64_t end) const;
  // It is durable. Its index begins there, and its journal is the one that there is.
  void EndNext(int64_t index_begin, DeadSpace dead);
  // It is durable, and begins where `below` was. Its journal is another one; the old one, which
  // ends at `old_end`, is dead.
  void EndNextBelow(int64_t old_end, DeadSpace dead);
  // It is not to be.
  void CancelNext();

 private:
  // What dies with the checkpoint that is made beside commits: what had died before it was begun,
  // and the journal up to `end` but for these chunks.
  struct Ended {
    uint64_t generation = 0;
    int64_t end = 0;
    std::vector<format::DeadExtent> dying;
    int64_t dying_bytes = 0;
    std::vector<Extent> in_journal;
    int64_t bytes_in_journal = 0;
    int64_t below = INT64_MAX;
    std::vector<Extent> taken;  // of what was free
  };

  // Checks that free space lies before the index, and that the sums of what dies are right.
  void Check() const;
  void MarkDying(const Extent& chunk);
  void TakeNext(int64_t index_begin, DeadSpace dead);
  std::vector<format::DeadExtent> DeadAfter(uint64_t generation, int64_t end,
                                            std::span<const format::DeadExtent> dying,
                                            std::span<const Extent> in_journal) const;

  bool enabled_ = false;
  bool is_held_ = false;
  uint64_t generation_ = 0;  // of the checkpoint
  // Of the one that the journal began after: its readers may follow the journal to where it is now.
  uint64_t journal_since_ = 0;
  int64_t header_len_ = 0;
  int64_t index_begin_ = 0;
  int64_t journal_end_ = 0;  // at MakeNext
  ExtentPool free_;          // before the index
  int64_t line_ = INT64_MAX;
  DeadSpace dead_;
  std::vector<format::DeadExtent> dying_;  // before the journal; `died` is not known yet
  int64_t dying_bytes_ = 0;
  int64_t died_bytes_ = 0;  // with the checkpoint
  // Chunks that live there, in order; those that died since are empty.
  std::vector<Extent> in_journal_;
  int64_t bytes_in_journal_ = 0;
  std::optional<Ended> ended_;
  // After which checkpoints chunks came, as far as readers of older ones are there. They do not see
  // these chunks.
  Births births_;
  bool has_older_readers_ = true;  // perhaps
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_SPACE_FRAME_SPACE_H_
