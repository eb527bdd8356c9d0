// Copies the live chunks of a frame, and checks each of them.
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

// Tells where a copy has the chunks of a file. The key is the entry together with the fingerprint:
// in one file the two mean the same chunk for ever, though its place may be used again.
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

// Returns the staged state with its chunks where `copied` has them or, if it has not or is null,
// where `place` puts them. A chunk that is placed is checked against its fingerprint, or gets one.
// `view` is the same state for reading. Errors: kCancelled if `progress` says stop.
absl::StatusOr<StagedState> SealChunks(const State& view, const StagedState& staged,
                                       PlaceChunk place, ChunkProgress progress,
                                       const CopiedChunks* copied = nullptr);

// Makes a new file next to that of a contiguous frame, with the frame's live chunks. Most of it can
// be made while the writer works. Not thread-safe.
class LiveCopy {
 public:
  // Begins a copy of the frame whose file is `source`. The header of the frame has `header_len`
  // bytes.
  static absl::StatusOr<std::unique_ptr<LiveCopy>> Begin(const FrameLocation& location,
                                                         const FileIdentity& source,
                                                         int64_t header_len);

  // Copies the chunks of a committed state that have a fingerprint and were not copied before;
  // returns how many.
  absl::StatusOr<int64_t> CopyNew(const State& state, ChunkProgress progress);
  // Returns true if this can become a copy of the frame: the frame's file is still the one that the
  // copy began with.
  absl::StatusOr<bool> Fits(const CommittedFrame& frame) const;
  // Returns the stager's frame with the edits, complete except for its name. The pending items must
  // have become a chunk. The only dead bytes are chunks that were copied and then replaced.
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

// Returns the stager's frame with the edits in a new file, without dead bytes. Its pending items
// must have become a chunk.
absl::StatusOr<AtomicFile> CopyContiguous(const CommittedFrame& frame, Stager& stager,
                                          ChunkProgress progress);

// Returns a committed state with its chunks, and one of the pending items, where `sink` puts them.
// Each chunk is checked, and all are flushed. Errors: kCancelled if `progress` says stop; that of
// the trailer if it is damaged.
absl::StatusOr<StagedState> CopyInto(const State& state, ChunkSink& sink, ChunkProgress progress);

// Adds the state's pending items to `staged` as its last chunk, if there are any.
absl::Status AddPending(const State& state, ChunkSink& sink, StagedState& staged);

// Returns a sink for the chunks of a new file, right after a header of this size.
ContiguousSink SinkInto(const std::shared_ptr<File>& file, int64_t header_len);
// Plans the checkpoint of a copy. It has the state's generation, and no history.
CheckpointPlan PlanCopy(const State& state, int64_t index_begin);

// Returns a committed state of any layout as the bytes of a contiguous frame.
absl::StatusOr<std::vector<std::byte>> SerializeContiguous(const State& state);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_CHECKPOINT_LIVE_COPY_H_
