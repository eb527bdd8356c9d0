// Opens the writers of frames: of those that exist, and of those that it creates.
#ifndef CAIRN_ENGINE_FRAME_COMMIT_OPEN_WRITER_H_
#define CAIRN_ENGINE_FRAME_COMMIT_OPEN_WRITER_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "engine/frame/commit/frame_writer.h"

namespace cairn::frame {

// Whether commits can follow this state: they would bury no damage, and no other frame follows.
absl::Status CheckMayContinue(const FrameFile& source, const State& state, bool drop_stranded);

// The writer of a frame that exists. kUnavailable while another one holds it.
absl::StatusOr<std::unique_ptr<FrameWriter>> OpenWriter(std::shared_ptr<FrameCore> core,
                                                        const WriterOptions& options,
                                                        bool drop_stranded = false);

// The writer of a new frame, which appears at `location` with the first commit. With `plain` and no
// fingerprints that commit leaves out both of Cairn's layers.
absl::StatusOr<std::unique_ptr<FrameWriter>> CreateWriter(FrameLocation location,
                                                          const CreateOptions& options, bool plain);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_COMMIT_OPEN_WRITER_H_
