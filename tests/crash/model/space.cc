#include "tests/crash/model/space.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace cairn::model {

Space::Space(std::vector<Extent> free, std::vector<DeadExtent> dead) : dead_(std::move(dead)) {
  for (const Extent& extent : free) Add(extent);
}

std::optional<uint64_t> Space::Take(uint64_t size) {
  for (const Extent& extent : free_) {
    if (extent.size() < size) continue;
    const uint64_t begin = extent.begin;
    Remove({begin, begin + size});
    return begin;
  }
  return std::nullopt;
}

void Space::Remove(const Extent& used) {
  std::vector<Extent> left;
  for (const Extent& extent : free_) {
    for (const Extent& rest : Without(extent, {used})) left.push_back(rest);
  }
  free_ = std::move(left);
}

void Space::RemoveEverywhere(const std::vector<Extent>& used) {
  for (const Extent& extent : used) Remove(extent);
  std::vector<DeadExtent> left;
  for (const DeadExtent& dead : dead_) {
    for (const Extent& rest : Without(dead.extent, used)) {
      left.push_back({rest, dead.born, dead.died});
    }
  }
  dead_ = std::move(left);
}

void Space::Add(const Extent& extent) {
  if (extent.size() == 0) return;
  free_.push_back(extent);
  std::ranges::sort(free_, {}, &Extent::begin);
  std::vector<Extent> joined;
  for (const Extent& next : free_) {
    if (!joined.empty() && joined.back().end >= next.begin) {
      joined.back().end = std::max(joined.back().end, next.end);
    } else {
      joined.push_back(next);
    }
  }
  free_ = std::move(joined);
}

void Space::Release(const Registrations& readers, uint64_t index_begin) {
  std::vector<DeadExtent> seen;
  for (const DeadExtent& dead : dead_) {
    if (readers.AnyIn(dead.born, dead.died)) {
      seen.push_back(dead);
    } else {
      Add({dead.extent.begin, std::clamp(index_begin, dead.extent.begin, dead.extent.end)});
    }
  }
  dead_ = std::move(seen);
}

uint64_t Space::LimitFrom(uint64_t position) const {
  uint64_t limit = UINT64_MAX;
  for (const DeadExtent& dead : dead_) {
    if (dead.extent.end > position) limit = std::min(limit, dead.extent.begin);
  }
  return limit;
}

uint64_t Space::EndOfDead() const {
  uint64_t end = 0;
  for (const DeadExtent& dead : dead_) end = std::max(end, dead.extent.end);
  return end;
}

uint64_t Space::FindAbove(uint64_t position, uint64_t size) const {
  uint64_t next = position;
  do {
    position = next;
    for (const DeadExtent& dead : dead_) {
      const bool overlaps = dead.extent.begin < next + size && dead.extent.end > next;
      if (overlaps) next = dead.extent.end;
    }
  } while (next != position);
  return position;
}

std::vector<Extent> Without(const Extent& whole, std::vector<Extent> used) {
  std::ranges::sort(used, {}, &Extent::begin);
  std::vector<Extent> left;
  uint64_t begin = whole.begin;
  for (const Extent& extent : used) {
    if (extent.end <= begin || extent.begin >= whole.end) continue;
    if (extent.begin > begin) left.push_back({begin, extent.begin});
    begin = extent.end;
  }
  if (begin < whole.end) left.push_back({begin, whole.end});
  return left;
}

}  // namespace cairn::model
