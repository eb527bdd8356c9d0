// Writes the checkpoint of a large state piece by piece, so that no commit waits for all of it.
#ifndef CAIRN_ENGINE_FRAME_CHECKPOINT_CHECKPOINT_STEPS_H_
#define CAIRN_ENGINE_FRAME_CHECKPOINT_CHECKPOINT_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"

#include "cairn/file_system.h"
#include "engine/base/hash.h"
#include "engine/chunk/join_blocks.h"
#include "engine/format/index_entry.h"
#include "engine/frame/checkpoint/checkpoint_encoder.h"
#include "engine/frame/stage/staged_state.h"

namespace cairn::frame {

// Writes the index and the trailer right after it. The position of the trailer follows from the
// size of the index, so all entries are read three times: for the index and the hashes of its
// pages, for the fingerprints, and for the stored sizes. Not thread-safe.
class CheckpointSteps {
 public:
  // Begins a checkpoint of `state`: a contiguous frame that has chunks, has no pending items and
  // has room for the seal. `plan` has a fingerprint type and a journal to inherit. Nothing else may
  // change the bytes that this writes, from the plan's index_begin on.
  CheckpointSteps(std::shared_ptr<File> file, const State& state, CheckpointPlan plan);

  // Returns the most bytes that the index and the trailer take, together with the record and the
  // anchor after them. The list of space in the seal has `space` bytes.
  static int64_t MostBytes(const State& state, int64_t space);

  // Writes one more piece. After a failure there is no checkpoint. Errors: kUnimplemented if the
  // index cannot be put together from pieces.
  absl::Status Step();
  bool done() const { return phase_ == Phase::kDone; }
  // Returns the header that makes this the checkpoint of the frame, when the work is done.
  const std::vector<std::byte>& header() const { return header_; }

 private:
  enum class Phase { kIndex, kIndexHash, kFingerprints, kSizes, kDone };

  absl::Status WriteIndexPage();
  absl::Status FinishIndex();
  absl::Status HashIndex();
  absl::Status WriteTrailer();
  template <typename T>
  absl::Status WriteColumn(int64_t begin, T format::IndexEntry::*field, Phase next);
  void Enter(Phase phase);
  int64_t index_end() const { return plan_.index_begin + joined_.cbytes(); }
  int64_t size() const { return staged_.chunks.size(); }

  const std::shared_ptr<File> file_;
  const StagedState staged_;
  CheckpointPlan plan_;
  format::FrameHeader fields_;
  Phase phase_ = Phase::kIndex;
  int64_t at_ = 0;  // entries of the phase, or bytes of the index that were hashed
  chunk::JoinedBlocks joined_;
  Xxh3Stream index_hash_;
  int64_t fingerprints_begin_ = 0;
  std::vector<std::byte> header_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_CHECKPOINT_CHECKPOINT_STEPS_H_
