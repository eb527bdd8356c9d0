// Frames that a program's own functions store.
#ifndef CAIRN_ENGINE_BLOSC2_API_SCHUNKS_CALLBACK_FRAME_H_
#define CAIRN_ENGINE_BLOSC2_API_SCHUNKS_CALLBACK_FRAME_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/blosc2_api/files/frame_store.h"
#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

// Reads all of a file through the functions that are registered for the id of `io`, into memory
// that the caller frees with free.
absl::StatusOr<MutableBytes> ReadFile(const std::string& path, const blosc2_io& io);

// Makes a store that keeps the frame of a super-chunk in `memory`, and writes all of it to the path
// of its storage after each edit.
std::unique_ptr<blosc2_frame_s> MakeCallbackFrame(const blosc2_schunk& schunk,
                                                  std::unique_ptr<blosc2_frame_s> memory);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_SCHUNKS_CALLBACK_FRAME_H_
