#include "engine/frame/space/dead_space.h"

#include <algorithm>
#include <functional>

#include "engine/base/check.h"

namespace cairn::frame {

using format::DeadExtent;

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

DeadSpace::DeadSpace(std::vector<DeadExtent> dead, uint64_t generation)
    : waiting_(std::move(dead)), generation_(generation) {
  // Binary searches need the order.
  CAIRN_DCHECK(std::ranges::is_sorted(waiting_, {},
                                      [](const DeadExtent& each) { return each.bytes.begin; }));
  for (const DeadExtent& each : waiting_) {
    if (each.died == generation_) {
      just_died_ += each.bytes.size();
    } else {
      ++older_;
    }
  }
}

int64_t DeadSpace::FirstAfter(int64_t position) const {
  const auto ends_before = [&](const DeadExtent& dead) { return dead.bytes.end <= position; };
  const auto waiting = std::ranges::partition_point(waiting_, ends_before);
  if (waiting != waiting_.end()) return waiting->bytes.begin;
  const auto held = std::ranges::partition_point(
      held_, [&](const DeadExtent& dead) { return !ends_before(dead); });
  return held == held_.begin() ? INT64_MAX : (held - 1)->bytes.begin;
}

int64_t DeadSpace::CountAfter(int64_t position) const {
  const auto is_after = [&](const DeadExtent& dead) { return dead.bytes.end > position; };
  const auto waiting = std::ranges::partition_point(waiting_, std::not_fn(is_after));
  const auto held = std::ranges::partition_point(held_, is_after);
  return (waiting_.end() - waiting) + (held - held_.begin());
}

int64_t DeadSpace::end() const {
  if (!held_.empty()) return held_.front().bytes.end;
  return waiting_.empty() ? 0 : waiting_.back().bytes.end;
}

std::vector<DeadExtent> DeadSpace::List() const {
  std::vector<DeadExtent> list = waiting_;
  list.insert(list.end(), held_.rbegin(), held_.rend());
  return list;
}

int64_t DeadSpace::BytesBetween(int64_t position, int64_t end) const {
  int64_t bytes = 0;
  const auto add = [&](const DeadExtent& dead) {
    if (dead.bytes.end <= position) return false;
    bytes +=
        std::max<int64_t>(0, std::min(dead.bytes.end, end) - std::max(dead.bytes.begin, position));
    return true;
  };
  for (auto dead = held_.begin(); dead != held_.end() && add(*dead);) ++dead;
  for (auto dead = waiting_.rbegin(); dead != waiting_.rend() && add(*dead);) ++dead;
  return bytes;
}

void DeadSpace::ExtendLast(int64_t end) {
  if (waiting_.empty()) return;
  DeadExtent& last = waiting_.back();
  const int64_t more = std::max<int64_t>(0, end - last.bytes.end);
  last.bytes.end += more;
  if (last.died == generation_) just_died_ += more;
}

int64_t DeadSpace::JustDied(int64_t limit) const {
  int64_t bytes = just_died_;
  // Few extents lie after `limit`: the old index and journal of a shrinking checkpoint.
  const auto subtract = [&](const DeadExtent& dead) {
    if (dead.bytes.end <= limit) return false;
    if (dead.died == generation_) bytes -= dead.bytes.end - std::max(dead.bytes.begin, limit);
    return true;
  };
  for (auto dead = held_.begin(); dead != held_.end() && subtract(*dead);) ++dead;
  for (auto dead = waiting_.rbegin(); dead != waiting_.rend() && subtract(*dead);) ++dead;
  return bytes;
}

int64_t DeadSpace::EndOfOlder() const {
  if (older_ == 0) return 0;
  const auto is_older = [&](const DeadExtent& dead) { return dead.died != generation_; };
  const auto held = std::ranges::find_if(held_, is_older);
  if (held != held_.end()) return held->bytes.end;
  const auto waiting = std::ranges::find_if(waiting_.rbegin(), waiting_.rend(), is_older);
  return waiting == waiting_.rend() ? 0 : waiting->bytes.end;
}

void DeadSpace::BeginRelease() {
  waiting_.insert(waiting_.end(), held_.rbegin(), held_.rend());
  held_.clear();
  asked_.clear();
}

void DeadSpace::Forget(const DeadExtent& dead) {
  if (dead.died == generation_) {
    just_died_ -= dead.bytes.size();
  } else {
    --older_;
  }
  CAIRN_DCHECK(just_died_ >= 0 && older_ >= 0);
}

void DeadSpace::Release(int64_t most, IsHeld is_held, absl::FunctionRef<void(const Extent&)> give) {
  for (; most > 0 && !waiting_.empty(); --most) {
    const DeadExtent dead = waiting_.back();
    waiting_.pop_back();
    const auto [answer, is_new] = asked_.try_emplace({dead.born, dead.died}, true);
    if (is_new) answer->second = is_held(dead.born, dead.died);
    if (answer->second) {
      CAIRN_DCHECK(held_.empty() || dead.bytes.begin <= held_.back().bytes.begin);
      held_.push_back(dead);
    } else {
      Forget(dead);
      give(dead.bytes);
    }
  }
}

}  // namespace cairn::frame
