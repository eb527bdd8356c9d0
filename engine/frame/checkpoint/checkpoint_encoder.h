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

// What the writer decides; hashes, the copy and counts follow from the staged state.
struct CheckpointPlan {
  // Where the index goes. All chunks lie before it; an empty frame has its trailer right after the
  // header.
  int64_t index_begin = 0;
  // nonce, generation, previous_end, oldest_generation and type are taken from here.
  format::Seal seal;
  // Leaves out both of Cairn's layers.
  bool plain = false;
  chunk::WorkspacePool* pool = nullptr;
};

// Whether a checkpoint of the state has room for Cairn's layers: without them it has no generation
// that others could follow, nor a history.
bool HasRoomForSeal(const StagedState& staged);

// What one write moves from one checkpoint to the next.
inline constexpr int64_t kSectorSize = 512;
// Of a chunk in the table of fingerprints.
inline constexpr int64_t kTableEntry = sizeof(uint64_t) + sizeof(uint32_t);
// How much of the header a checkpoint of the state writes: up to the last byte that can change.
int64_t ChangedHeaderBytes(const StagedState& staged);

struct CheckpointBytes {
  std::vector<std::byte> tail;    // index and trailer, from index_begin to the end of the frame
  std::vector<std::byte> header;  // all of it
};

// The pending items must have become a chunk.
absl::StatusOr<CheckpointBytes> EncodeCheckpoint(const StagedState& staged,
                                                 const CheckpointPlan& plan);

// The same, written to a file that holds the chunks and has no name yet.
absl::Status StoreCheckpoint(File& file, const StagedState& staged, CheckpointPlan plan);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_CHECKPOINT_CHECKPOINT_ENCODER_H_
