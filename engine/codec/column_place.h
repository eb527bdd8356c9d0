// Copies values of a column to the records in which they lie.
#ifndef CAIRN_ENGINE_CODEC_COLUMN_PLACE_H_
#define CAIRN_ENGINE_CODEC_COLUMN_PLACE_H_

#include <cstddef>

#include "engine/codec/numbers/stream_head.h"

namespace cairn::codec {

// A column in the decoded bytes.
struct Place {
  std::byte* first = nullptr;  // for the column's part of the first wanted record
  size_t stride = 0;           // bytes from there to that of the next
  size_t records = 0;
  // The wanted records:
  size_t begin = 0;
  size_t end = 0;
};

// Copies pieces of `width` bytes that begin each so many bytes.
void CopyPieces(size_t width, size_t count, const std::byte* from, size_t from_stride,
                std::byte* to, size_t to_stride);

// Copies the numbers [begin, end) of a column, which lie at `from`, to their records.
void ToRecords(const numbers::Column& column, size_t begin, size_t end, const std::byte* from,
               const Place& place);

}  // namespace cairn::codec

#endif  // CAIRN_ENGINE_CODEC_COLUMN_PLACE_H_
