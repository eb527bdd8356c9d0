#include "engine/base/extent_pool.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace cairn {

namespace {

// So many extents that may be too small by less than half are looked at. Those of the next class
// are large enough, but chunks of one size would leave each of them cut.
constexpr int kTries = 16;

size_t ClassNumber(int64_t size) {
  return static_cast<size_t>(std::bit_width(static_cast<uint64_t>(size))) - 1;
}

}  // namespace

std::set<int64_t>& ExtentPool::ClassOf(int64_t size) { return classes_[ClassNumber(size)]; }

void ExtentPool::Link(const Extent& extent) {
  if (extent.size() <= 0) return;
  ends_.emplace(extent.begin, extent.end);
  ClassOf(extent.size()).insert(extent.begin);
  size_ += extent.size();
}

void ExtentPool::Unlink(const Extent& extent) {
  ends_.erase(extent.begin);
  ClassOf(extent.size()).erase(extent.begin);
  size_ -= extent.size();
}

std::optional<Extent> ExtentPool::Find(int64_t size) const {
  const size_t own = ClassNumber(size);
  int tries = kTries;
  for (const int64_t begin : classes_[own]) {
    const Extent extent = {begin, ends_.find(begin)->second};
    if (extent.size() >= size) return extent;
    if (--tries == 0) break;
  }
  std::optional<int64_t> first;
  for (size_t i = own + 1; i < kClasses; ++i) {
    if (classes_[i].empty()) continue;
    first = std::min(first.value_or(INT64_MAX), *classes_[i].begin());
  }
  if (!first.has_value()) return std::nullopt;
  return Extent{*first, ends_.find(*first)->second};
}

std::optional<int64_t> ExtentPool::Take(int64_t size) {
  const std::optional<Extent> found = Find(size);
  if (!found.has_value()) return std::nullopt;
  Unlink(*found);
  Link({found->begin + size, found->end});
  return found->begin;
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
