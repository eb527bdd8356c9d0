// Replays the bytes of a file, as a reader or the next writer does.
#ifndef CAIRN_TESTS_CRASH_MODEL_REPLAY_H_
#define CAIRN_TESTS_CRASH_MODEL_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/crash/model/format.h"
#include "tests/crash/model/rules.h"

namespace cairn::model {

// A chunk that the journal put into space that was free.
struct PlacedChunk {
  ChunkRef chunk;
  uint64_t record_end = 0;
};

struct Replayed {
  bool opens = false;
  std::string why;  // it does not
  Base base;        // of the records
  Checkpoint checkpoint;
  State state;
  uint64_t generation = 0;
  uint64_t previous = 0;     // hash of the last record taken
  uint64_t end = 0;          // of the journal
  uint64_t commit_end = 0;   // of the last record taken
  uint64_t durable_end = 0;  // what records tell to be on the disk
  bool damaged = false;      // commits are missing that are known to have been there
  // The last receipt after the last record taken.
  std::optional<Receipt> receipt;
  uint64_t receipt_at = 0;
  std::optional<Summary> summary;  // that it began with
  // Changes by the commits since the checkpoint, or since the summary.
  std::vector<PlacedChunk> placed;
  std::vector<ChunkRef> removed;
};

enum class Begin : uint8_t { kSummary, kCheckpoint };
// A writer begins after the checkpoint, a reader after the newest summary that is believed.
Replayed Replay(const Bytes& file, uint64_t boot, size_t header_size, const Rules& rules,
                Begin begin = Begin::kSummary);
// Returns the summary from which replay begins.
std::optional<Summary> NewestSummary(const Bytes& file, uint64_t boot, const Rules& rules,
                                     const Checkpoint& checkpoint);

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_REPLAY_H_
