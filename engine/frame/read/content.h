// What a state holds, whatever its layout and wherever its bytes lie: by this a frame and its
// copies are compared.
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

// Bytes of the items of the last chunk of a frame of fixed chunks, when there is room for more:
// pending items, or the chunk that a checkpoint made of them. Otherwise 0. Of arrays only those of
// one dimension have such a chunk; zeros after its items do not count.
int64_t ShortChunkNbytes(const State& state);
// The other chunks.
int64_t CompleteChunks(const State& state);
// Those items.
absl::StatusOr<std::vector<std::byte>> ReadShortChunk(const State& state, VerifyPolicy policy);

// Visits a key for each complete chunk: its entry in the index when that is a special value, else
// the fingerprint of its stored bytes. Reads the chunks that have none.
absl::Status ForEachChunkKey(const State& state,
                             absl::FunctionRef<absl::Status(uint64_t key)> visit);
// Whether a key is that of a special value.
bool IsSpecialKey(uint64_t key);

// XXH3-64 of the keys, the items of the short chunk, and the metadata. Equal for states of the same
// data and metadata in the same chunks. One pass over the index.
absl::StatusOr<uint64_t> HashContent(const State& state);

// What the vlmetalayer of an increment says. kFailedPrecondition for another frame.
absl::StatusOr<format::Increment> ReadIncrement(const State& state);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_READ_CONTENT_H_
