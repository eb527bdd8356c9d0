#include "engine/frame/checkpoint/frame_space.h"

#include <algorithm>
#include <utility>

#include "engine/frame/files/frame_locks.h"

namespace cairn::frame {

namespace {

using format::DeadExtent;

// The list is sealed, and by what finds damage.
bool MayTrustList(const Checkpoint& checkpoint) {
  return checkpoint.seal_holds && checkpoint.trailer_damage.ok() &&
         checkpoint.fingerprint != FingerprintType::kNone;
}

// What is left of `whole` without `parts`, which are in order.
std::vector<Extent> Without(const Extent& whole, std::span<const Extent> parts) {
  std::vector<Extent> left;
  int64_t begin = whole.begin;
  for (auto part = std::ranges::lower_bound(parts, whole.begin + 1, {}, &Extent::end);
       part != parts.end() && part->begin < whole.end; ++part) {
    if (part->begin > begin) left.push_back({begin, part->begin});
    begin = std::max(begin, part->end);
  }
  if (begin < whole.end) left.push_back({begin, whole.end});
  return left;
}

// In order, and neighbours that live and die together as one. What overlaps, as chunks of a frame
// that lies do, is needed as long as any part of it.
std::vector<DeadExtent> Joined(std::vector<DeadExtent> dead) {
  std::ranges::sort(dead, {}, [](const DeadExtent& each) { return each.bytes.begin; });
  std::vector<DeadExtent> joined;
  for (const DeadExtent& each : dead) {
    DeadExtent* const last = joined.empty() ? nullptr : &joined.back();
    const bool overlaps = last != nullptr && each.bytes.begin < last->bytes.end;
    const bool goes_on = last != nullptr && each.bytes.begin == last->bytes.end &&
                         each.born == last->born && each.died == last->died;
    if (!overlaps && !goes_on) {
      joined.push_back(each);
      continue;
    }
    last->bytes.end = std::max(last->bytes.end, each.bytes.end);
    last->born = std::min(last->born, each.born);
    last->died = std::max(last->died, each.died);
  }
  return joined;
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
  if (fits) dead_ = list.dead;
  if (!fits) free_ = {};
  died_bytes_ = JustDied();
  Follow(journal);
}

void FrameSpace::Follow(const JournalFootprint& journal) {
  if (!enabled_) return;
  std::vector<Extent> placed;
  for (const JournalFootprint::Placed& chunk : journal.placed) placed.push_back(chunk.bytes);
  Place(placed);
  Bury(journal.removed);
  // What was dead may have become free, and a chunk have come there.
  std::ranges::sort(placed, {}, &Extent::begin);
  for (const Extent& chunk : placed) free_.Remove(chunk);
  std::vector<DeadExtent> left;
  for (const DeadExtent& dead : dead_) {
    for (const Extent& rest : Without(dead.bytes, placed)) {
      left.push_back({.bytes = rest, .born = dead.born, .died = dead.died});
    }
  }
  dead_ = std::move(left);
}

void FrameSpace::SetFree(std::span<const Extent> extents) {
  if (!enabled_) return;
  free_ = {};
  dead_.clear();
  for (const Extent& extent : extents) {
    free_.Add({extent.begin, std::clamp(index_begin_, extent.begin, extent.end)});
  }
  // A snapshot of staged edits may read what was rolled back.
  for (const DeadExtent& dying : dying_) free_.Remove(dying.bytes);
}

void FrameSpace::Place(std::span<const Extent> chunks) {
  if (!enabled_) return;
  for (const Extent& chunk : chunks) {
    if (chunk.begin >= index_begin_) {
      in_journal_[chunk.begin] = chunk.end;
      bytes_in_journal_ += chunk.size();
    } else {
      births_[chunk.begin] = journal_since_;
    }
  }
}

void FrameSpace::Bury(std::span<const Extent> chunks) {
  if (!enabled_) return;
  for (const Extent& chunk : chunks) {
    // The journal dies as a whole.
    if (chunk.begin >= index_begin_) {
      if (in_journal_.erase(chunk.begin) > 0) bytes_in_journal_ -= chunk.size();
      continue;
    }
    if (chunk.end > index_begin_) continue;  // no chunk of a Cairn
    const auto born = births_.find(chunk.begin);
    dying_.push_back({.bytes = chunk, .born = born == births_.end() ? 0 : born->second});
    if (born != births_.end()) births_.erase(born);
    dying_bytes_ += chunk.size();
  }
}

void FrameSpace::Release(const File& file, uint64_t oldest) {
  if (!enabled_) return;
  // Generations above the newest date from before the frame lost its seal.
  if (IsRead(file, generation_ + 1, format::kMaxGeneration + 1)) return;
  std::map<std::pair<uint64_t, uint64_t>, bool> asked;
  std::vector<DeadExtent> held;
  for (const DeadExtent& dead : dead_) {
    const auto [answer, is_new] = asked.try_emplace({dead.born, dead.died}, dead.died > oldest);
    if (is_new && !answer->second) answer->second = IsRead(file, dead.born, dead.died);
    if (answer->second) {
      held.push_back(dead);
    } else {
      free_.Add({dead.bytes.begin, std::clamp(index_begin_, dead.bytes.begin, dead.bytes.end)});
    }
  }
  dead_ = std::move(held);
  // Every reader that is still to come sees what there is now.
  if (!births_.empty() && !IsRead(file, 0, generation_)) births_.clear();
}

int64_t FrameSpace::LimitFrom(int64_t position) const {
  int64_t limit = INT64_MAX;
  for (const DeadExtent& dead : dead_) {
    if (dead.bytes.end > position) limit = std::min(limit, dead.bytes.begin);
  }
  return limit;
}

int64_t FrameSpace::EndOfDead() const {
  int64_t end = 0;
  for (const DeadExtent& dead : dead_) end = std::max(end, dead.bytes.end);
  return end;
}

// Bytes that died with the checkpoint and are not free yet.
int64_t FrameSpace::JustDied() const {
  int64_t bytes = 0;
  for (const DeadExtent& dead : dead_) bytes += dead.died == generation_ ? dead.bytes.size() : 0;
  return bytes;
}

int64_t FrameSpace::SetLine(const Slack& slack) {
  is_held_ = false;
  int64_t used = index_begin_ - header_len_ - free_.size();
  int64_t end_of_held = 0;
  for (const DeadExtent& dead : dead_) {
    if (dead.died == generation_) {
      used -= std::max<int64_t>(0, std::min(dead.bytes.end, index_begin_) - dead.bytes.begin);
    } else {
      is_held_ = true;
      end_of_held = std::max(end_of_held, dead.bytes.end);
    }
  }
  const int64_t room = used / slack.part + slack.least + (slack.for_commits ? died_bytes_ : 0);
  const int64_t line = std::max(header_len_ + used + room, end_of_held);
  free_.SetLine(line);
  return line < index_begin_ ? line : INT64_MAX;
}

FrameSpace FrameSpace::Next(uint64_t generation, int64_t end, bool inherits) const {
  FrameSpace next = *this;
  if (!enabled_) return next;
  for (DeadExtent& dying : next.dying_) {
    dying.died = generation;
    next.dead_.push_back(dying);
  }
  next.dying_.clear();
  next.dying_bytes_ = next.bytes_in_journal_ = 0;
  // Of the journal and all that it was written after, what is neither alive nor dead already.
  std::vector<Extent> others;
  for (const DeadExtent& dead : dead_) others.push_back(dead.bytes);
  for (const auto& [chunk_begin, chunk_end] : in_journal_) {
    others.push_back({chunk_begin, chunk_end});
    next.births_[chunk_begin] = journal_since_;
  }
  std::ranges::sort(others, {}, &Extent::begin);
  for (const Extent& rest : Without({index_begin_, end}, others)) {
    next.dead_.push_back({.bytes = rest, .born = journal_since_, .died = generation});
  }
  next.in_journal_.clear();
  next.dead_ = Joined(std::move(next.dead_));
  next.generation_ = generation;
  if (!inherits) next.journal_since_ = generation;
  next.died_bytes_ = next.JustDied();
  // Until PlaceIndex: what becomes free before the end is for chunks.
  next.index_begin_ = next.journal_end_ = end;
  return next;
}

std::optional<Extent> FrameSpace::FindBelow(int64_t size) const {
  // What no chunk lies in, from the end on.
  std::vector<Extent> unused = free_.List();
  for (const DeadExtent& dead : dead_) unused.push_back(dead.bytes);
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

void FrameSpace::PlaceIndex(int64_t begin) {
  free_.Remove({begin, INT64_MAX});
  index_begin_ = begin;
  if (!enabled_) return;
  // The journal ended earlier where a reader sees what lies after it.
  for (int64_t at = journal_end_; at < begin;) {
    const int64_t limit = std::min(LimitFrom(at), begin);
    if (limit > at) free_.Add({at, limit});
    at = limit;
    for (const DeadExtent& dead : dead_) {
      if (dead.bytes.begin <= at) at = std::max(at, dead.bytes.end);
    }
  }
}

format::SpaceList FrameSpace::List() const { return {.free = free_.List(), .dead = dead_}; }

}  // namespace cairn::frame
