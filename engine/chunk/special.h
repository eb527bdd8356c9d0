// Chunks without blocks: the payload as it is (memcpyed), or one value over and over (special).
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
  Bytes value;           // of kRepeat
};

// Writes bytes [begin, begin + dst.size()) of what such a chunk stands for. kDataLoss for NaNs of a
// typesize that has none.
absl::Status FillSpecial(const SpecialContent& content, int64_t begin, MutableBytes dst);
// Writes fields of items that lie in such a chunk.
absl::Status FillSpecialFields(const SpecialContent& content, const ItemRange& items,
                               const ItemFields& fields, ScratchBuffer& buffer);

// Writes the chunk of a header, whose cbytes this sets, and the stored bytes after it. Returns its
// size; kResourceExhausted when dst is too small.
absl::StatusOr<size_t> StoreWithoutBlocks(Header header, Bytes stored, MutableBytes dst);

// At most kMaxChunkBytes of payload, of items of this size. The size of the chunk is known before
// the payload.
std::vector<std::byte> MemcpyedChunk(Bytes payload, int32_t typesize = 1);
// What comes before the payload of such a chunk.
std::vector<std::byte> MemcpyedHeader(int32_t nbytes);
// Stands for nbytes of zeros and stores none.
std::vector<std::byte> ZerosChunk(int32_t nbytes);

// The payload in place; kDataLoss for any other form of chunk.
absl::StatusOr<Bytes> MemcpyedPayload(Bytes chunk);

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_SPECIAL_H_
