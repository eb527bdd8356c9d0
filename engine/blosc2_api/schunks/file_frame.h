// Frames in files and directories.
#ifndef CAIRN_ENGINE_BLOSC2_API_SCHUNKS_FILE_FRAME_H_
#define CAIRN_ENGINE_BLOSC2_API_SCHUNKS_FILE_FRAME_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

#include "cairn/frame.h"
#include "engine/blosc2_api/files/frame_store.h"
#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

// Opens the frame of a file or a directory.
absl::StatusOr<Frame> OpenFrame(const std::string& path, int64_t offset);

// Keeps programs of C-Blosc2 that use its locking from edits of the file while the returned object
// lives. Returns null if the parameters do not ask for locking.
absl::StatusOr<std::shared_ptr<const void>> KeepOthersOut(const std::string& path,
                                                          const blosc2_io& io);

// Makes the store of a super-chunk whose frame is open.
std::unique_ptr<blosc2_frame_s> MakeFileFrame(const blosc2_schunk& schunk, Frame frame,
                                              int64_t offset);

// Creates the file or directory that the storage of a new super-chunk names. Errors: kAlreadyExists
// if something has the path.
absl::StatusOr<std::unique_ptr<blosc2_frame_s>> CreateFileFrame(const blosc2_schunk& schunk);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_SCHUNKS_FILE_FRAME_H_
