// The interface of what codes the content of a column.
#ifndef CAIRN_ENGINE_CODEC_COLUMN_CODER_H_
#define CAIRN_ENGINE_CODEC_COLUMN_CODER_H_

#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/codec/column_place.h"
#include "engine/codec/numbers/number.h"
#include "engine/codec/numbers/stream_head.h"

namespace cairn::codec {

// Numbers of a page, except in records of pco.
inline constexpr int kPageLog = 10;
inline constexpr size_t kPage = size_t{1} << kPageLog;

// How closely numbers are coded, and how many of them a page has.
struct EncodeParams {
  int clevel = 0;
  int page_log = kPageLog;
};

// Keeps its memory from column to column. Not thread-safe.
class ColumnCoder {
 public:
  virtual ~ColumnCoder() = default;

  // Appends a column, whose values follow each other. Its numbers are of one of these kinds. Sets
  // that of the column to the one that they are coded as. Returns how many of the bytes describe
  // the column, and would not be more for a longer one.
  virtual absl::StatusOr<size_t> Encode(std::span<const numbers::NumberKind> kinds, Bytes values,
                                        const EncodeParams& params, numbers::Column& column,
                                        ByteWriter& out) = 0;

  // Decodes the wanted values of a column that `in` is at, and leaves `in` after it. Reads as many
  // bytes past the column as `src` has. Errors: kDataLoss if what is wanted is malformed.
  virtual absl::Status Decode(const numbers::StreamHead& head, const numbers::Column& column,
                              const Place& place, Bytes src, ByteReader& in) = 0;

 protected:
  // Returns memory of a size, which stays until the next call.
  MutableBytes Values(size_t size) {
    if (values_.size() < size) values_.resize(size);
    return MutableBytes(values_).first(size);
  }

 private:
  std::vector<std::byte> values_;
};

std::unique_ptr<ColumnCoder> MakePcoCoder();
std::unique_ptr<ColumnCoder> MakeBitpackCoder();
// For the codings that take bytes.
std::unique_ptr<ColumnCoder> MakeBytesCoder(numbers::Coding coding);

}  // namespace cairn::codec

#endif  // CAIRN_ENGINE_CODEC_COLUMN_CODER_H_
