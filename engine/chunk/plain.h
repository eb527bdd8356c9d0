// Chunks whose payload is stored as it is, so that their size is known before their content.
#ifndef CAIRN_ENGINE_CHUNK_PLAIN_H_
#define CAIRN_ENGINE_CHUNK_PLAIN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn::chunk {

// At most kMaxChunkBytes of payload, of items of this size.
std::vector<std::byte> PlainChunk(Bytes payload, int32_t typesize = 1);
// Stands for nbytes of zeros and stores none.
std::vector<std::byte> PlainZeros(int32_t nbytes);

// The payload in place; kDataLoss for any other form of chunk.
absl::StatusOr<Bytes> PlainPayload(Bytes chunk);

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_PLAIN_H_
