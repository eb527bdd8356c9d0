// Saves the chunks that a search of all bytes found, whatever the frame was.
#ifndef CAIRN_ENGINE_FRAME_REPAIR_SCANNED_SALVAGE_H_
#define CAIRN_ENGINE_FRAME_REPAIR_SCANNED_SALVAGE_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "cairn/recover.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/repair/chunk_detector.h"
#include "engine/frame/repair/chunk_scanner.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Makes a frame at `path` of the `found` chunks: those of one kind, in the order of the file.
// Chunks that do not fit into one frame are lost. `known` has the facts of header and trailer of
// the frame, or is null. The new frame has its metalayers, except that of an array.
//
// Errors: kNotFound if no chunk is left; kCancelled if `progress`, which gets where each chunk
// begins, returns false.
absl::StatusOr<SalvageReport> SalvageByScan(ScanResult found, const StatePtr& known,
                                            const FrameView& file, const ChunkDetector& detector,
                                            const FrameContext& env, const std::string& path,
                                            const std::shared_ptr<FileSystem>& files,
                                            absl::FunctionRef<bool(int64_t)> progress);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_SCANNED_SALVAGE_H_
