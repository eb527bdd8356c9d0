// The head of a stream of the codec pco. docs/file-format.md specifies it.
#ifndef CAIRN_ENGINE_CODEC_PCO_STREAM_HEAD_H_
#define CAIRN_ENGINE_CODEC_PCO_STREAM_HEAD_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/codec/pco/chunk_meta.h"
#include "engine/codec/pco/number.h"

namespace cairn::pco {

// A column of records: numbers of one type, or bytes that are no numbers.
struct Column {
  bool is_bytes = false;
  NumberType type = {};  // of a number; kUint of size 1 for bytes
  size_t count = 1;      // numbers of each record, or bytes

  size_t width() const { return static_cast<size_t>(type.size) * count; }
};

struct StreamHead {
  uint64_t size = 0;  // bytes that the stream decodes to
  int page_log = 0;
  std::vector<Column> columns = {};
  size_t stride = 0;  // bytes of a record
  Version version = {};
};

// Errors: kDataLoss if the head is malformed; kUnimplemented if it has a later version.
absl::StatusOr<StreamHead> ReadStreamHead(ByteReader& in);

// Writes the head in the newest version of the format.
void WriteStreamHead(uint64_t size, int page_log, const std::vector<Column>& columns,
                     ByteWriter& out);

}  // namespace cairn::pco

#endif  // CAIRN_ENGINE_CODEC_PCO_STREAM_HEAD_H_
