// Knows the bytes of a frame that no commit needs any more, but that a reader may need.
#ifndef CAIRN_ENGINE_FRAME_SPACE_DEAD_SPACE_H_
#define CAIRN_ENGINE_FRAME_SPACE_DEAD_SPACE_H_

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"

#include "engine/base/extent.h"
#include "engine/format/seal.h"

namespace cairn::frame {

// Returns the rest of `whole` without `parts`, which are in order.
std::vector<Extent> Without(const Extent& whole, std::span<const Extent> parts);
// Returns the extents in order. Neighbours that were born and died together become one extent. So
// do extents that overlap, as chunks of a forged frame may: they are needed as long as any of them.
std::vector<format::DeadExtent> Joined(std::vector<format::DeadExtent> dead);

// There may be a million extents. The work of one commit takes O(log extents), or is a bounded
// step. Not thread-safe.
class DeadSpace {
 public:
  DeadSpace() = default;
  // Takes extents in order. Those that died with the checkpoint of that generation have just died.
  DeadSpace(std::vector<format::DeadExtent> dead, uint64_t generation);

  bool empty() const { return waiting_.empty() && held_.empty(); }
  int64_t count() const { return std::ssize(waiting_) + std::ssize(held_); }
  // Returns where the first extent that ends after `position` begins, which may be before it.
  // Returns INT64_MAX if there is none.
  int64_t FirstAfter(int64_t position) const;
  // Returns how many extents end after `position`.
  int64_t CountAfter(int64_t position) const;
  // Returns the end of the last extent.
  int64_t end() const;
  // Returns all extents in order.
  std::vector<format::DeadExtent> List() const;
  // Returns how many dead bytes lie from `position` on, up to `end`.
  int64_t BytesBetween(int64_t position, int64_t end) const;
  // Extends the last extent, the old journal, which has grown, to `end`. Only before any Release.
  void ExtendLast(int64_t end);

  // Returns how many bytes before `limit` have just died.
  int64_t JustDied(int64_t limit) const;
  // Returns the end of the last extent that died before, or 0 if there is none.
  int64_t EndOfOlder() const;

  // Checks for each extent, from the last one on, if a reader needs it, and gives away the ones
  // that no reader needs. A pass may take several calls, of up to `most` extents each. No pass runs
  // if `is_releasing` is false.
  using IsHeld = absl::FunctionRef<bool(uint64_t born, uint64_t died)>;
  void BeginRelease();
  bool is_releasing() const { return !waiting_.empty(); }
  void Release(int64_t most, IsHeld is_held, absl::FunctionRef<void(const Extent&)> give);

 private:
  void Forget(const format::DeadExtent& dead);

  // A pass checks the extents from the last one on. So all held extents lie after the waiting ones.
  // The waiting extents are in order, and the held ones in reverse order.
  std::vector<format::DeadExtent> waiting_;
  std::vector<format::DeadExtent> held_;
  std::map<std::pair<uint64_t, uint64_t>, bool> asked_;  // is held, by born and died; in this pass
  uint64_t generation_ = 0;
  int64_t just_died_ = 0;
  int64_t older_ = 0;  // extents that died before
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_SPACE_DEAD_SPACE_H_
