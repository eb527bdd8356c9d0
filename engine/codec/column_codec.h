// Codes streams of records, taken apart by columns, for the codecs of numbers.
#ifndef CAIRN_ENGINE_CODEC_COLUMN_CODEC_H_
#define CAIRN_ENGINE_CODEC_COLUMN_CODEC_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/codec/numbers/number.h"
#include "engine/codec/numbers/stream_head.h"
#include "engine/codec/stream_codec.h"

namespace cairn::codec {

// A column in the decoded bytes.
struct Place {
  std::byte* first = nullptr;  // the column's part of the first record
  size_t stride = 0;           // bytes of a record
  size_t records = 0;
  // The wanted records:
  size_t begin = 0;
  size_t end = 0;
};

// A stream begins with its head, and the columns follow. A column of bytes has their size as
// another codec codes them (a varint), and these. How a column of numbers is stored is up to the
// codec. Bytes after the last whole record end the stream. docs/file-format.md has the details.
class ColumnCodec : public StreamCodec {
 public:
  void UseColumns(std::span<const ItemColumn> columns) final;
  absl::StatusOr<size_t> Compress(Bytes src, MutableBytes dst, const PluginCall& call) final;
  absl::Status Decompress(Bytes src, MutableBytes dst, const PluginCall& call) final;
  absl::Status DecompressStart(Bytes src, MutableBytes dst, size_t wanted,
                               const PluginCall& call) final;
  absl::Status DecompressPart(Bytes src, MutableBytes dst, const StreamPart& part,
                              const PluginCall& call) final;

  static constexpr int kPageLog = 10;  // a page has 1,024 numbers

 protected:
  // `bytes_codec` codes bytes that are no numbers.
  ColumnCodec(const numbers::Format& format, std::unique_ptr<StreamCodec> (*bytes_codec)())
      : format_(format), make_bytes_codec_(bytes_codec) {}

  // Appends a column of numbers of `size` bytes, which are of one of these kinds. Returns the kind
  // that they are encoded as.
  virtual numbers::NumberKind EncodeNumbers(int size, std::span<const numbers::NumberKind> kinds,
                                            Bytes numbers, int clevel, ByteWriter& out) = 0;

  // Decodes the wanted numbers of a column that `in` is at, and leaves `in` after it. Reads as many
  // bytes past the column as `src` has. Errors: kDataLoss if what is wanted is malformed.
  virtual absl::Status DecodeNumbers(const numbers::StreamHead& head, const numbers::Column& column,
                                     const Place& place, Bytes src, ByteReader& in) = 0;

  // Copies the numbers [begin, end) of a column, which lie at `from`, to their records.
  static void ToRecords(const numbers::Column& column, size_t begin, size_t end,
                        const std::byte* from, const Place& place);

  // Returns memory of a size, which stays until the next call.
  MutableBytes Values(size_t size) {
    if (values_.size() < size) values_.resize(size);
    return MutableBytes(values_).first(size);
  }

 private:
  // Returns the values of a column one after the other.
  Bytes Gather(const std::byte* first, size_t width, size_t stride, size_t records);
  absl::Status EncodeBytes(Bytes bytes, int clevel, ByteWriter& out);
  absl::Status DecodeBytes(const numbers::Column& column, const Place& place, ByteReader& in);
  StreamCodec& BytesCodec() {
    if (bytes_codec_ == nullptr) bytes_codec_ = make_bytes_codec_();
    return *bytes_codec_;
  }

  const numbers::Format format_;
  std::unique_ptr<StreamCodec> (*make_bytes_codec_)();
  std::unique_ptr<StreamCodec> bytes_codec_;
  std::vector<numbers::Column> columns_;  // of the items; empty if they are numbers
  numbers::StreamHead head_;              // of the stream that is decoded
  std::vector<std::byte> values_;
  std::vector<std::byte> coded_;
};

}  // namespace cairn::codec

#endif  // CAIRN_ENGINE_CODEC_COLUMN_CODEC_H_
