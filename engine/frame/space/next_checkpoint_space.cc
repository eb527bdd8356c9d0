#include "engine/frame/space/next_checkpoint_space.h"

#include <algorithm>
#include <functional>
#include <vector>

namespace cairn::frame {

std::optional<Extent> NextCheckpointSpace::FindBelow(int64_t size) const {
  const std::vector<Extent> free = space_.free().pool().List();
  // Finds the position after which no chunk lives, from the end of the file on.
  std::vector<Extent> unused = free;
  for (const format::DeadExtent& dead : space_.dead().List()) unused.push_back(dead.bytes);
  std::ranges::sort(unused, std::ranges::greater(), &Extent::end);
  int64_t begin = journal_end_;
  for (const Extent& extent : unused) {
    if (extent.end > begin) continue;  // after the journal
    if (extent.end < begin) break;
    begin = extent.begin;
  }
  for (const Extent& extent : free) {
    if (extent.begin >= begin && extent.size() >= size) return extent;
  }
  return std::nullopt;
}

int64_t NextCheckpointSpace::FindAbove(int64_t size, int64_t times) const {
  const DeadSpace& dead = space_.dead();
  const int64_t last = std::max(journal_end_, dead.end());
  const int64_t all = last - space_.free().begin();
  const int64_t unused =
      space_.free().size() + last - journal_end_ - dead.BytesBetween(journal_end_, last);
  if (unused <= all - all / times) return last;
  int64_t begin = journal_end_;
  for (const format::DeadExtent& each : dead.List()) {
    if (each.bytes.end <= begin) continue;
    if (each.bytes.begin - begin >= size) break;
    begin = each.bytes.end;
  }
  return begin;
}

}  // namespace cairn::frame
