// Frames in memory.
#ifndef CAIRN_ENGINE_BLOSC2_API_SCHUNKS_MEMORY_FRAME_H_
#define CAIRN_ENGINE_BLOSC2_API_SCHUNKS_MEMORY_FRAME_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"

#include "cairn/snapshot.h"
#include "engine/blosc2_api/files/frame_store.h"
#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

// Makes the store of a new super-chunk without chunks.
std::unique_ptr<blosc2_frame_s> MakeMemoryFrame(const blosc2_schunk& schunk);
// Makes the store of a super-chunk whose frame is in a buffer of the caller. The store frees it
// with free only if KeepCframe(false) is called. If the buffer maps a file, `mapped` is the state
// of that: while it is read, the file is not cut.
std::unique_ptr<blosc2_frame_s> MakeMemoryFrame(const blosc2_schunk& schunk, MutableBytes cframe,
                                                Snapshot snapshot,
                                                std::optional<Snapshot> mapped = {});

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_SCHUNKS_MEMORY_FRAME_H_
