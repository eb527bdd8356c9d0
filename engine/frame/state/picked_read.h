// Reads some blocks of a stored chunk by few system calls.
#ifndef CAIRN_ENGINE_FRAME_STATE_PICKED_READ_H_
#define CAIRN_ENGINE_FRAME_STATE_PICKED_READ_H_

#include <cstdint>
#include <span>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/chunk.h"
#include "cairn/types.h"

namespace cairn::frame {

// Reads bytes from `offset` of a chunk on.
using ReadOfChunk = absl::FunctionRef<absl::Status(int64_t offset, MutableBytes dst)>;

// Returns the blocks of a chunk that hold the `needed` bytes, as PickedBlocks makes a chunk of
// them, or all of the chunk if that is as quick. `read` reads up to the `available` bytes that the
// chunk may have. Errors: kDataLoss or kUnimplemented if the header is damaged; those of `read`.
absl::StatusOr<Chunk> ReadPicked(int64_t available, std::span<const ByteRange> needed,
                                 ReadOfChunk read);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_PICKED_READ_H_
