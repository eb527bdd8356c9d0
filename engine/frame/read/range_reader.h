// Reads a range of the decoded data.
#ifndef CAIRN_ENGINE_FRAME_READ_RANGE_READER_H_
#define CAIRN_ENGINE_FRAME_READ_RANGE_READER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/frame/index/decoded_offsets.h"
#include "engine/frame/read/read_ahead.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Reads bytes [begin, begin + dst.size()) of the decoded data.
absl::Status ReadRange(const State& state, int64_t begin, MutableBytes dst);

// Decodes a chunk into dst, which must have its size.
absl::Status ReadChunk(const State& state, int64_t nchunk, MutableBytes dst);
// Errors: kInvalidArgument if dst does not have the size of a chunk of this many bytes.
absl::Status CheckChunkBuffer(int64_t nchunk, int64_t nbytes, MutableBytes dst);

// Returns the chunk that holds a byte of the decoded data, and where it begins there.
absl::StatusOr<DecodedOffsets::Place> FindByte(const State& state, int64_t position);

// Returns the ReadAhead for the chunks that hold bytes [begin, begin + size).
ReadAhead AheadOf(const State& state, int64_t begin, int64_t size);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READ_RANGE_READER_H_
