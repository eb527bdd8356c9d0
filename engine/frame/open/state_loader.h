// Loads a committed state: header, trailer, seal and journal. The index is read when it is used.
#ifndef CAIRN_ENGINE_FRAME_OPEN_STATE_LOADER_H_
#define CAIRN_ENGINE_FRAME_OPEN_STATE_LOADER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/frame/files/frame_file.h"
#include "engine/frame/replay/replay.h"
#include "engine/frame/state/frame_context.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Loads the newest committed state: the checkpoint that the header leads to, and the journal after
// it. `footprint` is set to the effect of the journal on the space of the file. Only a caller that
// keeps others from writing may pass it.
absl::StatusOr<StatePtr> LoadState(const FrameFile& source, std::shared_ptr<const FrameContext> env,
                                   JournalFootprint* footprint = nullptr);

// Tells where to search for commits after the position where replay of this file stops.
JournalSearch SearchFor(const FrameFile& source, bool alone);

// Loads the state that a header leads to, which need not be the header in the file. `other_bases`
// is set to the bases of journals after the state that follow newer checkpoints.
absl::StatusOr<StatePtr> LoadFrom(const FrameFile& source, std::vector<std::byte> header_bytes,
                                  std::shared_ptr<const FrameContext> env,
                                  JournalFootprint* footprint, std::vector<uint64_t>& other_bases);

// Returns the state that replay made of `state`, with the damage that it found.
StatePtr StateAfter(StatePtr state, const ReplayResult& replayed);

// Loads the checkpoint of these header bytes, which need not be those in the file any more. What
// `end` has of the end of the frame is not read again.
absl::StatusOr<StatePtr> LoadCheckpoint(const FrameFile& source,
                                        std::vector<std::byte> header_bytes,
                                        std::shared_ptr<const FrameContext> env, Chunk end = {});

// Returns the frame's size that its header has now, read as one word.
absl::StatusOr<int64_t> LoadFrameSize(const FrameFile& source);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_OPEN_STATE_LOADER_H_
