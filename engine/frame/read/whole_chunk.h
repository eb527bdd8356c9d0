// All items of one chunk.
#ifndef CAIRN_ENGINE_FRAME_READ_WHOLE_CHUNK_H_
#define CAIRN_ENGINE_FRAME_READ_WHOLE_CHUNK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/frame/state/state.h"

namespace cairn::frame {

// Pending items read as the last chunk.
absl::StatusOr<std::vector<std::byte>> ReadWholeChunk(const State& state, int64_t nchunk,
                                                      VerifyPolicy policy);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READ_WHOLE_CHUNK_H_
