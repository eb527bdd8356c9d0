// Free space to allocate from.
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
  // Sets the line: extents that begin before it are used up first, so that the space after it
  // becomes free. Takes one step for each extent between the old line and the new one. Returns
  // false if there were more than `most` of them. The line is then on the way to `line`, and
  // another call continues.
  bool SetLine(int64_t line, int64_t most = INT64_MAX);
  // Takes `size` bytes from the beginning of the smallest extent that has them, before the line if
  // possible. The smallest one leaves the least in pieces that are too small to use. Returns
  // nothing if no extent has them.
  std::optional<int64_t> Take(int64_t size);
  // Takes `size` bytes as Take does, but only from an extent that begins before the line.
  std::optional<int64_t> TakeBeforeLine(int64_t size);
  // Adds an extent and joins it with its neighbours. Returns false, and changes nothing, if a part
  // of it is there already.
  bool Add(const Extent& extent);
  // Removes those of these bytes that are there, and returns them in order.
  std::vector<Extent> Remove(const Extent& extent);

  // Returns the largest extent, or nothing if there is none.
  std::optional<Extent> Largest() const;
  // Returns the end of the last extent, or 0 if there is none.
  int64_t end() const { return begins_.empty() ? 0 : begins_.rbegin()->first; }
  // Returns the bytes of all extents.
  int64_t size() const { return size_; }
  int64_t count() const { return std::ssize(begins_); }
  // Returns all extents in order.
  std::vector<Extent> List() const;
  // Appends to `list` the extents that begin at `begin` or later, but at most `most` of them.
  // Returns false if there are no more.
  bool ListFrom(int64_t begin, int64_t most, std::vector<Extent>& list) const;

 private:
  // Keyed by end, because an extent keeps its place when its first bytes are taken.
  using Begins = absl::btree_map<int64_t, int64_t>;
  using BySize = absl::btree_set<std::pair<int64_t, int64_t>>;  // size and begin

  // Finds the first extent that begins at `position` or later.
  Begins::const_iterator FirstFrom(int64_t position) const;
  BySize& SizesAt(int64_t begin) { return begin < line_ ? before_line_ : after_line_; }
  // Checks that both indexes, by end and by size, have the same extents.
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
