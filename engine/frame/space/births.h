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
  // The bytes were written after the checkpoint of that generation. Where births are not kept, this
  // changes nothing.
  void Set(const Extent& bytes, uint64_t generation);
  // The generation of what begins there; 0 where it is not known, which is before all others.
  uint64_t Of(int64_t begin) const;
  // Forgets all births. Those that are set from now on are kept if `keep`, else from the next call
  // of Keep on: without readers of an older checkpoint nobody asks for them.
  void Clear(bool keep);
  void Keep() { is_kept_ = true; }
  bool is_kept() const { return is_kept_; }
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
  bool is_kept_ = true;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_SPACE_BIRTHS_H_
