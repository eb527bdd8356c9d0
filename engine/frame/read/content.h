// Identifies the content of a state, whatever its layout is and wherever its bytes lie. A frame and
// its copies are compared by this.
#ifndef CAIRN_ENGINE_FRAME_READ_CONTENT_H_
#define CAIRN_ENGINE_FRAME_READ_CONTENT_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "engine/format/increment.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// Returns the bytes of the items in the last chunk of a frame of fixed chunks, if there is room for
// more: pending items, or the chunk that a checkpoint made of them. Otherwise returns 0. Only
// arrays of one dimension have such a chunk. Zeros after its items do not count.
int64_t ShortChunkNbytes(const State& state);
// Returns the number of the other chunks.
int64_t CompleteChunks(const State& state);
// Reads the items of the short chunk.
absl::StatusOr<std::vector<std::byte>> ReadShortChunk(const State& state, VerifyPolicy policy);

// Visits a key for each complete chunk: its entry in the index if that is a special value, else the
// fingerprint of its stored bytes. Reads the chunks that have none.
absl::Status ForEachChunkKey(const State& state,
                             absl::FunctionRef<absl::Status(uint64_t key)> visit);
// Returns true if a key is that of a special value.
bool IsSpecialKey(uint64_t key);

// Returns the XXH3-64 of the keys, the items of the short chunk, and the metadata. It is equal for
// states with equal data and metadata in the same chunks. Takes one pass over the index.
absl::StatusOr<uint64_t> HashContent(const State& state);

// Returns the vlmetalayer of an increment. Errors: kFailedPrecondition for any other frame.
absl::StatusOr<format::Increment> ReadIncrement(const State& state);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READ_CONTENT_H_
