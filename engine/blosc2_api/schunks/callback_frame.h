// Frames that a program's own functions store.
#ifndef CAIRN_ENGINE_BLOSC2_API_SCHUNKS_CALLBACK_FRAME_H_
#define CAIRN_ENGINE_BLOSC2_API_SCHUNKS_CALLBACK_FRAME_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

#include "engine/blosc2_api/files/frame_store.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/schunks/schunk.h"

namespace cairn::blosc2_api {

// Opens a frame through the functions that are registered for the id of `io`. A frame at an offset
// is read-only, and its file is read from there to its end. A directory is read completely.
absl::StatusOr<SchunkPtr> OpenCallbackFrame(const char* urlpath, int64_t offset,
                                            const blosc2_io& io);

// Creates the file or directory that the storage of a new super-chunk names.
absl::StatusOr<std::unique_ptr<blosc2_frame_s>> CreateCallbackFrame(const blosc2_schunk& schunk);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_SCHUNKS_CALLBACK_FRAME_H_
