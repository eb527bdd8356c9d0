// Announces chunks before they are read, to a source that is far away.
#ifndef CAIRN_ENGINE_FRAME_READ_READ_AHEAD_H_
#define CAIRN_ENGINE_FRAME_READ_READ_AHEAD_H_

#include <cstdint>
#include <vector>

#include "engine/frame/state/state.h"

namespace cairn::frame {

// Announces one chunk. `found` is its entry, with its number in the committed index if it has one.
void AnnounceChunk(const State& state, int64_t nchunk, const FoundEntry& found);
// Call this when a caller reads chunks [first, end). If it has read the chunks before them, this
// announces the next ones, up to two windows.
void AnnounceNext(const State& state, int64_t first, int64_t end);

// Announces chunks that will be read in ascending order, window by window. While one is decoded,
// the next is on its way. Costs almost nothing if reading is quick. The state must outlive this
// object. Not thread-safe.
class ReadAhead {
 public:
  enum class Part { kAll, kHeader };

  ReadAhead() = default;  // no chunks
  // Announces chunks [first, end).
  ReadAhead(const State& state, int64_t first, int64_t end, Part part = Part::kAll);
  ReadAhead(const State& state, std::vector<int64_t> nchunks);

  // Returns true if it is worth announcing chunks.
  static bool IsUseful(const State& state) {
    return state.chunk_source != nullptr && state.chunk_source->read_ahead() > 0;
  }

  // Call this before a chunk is read.
  void Reach(int64_t nchunk) {
    if (nchunk >= trigger_) Announce(nchunk);
  }

 private:
  int64_t At(int64_t position) const;
  void Announce(int64_t nchunk);

  const State* state_ = nullptr;
  Part part_ = Part::kAll;
  std::vector<int64_t> nchunks_;  // empty for a range
  int64_t position_ = 0;  // the next to announce: an index into nchunks_, or a chunk's number
  int64_t end_ = 0;
  int64_t trigger_ = INT64_MAX;  // the chunk at which it announces more
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READ_READ_AHEAD_H_
