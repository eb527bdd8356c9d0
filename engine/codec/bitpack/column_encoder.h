// Encodes a column of numbers as vectors.
#ifndef CAIRN_ENGINE_CODEC_BITPACK_COLUMN_ENCODER_H_
#define CAIRN_ENGINE_CODEC_BITPACK_COLUMN_ENCODER_H_

#include <memory>
#include <span>

#include "cairn/types.h"
#include "engine/base/byte_writer.h"
#include "engine/codec/numbers/number.h"

namespace cairn::bitpack {

// Keeps its memory from column to column. Not thread-safe.
class ColumnEncoder {
 public:
  // Makes an encoder for numbers of `size` bytes.
  static std::unique_ptr<ColumnEncoder> Make(int size);
  virtual ~ColumnEncoder() = default;

  // Appends the end of each vector, counted from the first one, and the vectors. The numbers are of
  // the kind that takes the fewest bytes. Returns this kind.
  virtual numbers::NumberKind Encode(std::span<const numbers::NumberKind> kinds, Bytes numbers,
                                     ByteWriter& out) = 0;
};

}  // namespace cairn::bitpack

#endif  // CAIRN_ENGINE_CODEC_BITPACK_COLUMN_ENCODER_H_
