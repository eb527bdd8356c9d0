// Knows the free bytes of a contiguous frame's file.
#ifndef CAIRN_ENGINE_FRAME_SPACE_FREE_SPACE_H_
#define CAIRN_ENGINE_FRAME_SPACE_FREE_SPACE_H_

#include <cstdint>
#include <vector>

#include "engine/base/extent.h"
#include "engine/base/extent_pool.h"
#include "engine/frame/space/dead_space.h"

namespace cairn::frame {

// Holds the bytes between header and index that nothing needs, and into which chunks go. Chunks
// that lie far behind can be moved before a line, so that the file gets shorter. A copy is cheap if
// little is free. Not thread-safe.
class FreeSpace {
 public:
  FreeSpace() = default;
  // Begins without free bytes, for a file whose header ends at `begin` and whose index begins at
  // `end`.
  FreeSpace(int64_t begin, int64_t end) : begin_(begin), end_(end) {}

  int64_t begin() const { return begin_; }
  int64_t end() const { return end_; }
  // Returns the free bytes, without those that were set aside.
  int64_t size() const { return pool_.size(); }
  int64_t count() const { return pool_.count(); }
  // ContiguousSink and Relocation take room for chunks here.
  ExtentPool& pool() { return pool_; }
  const ExtentPool& pool() const { return pool_; }

  // Adds the part of these bytes that lies before the index. Returns false, and changes nothing, if
  // some of them are free already.
  bool Add(const Extent& bytes);
  void Clear() { pool_ = {}; }
  // Begins again after a checkpoint whose index begins at `index_begin`. `died` bytes died with it.
  void BeginAfter(int64_t index_begin, int64_t died);
  // Moves the beginning of the index. Free bytes stay free.
  void MoveEnd(int64_t index_begin) { end_ = index_begin; }

  // Takes all free bytes from `begin` on, for a checkpoint that is made during commits.
  void SetAside(int64_t begin);
  // Gives back the bytes that were set aside.
  void ReturnAside();
  // Leaves the bytes that were set aside to the checkpoint.
  void KeepAside() { aside_.clear(); }

  // How much more room there must be before the line than used bytes. Chunks of different sizes
  // leave gaps between them that most others do not fit. The room is a `part`th of the used bytes
  // and `least` bytes more. With `for_commits`, it also has as many bytes as died with the last
  // checkpoint, for the commits until the next one.
  struct Slack {
    int64_t part = 8;
    int64_t least = int64_t{16} << 10;
    bool for_commits = true;
  };
  // Sets the line: chunks that begin after it have room before it, and the file gets shorter when
  // they go there. Returns INT64_MAX if they have no room. New chunks go before it, too.
  int64_t SetLine(const Slack& slack, const DeadSpace& dead);
  // Does a bounded part of the work that the free space needs for a new line. Returns true when all
  // of it is done.
  bool MoveLine(int64_t most) { return pool_.SetLine(line_, most); }
  // Returns true if a reader of a checkpoint before the last one held bytes when the line was set.
  bool is_held() const { return is_held_; }
  // Returns true if more than `least` bytes are free, and the bytes before the index are more than
  // this many times those of them that are used.
  bool TakesTimes(int64_t times, int64_t least) const;

  // Checks that free space lies between header and index.
  void Check() const;

 private:
  int64_t begin_ = 0;
  int64_t end_ = 0;
  ExtentPool pool_;
  std::vector<Extent> aside_;
  int64_t died_ = 0;  // bytes, with the last checkpoint
  int64_t line_ = INT64_MAX;
  bool is_held_ = false;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_SPACE_FREE_SPACE_H_
