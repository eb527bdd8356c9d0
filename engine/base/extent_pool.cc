#include "engine/base/extent_pool.h"

#include <algorithm>
#include <iterator>

namespace cairn {

void ExtentPool::SetLine(int64_t line) {
  const auto [first, last] = std::minmax(line, line_);
  for (auto at = ends_.lower_bound(first); at != ends_.end() && at->first < last; ++at) {
    const std::pair<int64_t, int64_t> extent = {at->second - at->first, at->first};
    const bool was_before = line_ == last;
    (was_before ? before_line_ : after_line_).erase(extent);
    (was_before ? after_line_ : before_line_).insert(extent);
  }
  line_ = line;
}

void ExtentPool::Link(const Extent& extent) {
  if (extent.size() <= 0) return;
  ends_.emplace(extent.begin, extent.end);
  SizesAt(extent.begin).emplace(extent.size(), extent.begin);
  size_ += extent.size();
}

void ExtentPool::Unlink(const Extent& extent) {
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
  if (next != ends_.end() && next->first < extent.end) return false;
  const auto before = next == ends_.begin() ? ends_.end() : std::prev(next);
  if (before != ends_.end() && before->second > extent.begin) return false;
  if (next != ends_.end() && next->first == extent.end) {
    joined.end = next->second;
    Unlink({next->first, next->second});
  }
  if (before != ends_.end() && before->second == extent.begin) {
    joined.begin = before->first;
    Unlink({before->first, before->second});
  }
  Link(joined);
  return true;
}

void ExtentPool::Remove(const Extent& extent) {
  if (extent.size() <= 0) return;
  auto at = ends_.upper_bound(extent.begin);
  if (at != ends_.begin() && std::prev(at)->second > extent.begin) --at;
  while (at != ends_.end() && at->first < extent.end) {
    const Extent found = {at->first, at->second};
    ++at;
    Unlink(found);
    Link({found.begin, std::min(found.end, extent.begin)});
    Link({std::max(found.begin, extent.end), found.end});
  }
}

std::vector<Extent> ExtentPool::List() const {
  std::vector<Extent> list;
  list.reserve(ends_.size());
  for (const auto& [begin, end] : ends_) list.push_back({begin, end});
  return list;
}

}  // namespace cairn
