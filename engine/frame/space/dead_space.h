// Bytes of a frame that no commit needs any more, but perhaps a reader.
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

// What is left of `whole` without `parts`, which are in order.
std::vector<Extent> Without(const Extent& whole, std::span<const Extent> parts);
// In order, and neighbours that live and die together as one. What overlaps, as chunks of a frame
// that lies do, is needed as long as any part of it.
std::vector<format::DeadExtent> Joined(std::vector<format::DeadExtent> dead);

// There may be a million extents: what a commit does takes O(log extents), or a bounded step. Not
// thread-safe.
class DeadSpace {
 public:
  DeadSpace() = default;
  // In order. Of these, what died with the checkpoint of that generation has just died.
  DeadSpace(std::vector<format::DeadExtent> dead, uint64_t generation);

  bool empty() const { return waiting_.empty() && held_.empty(); }
  int64_t count() const { return std::ssize(waiting_) + std::ssize(held_); }
  // Of the first bytes after `position`, or before them where they go on there; else INT64_MAX.
  int64_t FirstAfter(int64_t position) const;
  // How many lie after `position`, if only in part.
  int64_t CountAfter(int64_t position) const;
  // Where the last of them end.
  int64_t end() const;
  // In order.
  std::vector<format::DeadExtent> List() const;
  // How many bytes lie from `position` on, up to `end`.
  int64_t BytesBetween(int64_t position, int64_t end) const;
  // The last extent, the old journal, has grown and ends there now. Only before any Release.
  void ExtendLast(int64_t end);

  // Bytes that have just died, before `limit`.
  int64_t JustDied(int64_t limit) const;
  // Where the last of the others end; 0 where there are none.
  int64_t EndOfOlder() const;

  // Asks of each extent, from the last one on, whether a reader needs it, and gives away those that
  // none does. A pass may take several calls, of up to `most` extents each; none runs where
  // `is_releasing` is false.
  using IsHeld = absl::FunctionRef<bool(uint64_t born, uint64_t died)>;
  void BeginRelease();
  bool is_releasing() const { return !waiting_.empty(); }
  void Release(int64_t most, IsHeld is_held, absl::FunctionRef<void(const Extent&)> give);

 private:
  void Forget(const format::DeadExtent& dead);

  // Extents of the pass are asked from the last one on. So those that are held all lie after those
  // that wait, and are here the last one first.
  std::vector<format::DeadExtent> waiting_;
  std::vector<format::DeadExtent> held_;
  std::map<std::pair<uint64_t, uint64_t>, bool> asked_;  // born and died, in this pass
  uint64_t generation_ = 0;
  int64_t just_died_ = 0;
  int64_t older_ = 0;  // extents that died before
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_SPACE_DEAD_SPACE_H_
