// Finds bytes by a pattern, many at a time.
#ifndef CAIRN_ENGINE_CHUNK_BYTE_MARKS_H_
#define CAIRN_ENGINE_CHUNK_BYTE_MARKS_H_

#include <cstdint>
#include <span>

#include "cairn/types.h"

namespace cairn::chunk {

// A word of marks stands for this many bytes.
inline constexpr size_t kLine = 64;

// Two bytes in a row that equal `value` in the bits of their masks.
struct BytePattern {
  uint8_t value = 0;
  uint8_t mask = 0;
  uint8_t next_mask = 0;
};

// Sets bit i of marks[j] if byte 64 * j + i and the one after it match the pattern, in every
// complete line of `bytes` that a byte follows. Returns the number of lines.
size_t MarkBytes(Bytes bytes, const BytePattern& pattern, std::span<uint64_t> marks);

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_BYTE_MARKS_H_
