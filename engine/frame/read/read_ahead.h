// Announces chunks before they are read, to a source that is far away.
#ifndef CAIRN_ENGINE_FRAME_READ_READ_AHEAD_H_
#define CAIRN_ENGINE_FRAME_READ_READ_AHEAD_H_

#include <cstdint>
#include <vector>

#include "engine/frame/state/state.h"

namespace cairn::frame {

// Announces one chunk, whose entry and, if it is of the committed index, number there are found.
void AnnounceChunk(const State& state, int64_t nchunk, const FoundEntry& found);
// To be called when a caller reads chunks [first, end): where it has read those before them,
// announces the next, up to two windows.
void AnnounceNext(const State& state, int64_t first, int64_t end);

// Chunks that will be read in ascending order. Announces them window by window: while one is
// decoded the next is on its way. Costs next to nothing where reading is quick. The state must
// outlive it. Not thread-safe.
class ReadAhead {
 public:
  enum class Part { kAll, kHeader };

  ReadAhead() = default;  // no chunks
  // Chunks [first, end).
  ReadAhead(const State& state, int64_t first, int64_t end, Part part = Part::kAll);
  ReadAhead(const State& state, std::vector<int64_t> nchunks);

  // Whether it is worth to say which chunks are read.
  static bool IsUseful(const State& state) {
    return state.chunk_source != nullptr && state.chunk_source->read_ahead() > 0;
  }

  // To be called before a chunk is read.
  void Reach(int64_t nchunk) {
    if (nchunk >= trigger_) Announce(nchunk);
  }

 private:
  int64_t At(int64_t position) const;
  void Announce(int64_t nchunk);

  const State* state_ = nullptr;
  Part part_ = Part::kAll;
  std::vector<int64_t> nchunks_;  // empty: a range
  int64_t position_ = 0;          // of what is announced next, in nchunks_ or a chunk's number
  int64_t end_ = 0;
  int64_t trigger_ = INT64_MAX;  // the chunk that makes it announce more
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READ_READ_AHEAD_H_
