// Chooses how a column is coded, by coding a sample of it in each way.
#ifndef CAIRN_ENGINE_CODEC_CODING_CHOOSER_H_
#define CAIRN_ENGINE_CODEC_CODING_CHOOSER_H_

#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/base/byte_writer.h"
#include "engine/codec/column_coders.h"
#include "engine/codec/numbers/number.h"
#include "engine/codec/numbers/stream_head.h"

namespace cairn::codec {

// Numbers are coded by bitpack, which is decoded fastest, unless pco takes a good deal less. Where
// LZ4 or zstd take less than both they code the bytes. Bytes are coded by LZ4 unless zstd takes a
// good deal less.
class CodingChooser {
 public:
  explicit CodingChooser(ColumnCoders& coders) : coders_(coders) {}

  // Sets the coding of a column, and the kind of its numbers, which is one of these. `sample` has
  // some of the values, and the column of a stream has `size` bytes.
  absl::Status Choose(std::span<const numbers::NumberKind> kinds, Bytes sample, size_t size,
                      int clevel, numbers::Column& column);

 private:
  // A way of coding the column, and the bytes that a stream takes by it.
  struct Option {
    numbers::Column column;
    double bytes = 0;
  };
  absl::StatusOr<Option> Try(numbers::Coding coding, const numbers::Column& column);
  // Returns the better one of these for numbers.
  absl::StatusOr<Option> BestOfNumbers(const numbers::Column& column);
  // Tries LZ4, and zstd if that may take less than `bound`, with and without SHUFFLE.
  absl::StatusOr<Option> BestOfBytes(const numbers::Column& column, double bound);

  ColumnCoders& coders_;
  // The column:
  std::span<const numbers::NumberKind> kinds_;
  Bytes sample_;
  double scale_ = 1;
  int clevel_ = 0;
};

}  // namespace cairn::codec

#endif  // CAIRN_ENGINE_CODEC_CODING_CHOOSER_H_
