// Copies of the live chunks of a frame, each checked.
#ifndef CAIRN_ENGINE_FRAME_CHECKPOINT_LIVE_COPY_H_
#define CAIRN_ENGINE_FRAME_CHECKPOINT_LIVE_COPY_H_

#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include "engine/frame/checkpoint/committed_frame.h"
#include "engine/frame/files/atomic_file.h"
#include "engine/frame/stage/contiguous_sink.h"
#include "engine/frame/stage/stager.h"

namespace cairn::frame {

// Where chunks of one file are in another, by their entry and fingerprint: in the same file these
// two mean the same chunk for ever, though its place may be used again.
class CopiedChunks {
 public:
  struct Place {
    int64_t value = 0;
    int64_t cbytes = 0;
  };
  std::optional<Place> Find(const IndexEntry& entry) const;
  // The entry has a fingerprint.
  void Add(const IndexEntry& entry, Place place);
  int64_t size() const { return std::ssize(places_); }

 private:
  absl::flat_hash_map<std::pair<int64_t, uint64_t>, Place> places_;
};

// Takes a stored chunk and the entry that it had, and returns the one that it gets.
using PlaceChunk = absl::FunctionRef<absl::StatusOr<int64_t>(int64_t entry, Bytes chunk)>;

// The staged state with its chunks where `copied` has them, which may be null, or else where
// `place` puts them. Each that is placed is checked against its fingerprint, or gets one. `view` is
// the same state for reading. kCancelled when `progress` says stop.
absl::StatusOr<StagedState> SealChunks(const State& view, const StagedState& staged,
                                       PlaceChunk place, ChunkProgress progress,
                                       const CopiedChunks* copied = nullptr);

// A new file beside that of a contiguous frame, with the frame's live chunks. Most of it can be
// made beside the writer. Not thread-safe.
class LiveCopy {
 public:
  // Of the frame in `source`, whose header has this length.
  static absl::StatusOr<std::unique_ptr<LiveCopy>> Begin(const FrameLocation& location,
                                                         const FileIdentity& source,
                                                         int64_t header_len);

  // Copies the chunks of a committed state that have a fingerprint and were not copied before;
  // returns how many.
  absl::StatusOr<int64_t> CopyNew(const State& state, ChunkProgress progress);
  // Whether it can end as a copy of this frame: its file is still the one that it began with.
  absl::StatusOr<bool> Fits(const CommittedFrame& frame) const;
  // The stager's frame with the edits, complete but for its name. The pending items must have
  // become a chunk. Dead is only what was copied and then replaced.
  absl::StatusOr<AtomicFile> Finish(const CommittedFrame& frame, Stager& stager,
                                    ChunkProgress progress) &&;

 private:
  LiveCopy(FileIdentity source, AtomicFile file, ContiguousSink sink)
      : source_(source), file_(std::move(file)), sink_(std::move(sink)) {}

  const FileIdentity source_;
  AtomicFile file_;
  ContiguousSink sink_;
  CopiedChunks copied_;
};

// The stager's frame with the edits in a new file, without a dead byte. Its pending items must have
// become a chunk.
absl::StatusOr<AtomicFile> CopyContiguous(const CommittedFrame& frame, Stager& stager,
                                          ChunkProgress progress);

// A committed state with its chunks where `sink` puts them, the one of the pending items included;
// each is checked. All is flushed. kCancelled when `progress` says stop.
absl::StatusOr<StagedState> CopyInto(const State& state, ChunkSink& sink, ChunkProgress progress);

// Makes the last chunk of the state's pending items, if it has any.
absl::Status AddPending(const State& state, ChunkSink& sink, StagedState& staged);

// Into a new file, right after a header of this size.
ContiguousSink SinkInto(const std::shared_ptr<File>& file, int64_t header_len);
// The checkpoint of a copy: the state's generation, without a history.
CheckpointPlan PlanCopy(const State& state, int64_t index_begin);

// A committed state as the bytes of a contiguous frame, whatever its layout.
absl::StatusOr<std::vector<std::byte>> SerializeContiguous(const State& state);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_CHECKPOINT_LIVE_COPY_H_
