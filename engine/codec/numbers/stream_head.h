// The head of a stream of a codec of numbers. docs/file-format.md specifies it.
#ifndef CAIRN_ENGINE_CODEC_NUMBERS_STREAM_HEAD_H_
#define CAIRN_ENGINE_CODEC_NUMBERS_STREAM_HEAD_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/codec/numbers/number.h"

namespace cairn::numbers {

// How the content of a column is coded. Streams name it by these numbers.
enum class Coding : uint8_t {
  kPco = 1,
  kBitpack = 2,
  // These take any bytes:
  kZstd = 3,
  kLz4 = 4,
  // These take them after SHUFFLE:
  kShuffledZstd = 5,
  kShuffledLz4 = 6,
};
inline constexpr uint8_t kMaxCoding = 6;

constexpr bool TakesBytes(Coding coding) { return coding >= Coding::kZstd; }
constexpr bool IsShuffled(Coding coding) { return coding >= Coding::kShuffledZstd; }

// A column of records: numbers of one type, or bytes that are no numbers.
struct Column {
  bool is_bytes = false;
  NumberType type = {};  // of a number; kUint of size 1 for bytes
  size_t count = 1;      // numbers of each record, or bytes
  Coding coding = Coding::kPco;

  size_t width() const { return static_cast<size_t>(type.size) * count; }
};

// A codec of numbers: its streams in messages, and what their heads say.
struct Format {
  std::string_view stream;
  // Each column says how it is coded, by a head of version 2. Otherwise all are coded like this:
  bool is_mixed = false;
  Coding numbers = Coding::kPco;
  Coding bytes = Coding::kZstd;
  // The logarithm of the numbers of a page in records of several columns. Such records are read one
  // by one more often than the numbers of an array, and each column decodes a page for them.
  int record_page_log = 0;
  // The version of how numbers are coded:
  uint8_t major = 0;
  uint8_t minor = 0;
};

struct StreamHead {
  std::string_view stream;  // of the format
  uint64_t size = 0;        // bytes that the stream decodes to
  int page_log = 0;
  std::vector<Column> columns = {};
  size_t stride = 0;  // bytes of a record
  int minor = 0;      // of the version of how numbers are coded
};

// Reads into a head, which keeps its memory from stream to stream.
// Errors: kDataLoss if the head is malformed; kUnimplemented if it has another version.
absl::Status ReadStreamHead(const Format& format, ByteReader& in, StreamHead& head);

void WriteStreamHead(const Format& format, uint64_t size, int page_log,
                     std::span<const Column> columns, ByteWriter& out);

}  // namespace cairn::numbers

#endif  // CAIRN_ENGINE_CODEC_NUMBERS_STREAM_HEAD_H_
