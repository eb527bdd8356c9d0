#include "engine/base/extent_pool.h"

#include <algorithm>
#include <iterator>

namespace cairn {

bool ExtentPool::SetLine(int64_t line, int64_t most) {
  const auto move = [&](const auto& extent, BySize& from, BySize& to) {
    from.erase({extent.second - extent.first, extent.first});
    to.emplace(extent.second - extent.first, extent.first);
  };
  auto at = ends_.lower_bound(line_);
  for (; line_ < line && at != ends_.end() && at->first < line; ++at, --most) {
    if (most <= 0) return false;
    move(*at, after_line_, before_line_);
    line_ = at->first + 1;
  }
  for (; line_ > line && at != ends_.begin() && std::prev(at)->first >= line; --at, --most) {
    if (most <= 0) return false;
    move(*std::prev(at), before_line_, after_line_);
    line_ = std::prev(at)->first;
  }
  line_ = line;
  return true;
}

void ExtentPool::Link(const Extent& extent) {
  if (extent.size() <= 0) return;
  ends_.emplace(extent.begin, extent.end);
  SizesAt(extent.begin).emplace(extent.size(), extent.begin);
  size_ += extent.size();
}

void ExtentPool::Unlink(const Extent& extent) {
  if (extent.size() <= 0) return;
  ends_.erase(extent.begin);
  SizesAt(extent.begin).erase({extent.size(), extent.begin});
  size_ -= extent.size();
}

std::optional<int64_t> ExtentPool::TakeFrom(const BySize& sizes, int64_t size) {
  const auto found = sizes.lower_bound({size, 0});
  if (found == sizes.end()) return std::nullopt;
  const Extent extent = {found->second, found->second + found->first};
  Unlink(extent);
  Link({extent.begin + size, extent.end});
  return extent.begin;
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
  Extent joined = extent;
  const auto next = ends_.lower_bound(extent.begin);
  if (next != ends_.end()) {
    if (next->first < extent.end) return false;
    if (next->first == extent.end) joined.end = next->second;
  }
  if (next != ends_.begin()) {
    const auto before = std::prev(next);
    if (before->second > extent.begin) return false;
    if (before->second == extent.begin) joined.begin = before->first;
  }
  Unlink({joined.begin, extent.begin});
  Unlink({extent.end, joined.end});
  Link(joined);
  return true;
}

std::vector<Extent> ExtentPool::Remove(const Extent& extent) {
  std::vector<Extent> removed;
  if (extent.size() <= 0) return removed;
  auto at = ends_.upper_bound(extent.begin);
  if (at != ends_.begin() && std::prev(at)->second > extent.begin) --at;
  while (at != ends_.end() && at->first < extent.end) {
    const Extent found = {at->first, at->second};
    const Extent taken = {std::max(found.begin, extent.begin), std::min(found.end, extent.end)};
    Unlink(found);
    Link({found.begin, taken.begin});
    Link({taken.end, found.end});
    removed.push_back(taken);
    at = ends_.lower_bound(taken.end);
  }
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
  list.reserve(ends_.size());
  for (const auto& [begin, end] : ends_) list.push_back({begin, end});
  return list;
}

bool ExtentPool::ListFrom(int64_t begin, int64_t most, std::vector<Extent>& list) const {
  auto at = ends_.lower_bound(begin);
  for (; at != ends_.end() && most > 0; ++at, --most) list.push_back({at->first, at->second});
  return at != ends_.end();
}

}  // namespace cairn
