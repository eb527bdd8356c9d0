#include "engine/frame/space/frame_space.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/base/check.h"
#include "engine/frame/files/frame_locks.h"

namespace cairn::frame {

namespace {

using format::DeadExtent;

// The list is sealed, and by what finds damage.
bool MayTrustList(const Checkpoint& checkpoint) {
  return checkpoint.seal_holds && checkpoint.trailer_damage.ok() &&
         checkpoint.fingerprint != FingerprintType::kNone;
}

// Whether a reader holds one of the checkpoints [begin, end). What cannot be asked may be held.
bool IsRead(const File& file, uint64_t begin, uint64_t end) {
  if (begin >= end) return false;
  const auto count = static_cast<int64_t>(end - begin);
  return file.IsLocked(ReaderLockByte(begin), count).value_or(true);
}

}  // namespace

FrameSpace::FrameSpace(const State& base, const JournalFootprint& journal)
    : enabled_(MayTrustList(*base.checkpoint)),
      header_len_(base.header().header_len),
      index_begin_(base.index().size() > 0 ? base.index().begin : base.checkpoint->trailer.begin),
      journal_end_(CommittedEnd(base)) {
  if (!enabled_) return;
  generation_ = journal_since_ = base.checkpoint->seal->generation;
  if (base.checkpoint->seal->journal.has_value()) {
    journal_since_ = std::min(generation_, base.checkpoint->seal->journal->since);
  }
  const format::SpaceList& list = base.checkpoint->seal->space;
  bool fits = true;
  ExtentPool both;
  for (const Extent& extent : list.free) {
    fits = fits && extent.begin >= header_len_ && extent.end <= index_begin_;
    fits = fits && free_.Add(extent) && both.Add(extent);
  }
  for (const DeadExtent& dead : list.dead) {
    fits = fits && dead.bytes.begin >= header_len_ && both.Add(dead.bytes);
  }
  if (fits) {
    dead_ = DeadSpace(list.dead, generation_);
    for (const format::BornExtent& born : list.born) births_.Set(born.bytes, born.generation);
  } else {
    free_ = {};
  }
  died_bytes_ = dead_.JustDied(INT64_MAX);
  CatchUp(journal);
}

void FrameSpace::CatchUp(const JournalFootprint& journal) {
  if (!enabled_) return;
  std::vector<Extent> placed;
  for (const JournalFootprint::Placed& chunk : journal.placed) placed.push_back(chunk.bytes);
  Place(placed);
  MarkDying(journal.removed);
  // What was dead may have become free, and a chunk have come there.
  std::ranges::sort(placed, {}, &Extent::begin);
  for (const Extent& chunk : placed) free_.Remove(chunk);
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
  CAIRN_DCHECK(header_len_ <= index_begin_);
  CAIRN_DCHECK(free_.end() <= index_begin_);
  CAIRN_DCHECK(dying_bytes_ >= 0 && bytes_in_journal_ >= 0);
  if constexpr (kChecksAll) {
    int64_t dying = ended_.has_value() ? ended_->dying_bytes : 0;
    for (const DeadExtent& each : dying_) dying += each.bytes.size();
    CAIRN_DCHECK(dying == dying_bytes_);
    int64_t in_journal = ended_.has_value() ? ended_->bytes_in_journal : 0;
    for (const Extent& each : in_journal_) in_journal += each.size();
    CAIRN_DCHECK(in_journal == bytes_in_journal_);
  }
}

void FrameSpace::SetFree(std::span<const Extent> extents) {
  if (!enabled_) return;
  free_ = {};
  dead_ = {};
  for (const Extent& extent : extents) {
    free_.Add({extent.begin, std::clamp(index_begin_, extent.begin, extent.end)});
  }
  // A snapshot of staged edits may read what was rolled back.
  for (const DeadExtent& dying : dying_) free_.Remove(dying.bytes);
  Check();
}

void FrameSpace::Place(std::span<const Extent> chunks) {
  if (!enabled_) return;
  for (const Extent& chunk : chunks) {
    if (chunk.begin >= index_begin_) {
      // Nearly always the last one.
      auto at = in_journal_.end();
      while (at != in_journal_.begin() && std::prev(at)->begin > chunk.begin) --at;
      in_journal_.insert(at, chunk);
      bytes_in_journal_ += chunk.size();
    } else if (has_older_readers_) {
      births_.Set(chunk, journal_since_);
    }
  }
  Check();
}

void FrameSpace::MarkDying(std::span<const Extent> chunks) {
  if (!enabled_) return;
  for (const Extent& chunk : chunks) MarkDying(chunk);
  Check();
}

void FrameSpace::MarkDying(const Extent& chunk) {
  // The journal dies as a whole.
  const int64_t journal_begin = ended_.has_value() ? ended_->end : index_begin_;
  if (chunk.begin >= journal_begin) {
    const auto at = std::ranges::lower_bound(in_journal_, chunk.begin, {}, &Extent::begin);
    if (at == in_journal_.end() || *at != chunk) return;
    bytes_in_journal_ -= chunk.size();
    at->end = at->begin;
    return;
  }
  if (chunk.end > journal_begin) return;  // no chunk of a Cairn
  const bool was_in_journal = chunk.begin >= index_begin_;
  dying_.push_back(
      {.bytes = chunk, .born = was_in_journal ? journal_since_ : births_.Of(chunk.begin)});
  dying_bytes_ += chunk.size();
}

void FrameSpace::Release(const File& file, uint64_t oldest) {
  if (!ended_.has_value()) dead_.BeginRelease();
  ReleaseSome(file, oldest, INT64_MAX);
}

void FrameSpace::ReleaseSome(const File& file, uint64_t oldest, int64_t most) {
  if (!enabled_ || ended_.has_value()) return;
  // Generations above the newest date from before the frame lost its seal.
  if (IsRead(file, generation_ + 1, format::kMaxGeneration + 1)) return;
  if (!dead_.is_releasing()) dead_.BeginRelease();
  dead_.Release(
      most, [&](uint64_t born, uint64_t died) { return died > oldest || IsRead(file, born, died); },
      [&](const Extent& bytes) {
        births_.Forget(bytes);
        free_.Add({bytes.begin, std::clamp(index_begin_, bytes.begin, bytes.end)});
      });
  Check();
  // Every reader that is still to come sees what there is now. Of births only those matter that a
  // reader is older than.
  const uint64_t newest = births_.empty() ? generation_ : births_.newest();
  if (!has_older_readers_ || IsRead(file, 0, newest)) return;
  has_older_readers_ = newest < generation_;
  births_.Clear();
}

int64_t FrameSpace::SetLine(const Slack& slack) {
  const int64_t used = index_begin_ - header_len_ - free_.size() - dead_.JustDied(index_begin_);
  const int64_t end_of_held = dead_.EndOfOlder();
  is_held_ = end_of_held > 0;
  const int64_t room = used / slack.part + slack.least + (slack.for_commits ? died_bytes_ : 0);
  line_ = std::max(header_len_ + used + room, end_of_held);
  return line_ < index_begin_ ? line_ : INT64_MAX;
}

// In order, what is dead after a checkpoint that the journal up to `end` leads to.
std::vector<DeadExtent> FrameSpace::DeadAfter(uint64_t generation, int64_t end,
                                              std::span<const DeadExtent> dying,
                                              std::span<const Extent> in_journal) const {
  std::vector<DeadExtent> dead = dead_.List();
  // Of the journal and all that it was written after, what is neither alive nor dead already.
  std::vector<Extent> others;
  for (const DeadExtent& each : dead) {
    if (each.bytes.end > index_begin_) others.push_back(each.bytes);
  }
  others.insert(others.end(), in_journal.begin(), in_journal.end());
  std::ranges::sort(others, {}, &Extent::begin);
  for (const Extent& rest : Without({index_begin_, end}, others)) {
    dead.push_back({.bytes = rest, .born = journal_since_, .died = generation});
  }
  for (const DeadExtent& each : dying) {
    dead.push_back({.bytes = each.bytes, .born = each.born, .died = generation});
  }
  return Joined(std::move(dead));
}

void FrameSpace::MakeNext(uint64_t generation, int64_t end) {
  if (!enabled_) return;
  CAIRN_DCHECK(generation > generation_ && end >= index_begin_);
  dead_ = DeadSpace(DeadAfter(generation, end, dying_, in_journal_), generation);
  dying_.clear();
  dying_bytes_ = bytes_in_journal_ = 0;
  if (has_older_readers_) births_.Set({index_begin_, end}, journal_since_);
  has_older_readers_ = true;
  in_journal_.clear();
  generation_ = journal_since_ = generation;
  died_bytes_ = dead_.JustDied(INT64_MAX);
  // Until PlaceIndex: what becomes free before the end is for chunks.
  index_begin_ = journal_end_ = end;
  Check();
}

// In a frame that is what it says, bytes that are free, dead or dying are so once.
std::optional<Extent> FrameSpace::RoomBelow(int64_t size) const {
  constexpr int64_t kMostAfter = 4096;
  const std::optional<Extent> room = free_.Largest();
  if (!enabled_ || bytes_in_journal_ > 0 || !room.has_value()) return std::nullopt;
  std::vector<Extent> after;
  if (free_.ListFrom(room->end, kMostAfter, after)) return std::nullopt;
  int64_t unused = dead_.BytesBetween(room->end, index_begin_);
  for (const Extent& extent : after) unused += extent.size();
  for (const DeadExtent& dying : dying_) {
    if (dying.bytes.begin >= room->end) unused += dying.bytes.size();
  }
  const int64_t spare = room->size() - size;
  if (unused < index_begin_ - room->end || spare < 0) return std::nullopt;
  return Extent{room->begin + std::min(dying_bytes_, spare / 2), room->end};
}

void FrameSpace::BeginNext(uint64_t generation, int64_t end, int64_t below) {
  CAIRN_DCHECK(!ended_.has_value());
  CAIRN_DCHECK(generation > generation_ && end >= index_begin_);
  ended_ = {.generation = generation,
            .end = end,
            .dying = std::exchange(dying_, {}),
            .dying_bytes = dying_bytes_,
            .in_journal = std::exchange(in_journal_, {}),
            .bytes_in_journal = bytes_in_journal_,
            .below = below,
            .taken = free_.Remove({below, INT64_MAX})};
  // About as many follow, and copies of all when there are more take long.
  dying_.reserve(ended_->dying.size() / 4 * 5);
  in_journal_.reserve(ended_->in_journal.size() / 4 * 5);
}

std::vector<DeadExtent> FrameSpace::NextDead() const {
  return DeadAfter(ended_->generation, ended_->end, ended_->dying, ended_->in_journal);
}

int64_t FrameSpace::MostListed(uint64_t generation, int64_t end) const {
  // Each chunk of the journal, and each dead extent in it, has bytes of the journal before it.
  const int64_t dead = dead_.count() + dead_.CountAfter(index_begin_) + std::ssize(dying_) +
                       std::ssize(in_journal_) + 1;
  return format::SpaceList::MostBytes(free_.count(), dead, births_.count() + 1,
                                      std::max(end, dead_.end()), generation);
}

void FrameSpace::TakeNext(int64_t index_begin, DeadSpace dead) {
  const Ended ended = *std::exchange(ended_, std::nullopt);
  dead_ = std::move(dead);
  dying_bytes_ -= ended.dying_bytes;
  bytes_in_journal_ -= ended.bytes_in_journal;
  has_older_readers_ = true;
  generation_ = ended.generation;
  died_bytes_ = dead_.JustDied(INT64_MAX);
  index_begin_ = index_begin;
  Check();
}

void FrameSpace::EndNext(int64_t index_begin, DeadSpace dead) {
  if (!enabled_) return;
  if (has_older_readers_) births_.Set({index_begin_, ended_->end}, journal_since_);
  TakeNext(index_begin, std::move(dead));
}

void FrameSpace::EndNextBelow(int64_t old_end, DeadSpace dead) {
  if (!enabled_) return;
  dead.ExtendLast(old_end);
  TakeNext(ended_->below, std::move(dead));
  in_journal_.clear();
  bytes_in_journal_ = 0;
  journal_since_ = generation_;
}

void FrameSpace::CancelNext() {
  if (!ended_.has_value()) return;
  Ended ended = *std::exchange(ended_, std::nullopt);
  for (const Extent& extent : ended.taken) free_.Add(extent);
  const std::vector<DeadExtent> dying = std::exchange(dying_, std::move(ended.dying));
  ended.in_journal.insert(ended.in_journal.end(), in_journal_.begin(), in_journal_.end());
  in_journal_ = std::move(ended.in_journal);
  dying_bytes_ = ended.dying_bytes;
  for (const DeadExtent& each : dying) {
    if (each.bytes.begin >= index_begin_) {
      MarkDying(each.bytes);
    } else {
      dying_.push_back(each);
      dying_bytes_ += each.bytes.size();
    }
  }
  Check();
}

std::optional<Extent> FrameSpace::FindBelow(int64_t size) const {
  // What no chunk lies in, from the end on.
  std::vector<Extent> unused = free_.List();
  for (const DeadExtent& dead : dead_.List()) unused.push_back(dead.bytes);
  std::ranges::sort(unused, std::ranges::greater(), &Extent::end);
  int64_t begin = journal_end_;
  for (const Extent& extent : unused) {
    if (extent.end > begin) continue;  // after the journal
    if (extent.end < begin) break;
    begin = extent.begin;
  }
  for (const Extent& extent : free_.List()) {
    if (extent.begin >= begin && extent.size() >= size) return extent;
  }
  return std::nullopt;
}

int64_t FrameSpace::FindAbove(int64_t end, int64_t size, int64_t times) const {
  const int64_t last = std::max(end, dead_.end());
  const int64_t all = last - header_len_;
  const int64_t unused = free_.size() + last - end - dead_.BytesBetween(end, last);
  if (unused <= all - all / times) return last;
  int64_t begin = end;
  for (const DeadExtent& dead : dead_.List()) {
    if (dead.bytes.end <= begin) continue;
    if (dead.bytes.begin - begin >= size) break;
    begin = dead.bytes.end;
  }
  return begin;
}

void FrameSpace::PlaceIndex(int64_t begin) {
  free_.Remove({std::min(begin, journal_end_), INT64_MAX});
  index_begin_ = begin;
  if (!enabled_) return;
  // The journal ended earlier where a reader sees what lies after it.
  std::vector<Extent> seen;
  for (const DeadExtent& each : dead_.List()) seen.push_back(each.bytes);
  for (const Extent& unseen : Without({journal_end_, begin}, seen)) free_.Add(unseen);
  Check();
}

bool FrameSpace::ListBorn(int64_t begin, int64_t most,
                          std::vector<format::BornExtent>& list) const {
  if (births_.ListFrom(begin, index_begin_, most, list)) return true;
  // The journal so far lies before the next index.
  if (ended_.has_value() && has_older_readers_) {
    list.push_back({.bytes = {index_begin_, ended_->end}, .generation = journal_since_});
  }
  return false;
}

format::SpaceList FrameSpace::List() const {
  format::SpaceList list = {.free = free_.List(), .dead = dead_.List()};
  ListBorn(0, INT64_MAX, list.born);
  return list;
}

}  // namespace cairn::frame
