// Knows which space of a contiguous frame's file may be used again, on behalf of its writer.
//
// Bytes become free in three steps. A commit no longer needs a chunk: it is dying (DyingSpace),
// since the checkpoint and the commits after it still need it, and recovery may go back to them.
// With the next checkpoint it is dead (DeadSpace): only readers of older states may see it. When
// the last of them is closed, it is free (FreeSpace). The index, the trailer and the records of a
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

// Chunks that commits have put into a file.
struct PlacedChunks {
  int64_t count = 0;
  int64_t bytes = 0;

  void Add(const Extent& chunk) {
    ++count;
    bytes += chunk.size();
  }
};

// Takes bytes from one step to the next. A copy is cheap if little is free. Not thread-safe.
class FrameSpace {
 public:
  // Has no free bytes, and never gets any.
  FrameSpace() = default;
  // Begins with the list of the checkpoint, without the bytes that the commits after it took. That
  // list is a cache: if it cannot be trusted, space is lost until Reclaim finds it.
  FrameSpace(const State& base, const JournalFootprint& journal);

  // Takes over the commits of another writer.
  void CatchUp(const JournalFootprint& journal);

  // Returns true if anything can become free.
  bool enabled() const { return enabled_; }
  FreeSpace& free() { return free_; }
  const FreeSpace& free() const { return free_; }
  const DyingSpace& dying() const { return dying_; }
  const DeadSpace& dead() const { return dead_; }
  // Returns how many extents ListBorn would list, except for the journal.
  int64_t CountBorn() const { return births_.count(); }
  // Returns the position that the journal which ends at `position` must not reach, because a reader
  // sees the bytes there.
  int64_t LimitFrom(int64_t position) const { return dead_.FirstAfter(position); }
  // Returns the end of the last dead bytes.
  int64_t EndOfDead() const { return dead_.end(); }

  // Adds the chunks of a commit, or of staged edits that a snapshot may still read, in this order.
  void Place(std::span<const Extent> chunks);
  // Marks chunks that a commit no longer needs.
  void MarkDying(std::span<const Extent> chunks);
  // Takes note of all bytes where no chunk lives, in order, as a scan of all chunks found them. If
  // readers of older checkpoints may see some, those that were not free are dead. Else all are
  // free, and nothing is dead.
  void SetUnused(std::span<const Extent> extents, bool may_be_read);

  // Frees dead bytes that no reader sees. `oldest` is the generation of the oldest checkpoint that
  // is kept. Does nothing between BeginNext and EndNext.
  void Release(const File& file, uint64_t oldest);
  // Releases up to `most` extents: a pass through all continues, or the next one begins.
  void ReleaseSome(const File& file, uint64_t oldest, int64_t most);
  // Returns true while a pass must continue.
  bool is_releasing() const { return !dying_.is_split() && dead_.is_releasing(); }

  // The chunks since the last checkpoint.
  const PlacedChunks& placed() const { return placed_; }

  // Makes this the space after a checkpoint of that generation, to which the journal up to `end`
  // leads. Bytes that die with it are dead. Its index begins at `end` unless PlaceIndex comes next;
  // its journal follows it.
  void MakeNext(uint64_t generation, int64_t end);
  // Moves the index to `begin`, also if an earlier call placed it elsewhere. The journal before it
  // ended at `journal_end`.
  void PlaceIndex(int64_t begin, int64_t journal_end);
  // Returns the list for the checkpoint.
  format::SpaceList List() const;

  // Returns the largest free extent, if it has `size` bytes and no live bytes follow it, without
  // some bytes at its beginning that chunks of the next commits may need.
  std::optional<Extent> RoomBelow(int64_t size) const;
  // Begins a checkpoint of that generation, of the journal up to `end`, which is made during the
  // commits that follow. It takes all free bytes from `below` on.
  void BeginNext(uint64_t generation, int64_t end, int64_t below = INT64_MAX);
  // Appends to `list`, for that checkpoint, when the chunks before its index were born: up to
  // `most` extents from `begin` on. Returns false if there are no more.
  bool ListBorn(int64_t begin, int64_t most, std::vector<format::BornExtent>& list) const;
  // Returns the extents that are dead after that checkpoint. A thread may call this: the bytes that
  // it reads do not change before EndNext or CancelNext.
  std::vector<format::DeadExtent> NextDead() const { return dying_.DeadAfterSplit(dead_); }
  // Returns the most bytes that the list of a checkpoint of that generation, of the journal up to
  // `end`, takes.
  int64_t MostListed(uint64_t generation, int64_t end) const;
  // Ends the work with a durable checkpoint, whose index begins at `index_begin` and which inherits
  // the journal.
  void EndNext(int64_t index_begin, DeadSpace dead);
  // Ends the work with a durable checkpoint in free space, whose index begins at `index_begin` and
  // which has a journal of its own. The old journal, which ends at `old_end`, is dead.
  void EndNextBelow(int64_t index_begin, int64_t old_end, DeadSpace dead);
  // Ends the work without a checkpoint.
  void CancelNext();

 private:
  // Checks free and dying space, and that they agree where the index begins.
  void Check() const;
  // Begins again after a checkpoint of that generation, whose index begins at `index_begin`.
  void BeginAfter(uint64_t generation, int64_t index_begin, DeadSpace dead);

  bool enabled_ = false;
  uint64_t generation_ = 0;  // of the checkpoint
  FreeSpace free_;
  DyingSpace dying_;
  DeadSpace dead_;
  PlacedChunks placed_;
  // The checkpoints after which chunks were written, kept while there are readers of older ones,
  // which do not see these chunks.
  Births births_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_SPACE_FRAME_SPACE_H_
