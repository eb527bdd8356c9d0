// A checkpoint that is written in steps, between the commits that follow the state it describes.
#ifndef CAIRN_TESTS_CRASH_MODEL_BACKGROUND_CHECKPOINT_H_
#define CAIRN_TESTS_CRASH_MODEL_BACKGROUND_CHECKPOINT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/crash/model/disk.h"
#include "tests/crash/model/format.h"
#include "tests/crash/model/space.h"

namespace cairn::model {

struct BackgroundCheckpoint {
  enum class Step : uint8_t { kWrite, kBeginSync, kEndSync, kFlip, kBeginFlipSync, kTakeOver };
  struct Piece {
    uint64_t offset = 0;
    Bytes bytes;
  };

  Checkpoint checkpoint;
  Space space;  // as the checkpoint lists it
  Bytes header;
  std::vector<Piece> unwritten;  // of index and trailer
  Step next = Step::kWrite;
  bool written() const { return next > Step::kWrite; }
  bool flipped() const { return next > Step::kFlip; }
  // The journal of a shrinking checkpoint, which repeats the commits since its state, in free space
  // after it.
  struct OwnJournal {
    Extent taken;          // the free space of index, trailer and journal
    uint64_t old_end = 0;  // of the other journal, when this began
    uint64_t end = 0;
    uint64_t commit_end = 0;
    uint64_t previous = 0;
    std::optional<Receipt> receipt = {};
    uint64_t receipt_at = 0;
  };
  std::optional<OwnJournal> own = {};
  // The end of the bytes that the running sync makes durable.
  uint64_t syncs_end = 0;
  uint64_t syncs_generation = 0;
  // Changes by the commits that followed.
  std::vector<Extent> placed = {};
  std::vector<ChunkRef> removed = {};
  std::optional<Slot> summary = {};  // for its readers, that is not known to be durable
};

}  // namespace cairn::model

#endif  // CAIRN_TESTS_CRASH_MODEL_BACKGROUND_CHECKPOINT_H_
