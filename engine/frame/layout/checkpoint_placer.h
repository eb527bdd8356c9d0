// Finds the place of the next checkpoint of a contiguous frame. docs/guarantees.md gives the reason
// for each step.
#ifndef CAIRN_ENGINE_FRAME_LAYOUT_CHECKPOINT_PLACER_H_
#define CAIRN_ENGINE_FRAME_LAYOUT_CHECKPOINT_PLACER_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/base/extent.h"
#include "engine/frame/checkpoint/checkpoint_encoder.h"
#include "engine/frame/checkpoint/committed_frame.h"
#include "engine/frame/journal/journal_writer.h"
#include "engine/frame/space/next_checkpoint_space.h"
#include "engine/frame/stage/staged_state.h"

namespace cairn::frame {

// Holds a checkpoint, the position of its index, and the space of the file when it is durable.
struct PlacedCheckpoint {
  int64_t begin = 0;
  CheckpointBytes bytes;
  NextCheckpointSpace space;

  int64_t end() const { return begin + std::ssize(bytes.tail); }
};

// Returns true if a checkpoint of the staged state can be written to the same file: its header
// changes only in the first sector.
bool FitsInPlace(const StagedState& staged);

// Makes durable what the journal owes. Must come before bytes change that another header on the
// disk may need.
absl::Status PersistOwed(JournalWriter& journal);

// Writes the index and the trailer of a checkpoint after the journal, or in free space that no
// chunk follows, which makes the frame shorter. Does not write the header, so nothing refers to
// them yet. Not thread-safe.
class CheckpointPlacer {
 public:
  // `frame` and `journal` must outlive this.
  CheckpointPlacer(const CommittedFrame& frame, JournalWriter& journal)
      : frame_(frame), journal_(journal) {}

  struct Options {
    // The checkpoint forgets the states before this one, or if there is none all states except
    // those that the frame keeps.
    std::optional<uint64_t> oldest_generation = std::nullopt;
    // Bytes that stay free before an index that lies in free space. Before other indexes, the end
    // of the journal has them already.
    int64_t room_for_chunks = 0;
  };
  // Writes a checkpoint of the staged state. Refused if the disk is full.
  absl::StatusOr<PlacedCheckpoint> Place(const StagedState& staged, const Options& options);

  // Returns true if the next checkpoint of the committed state makes the frame shorter.
  bool CanShrink() const;
  // Returns room for a shrinking checkpoint that is made during commits, or nothing if none is due.
  std::optional<Extent> RoomBelow() const;
  // Returns true if a checkpoint that is made during commits can lie after the journal, because
  // nothing else lies there.
  bool MayBeAbove() const;

 private:
  const State& base() const { return *frame_.state; }
  int64_t MostBytes(const StagedState& staged, const NextCheckpointSpace& space,
                    const CheckpointPlan& plan) const;
  absl::StatusOr<PlacedCheckpoint> PlaceAt(int64_t begin, const StagedState& staged,
                                           NextCheckpointSpace space, CheckpointPlan plan) const;
  absl::StatusOr<std::optional<PlacedCheckpoint>> PlaceBelow(const StagedState& staged,
                                                             const NextCheckpointSpace& space,
                                                             CheckpointPlan plan,
                                                             int64_t room_for_chunks) const;
  absl::StatusOr<PlacedCheckpoint> PlaceAbove(const StagedState& staged, NextCheckpointSpace space,
                                              const CheckpointPlan& plan) const;
  int64_t KeptAfter(const StagedState& staged, int64_t end) const;
  absl::Status Reserve(const PlacedCheckpoint& placed, int64_t kept);
  absl::Status Write(const PlacedCheckpoint& placed);

  const CommittedFrame& frame_;
  JournalWriter& journal_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_LAYOUT_CHECKPOINT_PLACER_H_
