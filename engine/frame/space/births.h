// Since which checkpoint the readers of a frame may see the bytes in its file.
#ifndef CAIRN_ENGINE_FRAME_SPACE_BIRTHS_H_
#define CAIRN_ENGINE_FRAME_SPACE_BIRTHS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "engine/base/extent.h"
#include "engine/format/seal.h"

namespace cairn::frame {

// Of each byte at most one birth, the last one: bytes that are used again are born again, and of
// those that are free none is kept. So there are as many entries as there are such pieces in the
// file that something needs, however many came and went. Not thread-safe.
class Births {
 public:
  // The bytes were written after the checkpoint of that generation.
  void Set(const Extent& bytes, uint64_t generation);
  // The generation of what begins there; 0 where it is not known, which is before all others.
  uint64_t Of(int64_t begin) const;
  void Clear();
  // Nothing needs these bytes any more.
  void Forget(const Extent& bytes);

  bool empty() const { return pieces_.empty(); }
  int64_t count() const { return std::ssize(pieces_); }
  // The latest generation that was set since Clear.
  uint64_t newest() const { return newest_; }
  // Up to `most` of those from `begin` on and before `end` go to the end of `list`. False if there
  // are no more.
  bool ListFrom(int64_t begin, int64_t end, int64_t most,
                std::vector<format::BornExtent>& list) const;

 private:
  struct Piece {
    int64_t end = 0;
    uint64_t generation = 0;
  };
  using Pieces = std::map<int64_t, Piece>;  // by begin; they do not overlap

  Pieces::iterator SplitAt(int64_t position);

  Pieces pieces_;
  uint64_t newest_ = 0;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_SPACE_BIRTHS_H_
