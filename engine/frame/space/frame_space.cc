#include "engine/frame/space/frame_space.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/frame/files/frame_locks.h"

namespace cairn::frame {

namespace {

using format::DeadExtent;

// Returns true if the checkpoint's list of space is covered by a seal that holds and finds damage.
bool MayTrustList(const Checkpoint& checkpoint) {
  return checkpoint.seal_holds && checkpoint.trailer_damage.ok() &&
         checkpoint.fingerprint != FingerprintType::kNone;
}

// Returns true if a reader holds one of the checkpoints [begin, end), or if that cannot be found
// out.
bool IsRead(const File& file, uint64_t begin, uint64_t end) {
  if (begin >= end) return false;
  const auto count = static_cast<int64_t>(end - begin);
  return file.IsLocked(ReaderLockByte(begin), count).value_or(true);
}

}  // namespace

FrameSpace::FrameSpace(const State& base, const JournalFootprint& journal)
    : enabled_(MayTrustList(*base.checkpoint)) {
  const int64_t header_len = base.header().header_len;
  const Extent& index = base.index();
  const int64_t index_begin = index.size() > 0 ? index.begin : base.checkpoint->trailer.begin;
  free_ = FreeSpace(header_len, index_begin);
  dying_ = DyingSpace(index_begin, 0);
  if (!enabled_) return;
  const format::Seal& seal = *base.checkpoint->seal;
  generation_ = seal.generation;
  dying_ =
      DyingSpace(index_begin, seal.journal.has_value() ? std::min(generation_, seal.journal->since)
                                                       : generation_);
  bool fits = true;
  ExtentPool both;
  for (const Extent& extent : seal.space.free) {
    fits = fits && extent.begin >= header_len && extent.end <= index_begin;
    fits = fits && free_.Add(extent) && both.Add(extent);
  }
  for (const DeadExtent& dead : seal.space.dead) {
    fits = fits && dead.bytes.begin >= header_len && both.Add(dead.bytes);
  }
  if (fits) {
    dead_ = DeadSpace(seal.space.dead, generation_);
    for (const format::BornExtent& born : seal.space.born) {
      births_.Set(born.bytes, born.generation);
    }
  } else {
    free_.Clear();
  }
  free_.BeginAfter(index_begin, dead_.JustDied(INT64_MAX));
  CatchUp(journal);
}

void FrameSpace::CatchUp(const JournalFootprint& journal) {
  if (!enabled_) return;
  std::vector<Extent> placed;
  for (const JournalFootprint::Placed& chunk : journal.placed) placed.push_back(chunk.bytes);
  Place(placed);
  MarkDying(journal.removed);
  // Dead bytes may have become free after the list was written, and a chunk may lie there now.
  std::ranges::sort(placed, {}, &Extent::begin);
  for (const Extent& chunk : placed) free_.pool().Remove(chunk);
  std::vector<DeadExtent> left;
  for (const DeadExtent& dead : dead_.List()) {
    for (const Extent& rest : Without(dead.bytes, placed)) {
      left.push_back({.bytes = rest, .born = dead.born, .died = dead.died});
    }
  }
  dead_ = DeadSpace(std::move(left), generation_);
}

void FrameSpace::Check() const {
  if (!enabled_) return;
  free_.Check();
  dying_.Check();
  CAIRN_DCHECK(free_.end() == dying_.index_begin());
}

void FrameSpace::SetUnused(std::span<const Extent> extents, bool may_be_read) {
  if (!enabled_) return;
  std::vector<DeadExtent> dead;
  if (may_be_read) {
    dead = dead_.List();
  } else {
    free_.Clear();
  }
  // A snapshot of staged edits may read chunks that were rolled back.
  std::vector<Extent> known = free_.pool().List();
  for (const DeadExtent& each : dead) known.push_back(each.bytes);
  for (const DeadExtent& each : dying_.chunks()) known.push_back(each.bytes);
  std::ranges::sort(known, {}, &Extent::begin);
  for (const Extent& extent : extents) {
    for (const Extent& rest : Without(extent, known)) {
      if (may_be_read) {
        dead.push_back({.bytes = rest, .born = 0, .died = generation_});
      } else {
        free_.Add(rest);
      }
    }
  }
  dead_ = DeadSpace(Joined(std::move(dead)), generation_);
  Check();
}

void FrameSpace::Place(std::span<const Extent> chunks) {
  if (!enabled_) return;
  for (const Extent& chunk : chunks) {
    placed_.Add(chunk);
    if (chunk.begin >= dying_.index_begin()) {
      dying_.PlaceInJournal(chunk);
    } else {
      births_.Set(chunk, dying_.journal_since());
    }
  }
  Check();
}

void FrameSpace::MarkDying(std::span<const Extent> chunks) {
  if (!enabled_) return;
  for (const Extent& chunk : chunks) dying_.MarkDying(chunk, births_);
  Check();
}

void FrameSpace::Release(const File& file, uint64_t oldest) {
  if (!dying_.is_split()) dead_.BeginRelease();
  ReleaseSome(file, oldest, INT64_MAX);
}

void FrameSpace::ReleaseSome(const File& file, uint64_t oldest, int64_t most) {
  if (!enabled_ || dying_.is_split()) return;
  // Generations above the newest date from before the frame lost its seal.
  if (IsRead(file, generation_ + 1, format::kMaxGeneration + 1)) return;
  if (!dead_.is_releasing()) dead_.BeginRelease();
  dead_.Release(
      most, [&](uint64_t born, uint64_t died) { return died > oldest || IsRead(file, born, died); },
      [&](const Extent& bytes) {
        births_.Forget(bytes);
        free_.Add(bytes);
      });
  Check();
  // Readers that open the frame from now on see all of these bytes. A birth only matters to a
  // reader of an older generation.
  const uint64_t newest = births_.empty() ? generation_ : births_.newest();
  if (!births_.is_kept() || IsRead(file, 0, newest)) return;
  births_.Clear(newest < generation_);
}

void FrameSpace::BeginAfter(uint64_t generation, int64_t index_begin, DeadSpace dead) {
  generation_ = generation;
  dead_ = std::move(dead);
  placed_ = {};
  free_.BeginAfter(index_begin, dead_.JustDied(INT64_MAX));
  births_.Keep();
  Check();
}

// Lets bytes up to `end` become free for chunks, until PlaceIndex says where the index begins.
void FrameSpace::MakeNext(uint64_t generation, int64_t end) {
  if (!enabled_) return;
  CAIRN_DCHECK(generation > generation_ && end >= dying_.index_begin());
  DeadSpace dead(dying_.DeadAfter(dead_, generation, end), generation);
  births_.Set({dying_.index_begin(), end}, dying_.journal_since());
  dying_ = DyingSpace(end, generation);
  BeginAfter(generation, end, std::move(dead));
}

void FrameSpace::PlaceIndex(int64_t begin, int64_t journal_end) {
  free_.pool().Remove({std::min(begin, journal_end), INT64_MAX});
  free_.MoveEnd(begin);
  dying_.MoveIndex(begin);
  if (!enabled_) return;
  // The bytes between the journal and the index are free, except those that a reader sees.
  std::vector<Extent> seen;
  for (const DeadExtent& each : dead_.List()) seen.push_back(each.bytes);
  for (const Extent& unseen : Without({journal_end, begin}, seen)) free_.Add(unseen);
  Check();
}

// Adds up the bytes after the room that are free, dead or dying. In an intact frame no byte counts
// twice.
std::optional<Extent> FrameSpace::RoomBelow(int64_t size) const {
  constexpr int64_t kMostAfter = 4096;
  const std::optional<Extent> room = free_.pool().Largest();
  if (!enabled_ || dying_.live_bytes() > 0 || !room.has_value()) return std::nullopt;
  std::vector<Extent> after;
  if (free_.pool().ListFrom(room->end, kMostAfter, after)) return std::nullopt;
  int64_t unused = dead_.BytesBetween(room->end, free_.end());
  for (const Extent& extent : after) unused += extent.size();
  for (const DeadExtent& dying : dying_.chunks()) {
    if (dying.bytes.begin >= room->end) unused += dying.bytes.size();
  }
  const int64_t spare = room->size() - size;
  if (unused < free_.end() - room->end || spare < 0) return std::nullopt;
  return Extent{room->begin + std::min(dying_.chunk_bytes(), spare / 2), room->end};
}

void FrameSpace::BeginNext(uint64_t generation, int64_t end, int64_t below) {
  CAIRN_DCHECK(generation > generation_);
  dying_.Split(generation, end);
  free_.SetAside(below);
}

int64_t FrameSpace::MostListed(uint64_t generation, int64_t end) const {
  // Each chunk of the journal, and each dead extent in it, may split the dead journal.
  const int64_t dead = dead_.count() + dead_.CountAfter(dying_.index_begin()) + dying_.count();
  return format::SpaceList::MostBytes(free_.count(), dead, births_.count() + 1,
                                      std::max(end, dead_.end()), generation);
}

void FrameSpace::EndNext(int64_t index_begin, DeadSpace dead) {
  if (!enabled_) return;
  births_.Set(dying_.split_journal(), dying_.journal_since());
  const uint64_t generation = dying_.split_generation();
  dying_.EndSplit(index_begin);
  free_.KeepAside();
  BeginAfter(generation, index_begin, std::move(dead));
}

void FrameSpace::EndNextBelow(int64_t index_begin, int64_t old_end, DeadSpace dead) {
  if (!enabled_) return;
  const uint64_t generation = dying_.split_generation();
  dying_.EndSplitAndJournal(index_begin);
  free_.KeepAside();
  dead.ExtendLast(old_end);
  BeginAfter(generation, index_begin, std::move(dead));
}

void FrameSpace::CancelNext() {
  dying_.CancelSplit();
  free_.ReturnAside();
  Check();
}

bool FrameSpace::ListBorn(int64_t begin, int64_t most,
                          std::vector<format::BornExtent>& list) const {
  if (births_.ListFrom(begin, dying_.index_begin(), most, list)) return true;
  // The journal up to the split lies before the next index.
  if (dying_.is_split() && births_.is_kept()) {
    list.push_back({.bytes = dying_.split_journal(), .generation = dying_.journal_since()});
  }
  return false;
}

format::SpaceList FrameSpace::List() const {
  format::SpaceList list = {.free = free_.pool().List(), .dead = dead_.List()};
  ListBorn(0, INT64_MAX, list.born);
  return list;
}

}  // namespace cairn::frame
