// Loads a committed state: header, trailer, seal and journal; the index is read when it is used.
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

// The newest committed state: the checkpoint that the header leads to, and the journal after it.
// `footprint` is set to what the journal did to the space of the file; only for a caller that keeps
// others from writing.
absl::StatusOr<StatePtr> LoadState(const FrameFile& source, std::shared_ptr<const FrameContext> env,
                                   JournalFootprint* footprint = nullptr);

// Where to search for commits after the position where replay of this file stops.
JournalSearch SearchFor(const FrameFile& source, bool alone);

// What the header leads to, which need not be that of the file. `other_bases` is set to those of
// journals after the state that follow newer checkpoints.
absl::StatusOr<StatePtr> LoadFrom(const FrameFile& source, std::vector<std::byte> header_bytes,
                                  std::shared_ptr<const FrameContext> env,
                                  JournalFootprint* footprint, std::vector<uint64_t>& other_bases);

// What replay made of `state`, and the damage that it found.
StatePtr StateAfter(StatePtr state, const ReplayResult& replayed);

// The checkpoint of these header bytes, which need not be those in the file any more.
absl::StatusOr<StatePtr> LoadCheckpoint(const FrameFile& source,
                                        std::vector<std::byte> header_bytes,
                                        std::shared_ptr<const FrameContext> env);

// The frame's size as its header tells it now, read as one word.
absl::StatusOr<int64_t> LoadFrameSize(const FrameFile& source);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_OPEN_STATE_LOADER_H_
