// Makes the state that a header and the bytes of the file show, if a frame cannot be opened.
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

// Returns the state of the checkpoint whose header has these bytes, with the chunks that its index
// names. The trailer may be cut off or damaged: its vlmetalayers are those that are left. No
// fingerprint of its own proves a chunk. Errors: kDataLoss unless the index is where the header
// says and has as many entries as the header asks for.
absl::StatusOr<StatePtr> StateOfIndex(const FrameFile& source, std::vector<std::byte> header,
                                      std::shared_ptr<const FrameContext> env);

// Returns `state` with the chunks of a scan in place of its own, in the order of the file. An array
// of one dimension becomes as long as its chunks, without the padding of the last one. Errors:
// kDataLoss if the chunks are not such as the header describes. So it is if they may not be those
// of the array: there are chunks of several states, more of them than its shape asks for, or fewer
// in an array of more dimensions.
absl::StatusOr<KnownState> StateOfScan(const State& state, ScanResult found);

// Sorts the lost bytes, and joins those that touch and have one reason.
std::vector<LostBytes> MergeLost(std::vector<LostBytes> lost);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_SCANNED_STATE_H_
