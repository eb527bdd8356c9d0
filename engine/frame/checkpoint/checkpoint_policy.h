// When a checkpoint is worth what it writes: index and trailer, and the pending items as a chunk,
// which the next one writes again.
#ifndef CAIRN_ENGINE_FRAME_CHECKPOINT_CHECKPOINT_POLICY_H_
#define CAIRN_ENGINE_FRAME_CHECKPOINT_CHECKPOINT_POLICY_H_

#include <cstdint>

#include "engine/frame/stage/staged_state.h"

namespace cairn::frame {

// What the journal comes to with what is staged, in bytes.
struct JournalLoad {
  int64_t written = 0;     // records and chunks, wherever they lie
  int64_t checkpoint = 0;  // index and trailer before it
  // What a checkpoint makes dead beside these; 0 where nothing is used again.
  int64_t dying = 0;
  int64_t dying_in_journal = 0;  // of these, in the journal
  bool is_held = false;          // a reader needs dead bytes
  bool is_durable = false;       // what is committed: commits wait for the disk anyway
};

// Whether the journal has become so long, or `patience` times as long, that a checkpoint is to
// follow.
bool IsCheckpointDue(const StagedState& staged, const State& base, const JournalLoad& load,
                     int64_t patience);

// Whether Close writes a checkpoint.
bool IsWorthClosing(const StagedState& staged, const State& base, const JournalLoad& load);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_CHECKPOINT_CHECKPOINT_POLICY_H_
