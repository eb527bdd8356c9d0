#include "engine/log/records/record_ranges.h"

#include <algorithm>

namespace cairn::log {

namespace {

// Returns the ranges that overlap `range`.
std::span<const RecordRange> Touching(std::span<const RecordRange> set, const RecordRange& range) {
  if (range.begin >= range.end) return {};
  const auto begin = std::ranges::upper_bound(set, range.begin, {}, &RecordRange::end);
  const auto end = std::ranges::lower_bound(begin, set.end(), range.end, {}, &RecordRange::begin);
  return {begin, end};
}

}  // namespace

int64_t CountIn(std::span<const RecordRange> set, const RecordRange& range) {
  int64_t count = 0;
  for (const RecordRange& one : Touching(set, range)) {
    count += std::min(one.end, range.end) - std::max(one.begin, range.begin);
  }
  return count;
}

std::vector<RecordRange> PartIn(std::span<const RecordRange> set, const RecordRange& range) {
  std::vector<RecordRange> part;
  for (const RecordRange& one : Touching(set, range)) {
    part.push_back(
        {.begin = std::max(one.begin, range.begin), .end = std::min(one.end, range.end)});
  }
  return part;
}

void AddRange(std::vector<RecordRange>& set, const RecordRange& range) {
  if (range.begin >= range.end) return;
  if (!set.empty() && set.back().end >= range.begin) {
    set.back().end = std::max(set.back().end, range.end);
  } else {
    set.push_back(range);
  }
}

std::vector<RecordRange> Union(std::span<const RecordRange> a, std::span<const RecordRange> b) {
  std::vector<RecordRange> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  std::ranges::sort(all, {}, &RecordRange::begin);
  std::vector<RecordRange> joined;
  for (const RecordRange& range : all) AddRange(joined, range);
  return joined;
}

std::vector<RecordRange> Difference(std::span<const RecordRange> a,
                                    std::span<const RecordRange> b) {
  std::vector<RecordRange> left;
  for (const RecordRange& range : a) {
    int64_t begin = range.begin;
    for (const RecordRange& taken : Touching(b, range)) {
      AddRange(left, {.begin = begin, .end = taken.begin});
      begin = taken.end;
    }
    AddRange(left, {.begin = begin, .end = range.end});
  }
  return left;
}

int64_t CountAll(std::span<const RecordRange> set) {
  int64_t count = 0;
  for (const RecordRange& range : set) count += range.end - range.begin;
  return count;
}

}  // namespace cairn::log
