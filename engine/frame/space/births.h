// Knows since which checkpoint the readers of a frame may see the bytes in its file.
#ifndef CAIRN_ENGINE_FRAME_SPACE_BIRTHS_H_
#define CAIRN_ENGINE_FRAME_SPACE_BIRTHS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "engine/base/extent.h"
#include "engine/format/seal.h"

namespace cairn::frame {

// Keeps at most one birth of each byte, the last one: bytes that are used again are born again, and
// free bytes have no birth. So there is one entry for each piece of the file that something needs,
// however many pieces came and went. Not thread-safe.
class Births {
 public:
  // Records that the bytes were written after the checkpoint of that generation. Does nothing while
  // births are not kept.
  void Set(const Extent& bytes, uint64_t generation);
  // Returns the generation of the bytes at `begin`, or 0, which is before all others, if it is not
  // known.
  uint64_t Of(int64_t begin) const;
  // Forgets all births. Keeps the births that are set from now on if `keep` is true, and otherwise
  // those after the next call of Keep: without readers of an older checkpoint nobody asks for them.
  void Clear(bool keep);
  void Keep() { is_kept_ = true; }
  bool is_kept() const { return is_kept_; }
  // Forgets the births of these bytes, which nothing needs any more.
  void Forget(const Extent& bytes);

  bool empty() const { return pieces_.empty(); }
  int64_t count() const { return std::ssize(pieces_); }
  // Returns the latest generation that was set since Clear.
  uint64_t newest() const { return newest_; }
  // Appends to `list` up to `most` of the pieces that begin in [begin, end). Returns false if there
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
