// The space of a contiguous frame's file that may be used again, as the frame's writer knows it.
//
// Bytes become free in three steps. A commit no longer needs a chunk: it is dying (DyingSpace),
// since the checkpoint and the commits after it still need it, and recovery may go back to them.
// With the next checkpoint it is dead (DeadSpace): only readers of older states may see it. When
// none of them is left it is free (FreeSpace). The index, the trailer and the records of a
// checkpoint die with the next one.
#ifndef CAIRN_ENGINE_FRAME_SPACE_FRAME_SPACE_H_
#define CAIRN_ENGINE_FRAME_SPACE_FRAME_SPACE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cairn/file_system.h"
#include "engine/base/extent.h"
#include "engine/format/seal.h"
#include "engine/frame/replay/replay.h"
#include "engine/frame/space/births.h"
#include "engine/frame/space/dead_space.h"
#include "engine/frame/space/dying_space.h"
#include "engine/frame/space/free_space.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Takes bytes from one step to the next. A copy is cheap where little is free. Not thread-safe.
class FrameSpace {
 public:
  // Nothing is free, and nothing becomes free.
  FrameSpace() = default;
  // As the checkpoint lists it, less what the commits after it took. That list is a cache: where it
  // cannot be trusted, space is lost until Reclaim finds it.
  FrameSpace(const State& base, const JournalFootprint& journal);

  // More commits follow, of another writer.
  void CatchUp(const JournalFootprint& journal);

  // Returns true if anything can become free.
  bool enabled() const { return enabled_; }
  FreeSpace& free() { return free_; }
  const FreeSpace& free() const { return free_; }
  const DyingSpace& dying() const { return dying_; }
  const DeadSpace& dead() const { return dead_; }
  // How many extents ListBorn would list, except for the journal.
  int64_t CountBorn() const { return births_.count(); }
  // The journal that ends at `position` must not reach this position: a reader sees what lies
  // there.
  int64_t LimitFrom(int64_t position) const { return dead_.FirstAfter(position); }
  // Returns the end of the last dead bytes.
  int64_t EndOfDead() const { return dead_.end(); }

  // A commit, or a stage that a snapshot may still read, has chunks there, in this order.
  void Place(std::span<const Extent> chunks);
  // A commit no longer needs the chunks there.
  void MarkDying(std::span<const Extent> chunks);
  // A scan of all chunks has found that these are not alive; nothing is dead.
  void SetFree(std::span<const Extent> extents);

  // Frees what is dead and no reader sees. `oldest` is the generation of the oldest checkpoint that
  // is kept. Does nothing between BeginNext and EndNext.
  void Release(const File& file, uint64_t oldest);
  // Releases up to `most` extents: a pass through all continues, or the next one begins.
  void ReleaseSome(const File& file, uint64_t oldest, int64_t most);
  // Returns true while a pass must continue.
  bool is_releasing() const { return !dying_.is_split() && dead_.is_releasing(); }

  // A checkpoint of that generation, which the journal up to `end` leads to, follows: what dies
  // with it is dead. Its index begins at `end` unless PlaceIndex comes next; its journal follows
  // it.
  void MakeNext(uint64_t generation, int64_t end);
  // The index begins there, or at another place than the last call said. The journal before it
  // ended at `journal_end`.
  void PlaceIndex(int64_t begin, int64_t journal_end);
  // Returns what the checkpoint must list.
  format::SpaceList List() const;

  // Returns free space that no live bytes follow: `size` bytes, and as many as there are after
  // these, except some that chunks of the next commits may need.
  std::optional<Extent> RoomBelow(int64_t size) const;
  // A checkpoint of that generation, of the journal up to `end`, is made beside commits that
  // continue somewhere after that. It takes what is free from `below` on.
  void BeginNext(uint64_t generation, int64_t end, int64_t below = INT64_MAX);
  // When chunks before the index were born, then: up to `most` of these extents are added to the
  // end of `list`, from `begin` on. Returns false if there are no more.
  bool ListBorn(int64_t begin, int64_t most, std::vector<format::BornExtent>& list) const;
  // Returns what is dead then. A thread may call this: it reads what does not change before EndNext
  // or CancelNext.
  std::vector<format::DeadExtent> NextDead() const { return dying_.DeadAfterSplit(dead_); }
  // Returns the most bytes that the list of a checkpoint of that generation, of the journal up to
  // `end`, takes.
  int64_t MostListed(uint64_t generation, int64_t end) const;
  // The checkpoint is durable. Its index begins there, and its journal is the one that there is.
  void EndNext(int64_t index_begin, DeadSpace dead);
  // The checkpoint is durable, and its index begins there, in free space. Its journal is another
  // one; the old one, which ends at `old_end`, is dead.
  void EndNextBelow(int64_t index_begin, int64_t old_end, DeadSpace dead);
  // The checkpoint was dropped.
  void CancelNext();

 private:
  // Checks free and dying space, and that they agree where the index begins.
  void Check() const;
  // The newest checkpoint is of that generation. Its index begins there, and `dead` is dead.
  void BeginAfter(uint64_t generation, int64_t index_begin, DeadSpace dead);

  bool enabled_ = false;
  uint64_t generation_ = 0;  // of the checkpoint
  FreeSpace free_;
  DyingSpace dying_;
  DeadSpace dead_;
  // After which checkpoints chunks came, as far as readers of older ones are there. They do not see
  // these chunks.
  Births births_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_SPACE_FRAME_SPACE_H_
