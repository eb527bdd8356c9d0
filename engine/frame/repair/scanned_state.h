// Makes the state that a search of all bytes shows, if the index of a frame cannot be used.
#ifndef CAIRN_ENGINE_FRAME_REPAIR_SCANNED_STATE_H_
#define CAIRN_ENGINE_FRAME_REPAIR_SCANNED_STATE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/format/frame_header.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/repair/chunk_scanner.h"
#include "engine/frame/repair/stranded_chunks.h"
#include "engine/frame/state/frame_context.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Returns a state with the facts of the header of a frame, and of its trailer if that can be
// parsed, without any chunk. `header` are the header's bytes. Errors: kDataLoss if they are not a
// header.
absl::StatusOr<StatePtr> StateOfHeader(const FrameFile& source, std::vector<std::byte> header,
                                       std::shared_ptr<const FrameContext> env);

// Returns `state` with the chunks of a scan in place of its own, in the order of the file. An array
// of one dimension becomes as long as its chunks. Errors: kDataLoss if the chunks are not such as
// the header describes, or not as many as the shape of an array asks for, because nothing then
// tells which are missing.
absl::StatusOr<KnownState> StateOfScan(const State& state, const ScanResult& found);

// Sorts the lost bytes, and joins those that touch and have one reason.
std::vector<LostBytes> MergeLost(std::vector<LostBytes> lost);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_SCANNED_STATE_H_
