// Chunks without blocks, which hold the payload as it is (memcpyed) or one value that repeats
// (special).
#ifndef CAIRN_ENGINE_CHUNK_SPECIAL_H_
#define CAIRN_ENGINE_CHUNK_SPECIAL_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/base/scratch_buffer.h"
#include "engine/chunk/header.h"
#include "engine/chunk/item_fields.h"

namespace cairn::chunk {

struct SpecialContent {
  SpecialValue kind = SpecialValue::kZeros;
  int32_t typesize = 1;  // decides which NaN
  Bytes value;           // for kRepeat
};

// Writes bytes [begin, begin + dst.size()) of the content of such a chunk. Errors: kDataLoss for
// NaNs of a typesize that has none.
absl::Status FillSpecial(const SpecialContent& content, int64_t begin, MutableBytes dst);
// Writes fields of items that lie in such a chunk.
absl::Status FillSpecialFields(const SpecialContent& content, const ItemRange& items,
                               const ItemFields& fields, ScratchBuffer& buffer);

// Writes the chunk of a header, whose cbytes this sets, and the stored bytes after it. Returns its
// size. Errors: kResourceExhausted if dst is too small.
absl::StatusOr<size_t> StoreWithoutBlocks(Header header, Bytes stored, MutableBytes dst);

// Makes a chunk of at most kMaxChunkBytes of payload, with items of this size. The size of the
// chunk is known before the payload.
std::vector<std::byte> MemcpyedChunk(Bytes payload, int32_t typesize = 1);
// Makes the bytes before the payload of such a chunk.
std::vector<std::byte> MemcpyedHeader(int32_t nbytes);
// Makes a chunk that stands for nbytes of zeros and stores none.
std::vector<std::byte> ZerosChunk(int32_t nbytes);

// Returns the payload in place. Errors: kDataLoss for any other form of chunk.
absl::StatusOr<Bytes> MemcpyedPayload(Bytes chunk);

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_SPECIAL_H_
