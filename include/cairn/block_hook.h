// BlockHook: a program's own step between its data and the filters of a chunk.
#ifndef CAIRN_BLOCK_HOOK_H_
#define CAIRN_BLOCK_HOOK_H_

#include <cstdint>

#include "absl/status/status.h"

#include "cairn/types.h"

namespace cairn {

// Describes the block that a hook is called for.
struct BlockCall {
  int64_t block = 0;     // its number in the chunk
  int64_t begin = 0;     // position of the block in the decoded chunk, in bytes
  int32_t typesize = 1;  // typesize of the chunk header, 1..255
};

// Makes the bytes of one block out of other bytes: before the filters when a chunk is compressed,
// and after them when it is decompressed. It is called from several threads at once.
class CAIRN_EXPORT BlockHook {
 public:
  virtual ~BlockHook() = default;
  // Fills dst, which has the size of src and does not overlap it. Every byte of dst must be set.
  // An error ends the call that compresses or decompresses, which returns it.
  virtual absl::Status Run(const BlockCall& call, Bytes src, MutableBytes dst) const = 0;
};

}  // namespace cairn

#endif  // CAIRN_BLOCK_HOOK_H_
