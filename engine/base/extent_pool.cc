#include "engine/base/extent_pool.h"

#include <algorithm>
#include <iterator>

#include "engine/base/check.h"

namespace cairn {

ExtentPool::Begins::const_iterator ExtentPool::FirstFrom(int64_t position) const {
  const auto at = begins_.upper_bound(position);
  return at != begins_.end() && at->second < position ? std::next(at) : at;
}

bool ExtentPool::SetLine(int64_t line, int64_t most) {
  const auto move = [&](const auto& extent, BySize& from, BySize& to) {
    const size_t removed = from.erase({extent.first - extent.second, extent.second});
    CAIRN_DCHECK(removed == 1);
    to.emplace(extent.first - extent.second, extent.second);
  };
  auto at = FirstFrom(line_);
  for (; line_ < line && at != begins_.end() && at->second < line; ++at, --most) {
    if (most <= 0) return false;
    move(*at, after_line_, before_line_);
    line_ = at->second + 1;
  }
  for (; line_ > line && at != begins_.begin() && std::prev(at)->second >= line; --at, --most) {
    if (most <= 0) return false;
    move(*std::prev(at), before_line_, after_line_);
    line_ = std::prev(at)->second;
  }
  line_ = line;
  return true;
}

void ExtentPool::CheckSums() const {
  CAIRN_DCHECK(begins_.size() == before_line_.size() + after_line_.size());
  CAIRN_DCHECK(size_ >= std::ssize(begins_));
  if constexpr (kChecksAll) {
    int64_t sum = 0;
    int64_t last = INT64_MIN;
    for (const auto& [end, begin] : begins_) {
      CAIRN_DCHECK(last < begin && begin < end);
      sum += end - begin;
      last = end;
    }
    CAIRN_DCHECK(sum == size_);
  }
}

void ExtentPool::AddSize(const Extent& extent) {
  CAIRN_DCHECK(extent.size() > 0);
  const bool is_new = SizesAt(extent.begin).emplace(extent.size(), extent.begin).second;
  CAIRN_DCHECK(is_new);
}

void ExtentPool::RemoveSize(const Extent& extent) {
  const size_t removed = SizesAt(extent.begin).erase({extent.size(), extent.begin});
  CAIRN_DCHECK(removed == 1);
}

std::optional<int64_t> ExtentPool::TakeFrom(BySize& sizes, int64_t size) {
  const auto found = sizes.lower_bound({size, 0});
  if (found == sizes.end()) return std::nullopt;
  const int64_t begin = found->second;
  const Extent rest = {begin + size, begin + found->first};
  sizes.erase(found);
  size_ -= size;
  const auto whole = begins_.find(rest.end);
  CAIRN_DCHECK(whole != begins_.end() && whole->second == begin);
  if (rest.size() > 0) {
    whole->second = rest.begin;
    AddSize(rest);
  } else {
    begins_.erase(whole);
  }
  CheckSums();
  return begin;
}

std::optional<int64_t> ExtentPool::TakeBeforeLine(int64_t size) {
  return TakeFrom(before_line_, size);
}

std::optional<int64_t> ExtentPool::Take(int64_t size) {
  const std::optional<int64_t> before = TakeBeforeLine(size);
  return before.has_value() ? before : TakeFrom(after_line_, size);
}

bool ExtentPool::Add(const Extent& extent) {
  if (extent.size() <= 0) return true;
  auto next = begins_.upper_bound(extent.begin);
  if (next != begins_.end() && next->second < extent.end) return false;
  Extent joined = extent;
  if (next != begins_.begin() && std::prev(next)->first == extent.begin) {
    joined.begin = std::prev(next)->second;
    RemoveSize({joined.begin, extent.begin});
    next = begins_.erase(std::prev(next));
  }
  if (next != begins_.end() && next->second == extent.end) {
    joined.end = next->first;
    RemoveSize({extent.end, joined.end});
    next->second = joined.begin;
  } else {
    begins_.emplace_hint(next, joined.end, joined.begin);
  }
  AddSize(joined);
  size_ += extent.size();
  CheckSums();
  return true;
}

std::vector<Extent> ExtentPool::Remove(const Extent& extent) {
  std::vector<Extent> removed;
  if (extent.size() <= 0) return removed;
  auto at = begins_.upper_bound(extent.begin);
  while (at != begins_.end() && at->second < extent.end) {
    const Extent found = {at->second, at->first};
    const Extent taken = {std::max(found.begin, extent.begin), std::min(found.end, extent.end)};
    RemoveSize(found);
    begins_.erase(at);
    size_ -= found.size();
    Add({found.begin, taken.begin});
    Add({taken.end, found.end});
    removed.push_back(taken);
    at = begins_.upper_bound(taken.end);
  }
  CheckSums();
  return removed;
}

std::optional<Extent> ExtentPool::Largest() const {
  std::optional<Extent> largest;
  for (const BySize* sizes : {&before_line_, &after_line_}) {
    if (sizes->empty()) continue;
    const auto& [size, begin] = *sizes->rbegin();
    if (!largest.has_value() || size > largest->size()) largest = {begin, begin + size};
  }
  return largest;
}

std::vector<Extent> ExtentPool::List() const {
  std::vector<Extent> list;
  list.reserve(begins_.size());
  for (const auto& [end, begin] : begins_) list.push_back({begin, end});
  return list;
}

bool ExtentPool::ListFrom(int64_t begin, int64_t most, std::vector<Extent>& list) const {
  auto at = FirstFrom(begin);
  for (; at != begins_.end() && most > 0; ++at, --most) list.push_back({at->second, at->first});
  return at != begins_.end();
}

}  // namespace cairn
