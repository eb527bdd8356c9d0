// Space to allocate from.
#ifndef CAIRN_ENGINE_BASE_EXTENT_POOL_H_
#define CAIRN_ENGINE_BASE_EXTENT_POOL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "engine/base/extent.h"

namespace cairn {

// Extents that do not touch each other. Every call but List costs O(log extents). Not thread-safe.
class ExtentPool {
 public:
  // That many bytes, at the beginning of the pool rather than at its end: so the end becomes free.
  std::optional<int64_t> Take(int64_t size);
  // Joins it with its neighbours. False, and nothing changes, if a part of it is there already.
  bool Add(const Extent& extent);
  // Whatever of these bytes is there leaves.
  void Remove(const Extent& extent);

  // Bytes of all extents.
  int64_t size() const { return size_; }
  bool empty() const { return ends_.empty(); }
  // The extent that ends last. The pool is not empty.
  Extent last() const { return {ends_.rbegin()->first, ends_.rbegin()->second}; }
  // In order.
  std::vector<Extent> List() const;

 private:
  static constexpr size_t kClasses = 63;
  // Those of a size in [2^class, 2^(class + 1)), by where they begin.
  std::set<int64_t>& ClassOf(int64_t size);
  void Link(const Extent& extent);
  void Unlink(const Extent& extent);
  std::optional<Extent> Find(int64_t size) const;

  std::map<int64_t, int64_t> ends_;  // by begin
  std::array<std::set<int64_t>, kClasses> classes_;
  int64_t size_ = 0;
};

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_EXTENT_POOL_H_
