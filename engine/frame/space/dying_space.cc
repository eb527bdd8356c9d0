#include "engine/frame/space/dying_space.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/base/check.h"

namespace cairn::frame {

using format::DeadExtent;

void DyingSpace::PlaceInJournal(const Extent& chunk) {
  CAIRN_DCHECK(chunk.begin >= index_begin_);
  // The place is nearly always at the end.
  auto at = now_.live.end();
  while (at != now_.live.begin() && std::prev(at)->begin > chunk.begin) --at;
  now_.live.insert(at, chunk);
  now_.live_bytes += chunk.size();
}

void DyingSpace::MarkDying(const Extent& chunk, const Births& births) {
  // The journal dies as a whole.
  const int64_t journal_begin = split_.has_value() ? split_->end : index_begin_;
  if (chunk.begin >= journal_begin) {
    const auto at = std::ranges::lower_bound(now_.live, chunk.begin, {}, &Extent::begin);
    if (at == now_.live.end() || *at != chunk) return;
    now_.live_bytes -= chunk.size();
    at->end = at->begin;
    return;
  }
  if (chunk.end > journal_begin) return;  // no Cairn wrote such a chunk
  const bool was_in_journal = chunk.begin >= index_begin_;
  now_.dying.push_back(
      {.bytes = chunk, .born = was_in_journal ? journal_since_ : births.Of(chunk.begin)});
  now_.dying_bytes += chunk.size();
}

int64_t DyingSpace::chunk_bytes() const {
  return now_.dying_bytes + (split_.has_value() ? split_->part.dying_bytes : 0);
}

int64_t DyingSpace::live_bytes() const {
  return now_.live_bytes + (split_.has_value() ? split_->part.live_bytes : 0);
}

int64_t DyingSpace::EndOfLive() const {
  int64_t end = split_.has_value() ? split_->end : index_begin_;
  for (const Extent& chunk : now_.live) end = std::max(end, chunk.end);
  return end;
}

std::vector<DeadExtent> DyingSpace::DeadOf(const Part& part, const DeadSpace& before,
                                           uint64_t generation, int64_t end) const {
  std::vector<DeadExtent> dead = before.List();
  // The index, the trailer and the journal die, except the chunks that live in them and the bytes
  // that are dead already.
  std::vector<Extent> others;
  for (const DeadExtent& each : dead) {
    if (each.bytes.end > index_begin_) others.push_back(each.bytes);
  }
  others.insert(others.end(), part.live.begin(), part.live.end());
  std::ranges::sort(others, {}, &Extent::begin);
  for (const Extent& rest : Without({index_begin_, end}, others)) {
    dead.push_back({.bytes = rest, .born = journal_since_, .died = generation});
  }
  for (const DeadExtent& each : part.dying) {
    dead.push_back({.bytes = each.bytes, .born = each.born, .died = generation});
  }
  return Joined(std::move(dead));
}

std::vector<DeadExtent> DyingSpace::DeadAfter(const DeadSpace& dead, uint64_t generation,
                                              int64_t end) const {
  return DeadOf(now_, dead, generation, end);
}

void DyingSpace::Split(uint64_t generation, int64_t end) {
  CAIRN_DCHECK(!split_.has_value() && end >= index_begin_);
  split_ = {.generation = generation, .end = end, .part = std::exchange(now_, {})};
  // About as many will follow. Without this, growing would copy all of them, which takes long.
  now_.dying.reserve(split_->part.dying.size() / 4 * 5);
  now_.live.reserve(split_->part.live.size() / 4 * 5);
}

std::vector<DeadExtent> DyingSpace::DeadAfterSplit(const DeadSpace& dead) const {
  return DeadOf(split_->part, dead, split_->generation, split_->end);
}

void DyingSpace::EndSplit(int64_t index_begin) {
  split_.reset();
  index_begin_ = index_begin;
}

void DyingSpace::EndSplitAndJournal(int64_t index_begin) {
  journal_since_ = split_->generation;
  EndSplit(index_begin);
  now_.live.clear();
  now_.live_bytes = 0;
}

void DyingSpace::CancelSplit() {
  if (!split_.has_value()) return;
  const Part since = std::exchange(now_, std::move(split_->part));
  split_.reset();
  now_.live.insert(now_.live.end(), since.live.begin(), since.live.end());
  now_.live_bytes += since.live_bytes;
  const Births not_needed;  // chunks in the journal need no births
  for (const DeadExtent& each : since.dying) {
    if (each.bytes.begin >= index_begin_) {
      MarkDying(each.bytes, not_needed);
    } else {
      now_.dying.push_back(each);
      now_.dying_bytes += each.bytes.size();
    }
  }
}

void DyingSpace::Check() const {
  const auto check = [](const Part& part) {
    CAIRN_DCHECK(part.dying_bytes >= 0 && part.live_bytes >= 0);
    if constexpr (kChecksAll) {
      int64_t dying = 0;
      for (const DeadExtent& each : part.dying) dying += each.bytes.size();
      CAIRN_DCHECK(dying == part.dying_bytes);
      int64_t live = 0;
      for (const Extent& each : part.live) live += each.size();
      CAIRN_DCHECK(live == part.live_bytes);
    }
  };
  check(now_);
  if (split_.has_value()) check(split_->part);
}

}  // namespace cairn::frame
