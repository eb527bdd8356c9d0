// Turns a staged state into the bytes of a frame that any Blosc2 reads: index, trailer and header.
#ifndef CAIRN_ENGINE_FRAME_CHECKPOINT_CHECKPOINT_ENCODER_H_
#define CAIRN_ENGINE_FRAME_CHECKPOINT_CHECKPOINT_ENCODER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/format/seal.h"
#include "engine/frame/stage/staged_state.h"

namespace cairn::frame {

// Holds what the writer decides about a checkpoint. The rest follows from the staged state.
struct CheckpointPlan {
  // Position of the index. All chunks lie before it; an empty frame has its trailer right after the
  // header.
  int64_t index_begin = 0;
  // nonce, generation, previous_end, oldest_generation, type, space and journal are taken from
  // here. Its hashes, counts, chunk size and copy of the header are filled in.
  format::Seal seal;
  // Leaves out both of Cairn's layers.
  bool plain = false;
  chunk::WorkspacePool* pool = nullptr;
};

// Returns true if a checkpoint of the state has room for Cairn's layers. Without them a checkpoint
// has no generation for commits to follow, and no history.
bool HasRoomForSeal(const StagedState& staged);

// Bytes of a sector of the disk. Only a header that changes within the first sector moves from one
// checkpoint to the next with one write.
inline constexpr int64_t kSectorSize = 512;
// Returns how many bytes of the header a checkpoint of the state writes: up to the last byte that
// can change.
int64_t ChangedHeaderBytes(const StagedState& staged);

struct CheckpointBytes {
  std::vector<std::byte> tail;    // index and trailer, from index_begin to the end of the frame
  std::vector<std::byte> header;  // all of it
};

// Encodes a checkpoint of the state. Its pending items must have become a chunk.
absl::StatusOr<CheckpointBytes> EncodeCheckpoint(const StagedState& staged,
                                                 const CheckpointPlan& plan);

// Encodes a checkpoint as EncodeCheckpoint does, and writes it to a file that holds the chunks and
// has no name yet. If the frame is empty, the index_begin of the plan is not used.
absl::Status StoreCheckpoint(File& file, const StagedState& staged, CheckpointPlan plan);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_CHECKPOINT_CHECKPOINT_ENCODER_H_
