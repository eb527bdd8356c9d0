// Space to allocate from.
#ifndef CAIRN_ENGINE_BASE_EXTENT_POOL_H_
#define CAIRN_ENGINE_BASE_EXTENT_POOL_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"

#include "engine/base/extent.h"

namespace cairn {

// Extents that do not touch each other. Every call costs O(log extents); List takes one step for
// each of them. Not thread-safe.
class ExtentPool {
 public:
  // Extents that begin before `line` are used up first, so that what follows it becomes free. Takes
  // a step for each between the lines: false where `most` were too few, and the line is not yet
  // there.
  bool SetLine(int64_t line, int64_t most = INT64_MAX);
  // That many bytes of the smallest extent that has them, the first of these: so the least is left
  // in pieces that are too small.
  std::optional<int64_t> Take(int64_t size);
  // The same, before the line or not at all.
  std::optional<int64_t> TakeBeforeLine(int64_t size);
  // Joins it with its neighbours. False, and nothing changes, if a part of it is there already.
  bool Add(const Extent& extent);
  // Whatever of these bytes is there leaves, and is returned in order.
  std::vector<Extent> Remove(const Extent& extent);

  // The largest one.
  std::optional<Extent> Largest() const;
  // Returns the end of the last one, or 0 if there is none.
  int64_t end() const { return begins_.empty() ? 0 : begins_.rbegin()->first; }
  // Bytes of all extents.
  int64_t size() const { return size_; }
  int64_t count() const { return std::ssize(begins_); }
  // In order.
  std::vector<Extent> List() const;
  // Up to `most` of those that begin from `begin` on go to the end of `list`. False if there are no
  // more.
  bool ListFrom(int64_t begin, int64_t most, std::vector<Extent>& list) const;

 private:
  // By end: where the first bytes of an extent are taken, it stays where it is.
  using Begins = absl::btree_map<int64_t, int64_t>;
  using BySize = absl::btree_set<std::pair<int64_t, int64_t>>;  // size and begin

  // The first one that begins there or later.
  Begins::const_iterator FirstFrom(int64_t position) const;
  BySize& SizesAt(int64_t begin) { return begin < line_ ? before_line_ : after_line_; }
  // Checks that the extents by end are those by size.
  void CheckSums() const;
  void AddSize(const Extent& extent);
  void RemoveSize(const Extent& extent);
  std::optional<int64_t> TakeFrom(BySize& sizes, int64_t size);

  Begins begins_;
  int64_t line_ = INT64_MAX;
  BySize before_line_;
  BySize after_line_;
  int64_t size_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_EXTENT_POOL_H_
