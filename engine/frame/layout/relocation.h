// Moves chunks from the end of a contiguous frame into free space before them, so that the file can
// get shorter: the index and the journal must lie after all chunks.
#ifndef CAIRN_ENGINE_FRAME_LAYOUT_RELOCATION_H_
#define CAIRN_ENGINE_FRAME_LAYOUT_RELOCATION_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/frame/checkpoint/committed_frame.h"
#include "engine/frame/journal/journal_writer.h"
#include "engine/frame/space/free_space.h"
#include "engine/frame/stage/stager.h"

namespace cairn::frame {

// If much space is free, each commit also moves some chunks. The journal says that they were
// replaced by chunks that lie elsewhere, so readers and recovery see an edit like any other. Not
// thread-safe.
class Relocation {
 public:
  // `frame` and `journal` must outlive this.
  Relocation(const CommittedFrame& frame, JournalWriter& journal)
      : frame_(frame), journal_(journal) {}

  // Lets the chunks of the newest checkpoint's index move, each once.
  void Begin(const FreeSpace::Slack& slack = {});
  // Returns true if moves may be left.
  bool is_due() const { return left_ > 0; }
  // Stages some moves, if any are left: until they have as many bytes as are staged already, or
  // 1 MiB if that is less. The last chunk may exceed that.
  absl::Status StageSome(Stager& stager);
  // Stages all of them, and moves of chunks that other libraries wrote. Since such chunks may share
  // their bytes, the bytes that they leave do not die with the next checkpoint. Returns true if
  // there are such moves.
  absl::StatusOr<bool> StageAll(Stager& stager);

 private:
  absl::Status StageMoves(Stager& stager, int64_t bytes, int64_t looks);
  absl::StatusOr<bool> Move(Stager& stager, int64_t nchunk, IndexEntry entry);

  const CommittedFrame& frame_;
  JournalWriter& journal_;
  int64_t line_ = INT64_MAX;   // chunks that lie after it move
  int64_t next_ = 0;           // the chunk to look at
  int64_t left_ = 0;           // chunks that were not looked at since the checkpoint
  bool moves_others_ = false;  // moves chunks of other libraries, too
  bool moved_others_ = false;  // has moved one
  std::vector<std::byte> chunk_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_LAYOUT_RELOCATION_H_
