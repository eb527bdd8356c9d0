// What replay insists on.
#ifndef CAIRN_ENGINE_FRAME_STATE_REPLAY_CHECKS_H_
#define CAIRN_ENGINE_FRAME_STATE_REPLAY_CHECKS_H_

namespace cairn::frame {

// Only a test that plants a fault switches one off, to see that crashes then do harm.
struct ReplayChecks {
  bool check_chunks = true;  // of batches that were perhaps not durable
  bool check_prev = true;    // that each record follows the one that it names
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_REPLAY_CHECKS_H_
