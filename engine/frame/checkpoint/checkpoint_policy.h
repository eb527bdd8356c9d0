// Decides when a checkpoint is worth what it writes: the index, the trailer, and the pending items
// as a chunk, which the next checkpoint writes again.
#ifndef CAIRN_ENGINE_FRAME_CHECKPOINT_CHECKPOINT_POLICY_H_
#define CAIRN_ENGINE_FRAME_CHECKPOINT_CHECKPOINT_POLICY_H_

#include <cstdint>

#include "engine/frame/stage/staged_state.h"

namespace cairn::frame {

// How much the journal holds together with what is staged, in bytes.
struct JournalLoad {
  int64_t written = 0;     // records and chunks, wherever they lie
  int64_t checkpoint = 0;  // the index and the trailer before the journal
  // Bytes that the next checkpoint makes dead, without `checkpoint`. 0 if the frame does not use
  // space again.
  int64_t dying = 0;
  int64_t dying_in_journal = 0;  // the part of `dying` that lies in the journal
  bool is_held = false;          // a reader needs dead bytes
  bool is_durable = false;       // all that is committed is durable
};

// Returns true if the journal is so long that a checkpoint must follow. With `patience`, the limits
// are this many times as high.
bool IsCheckpointDue(const StagedState& staged, const State& base, const JournalLoad& load,
                     int64_t patience);

// Returns true if Close should write a checkpoint: if that takes no more bytes than the journal
// has, or few.
bool IsWorthClosing(const StagedState& staged, const State& base, const JournalLoad& load);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_CHECKPOINT_CHECKPOINT_POLICY_H_
