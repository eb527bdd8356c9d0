#include "engine/codec/numbers/stream_head.h"

#include <bit>
#include <optional>

#include "engine/base/status.h"

namespace cairn::numbers {

namespace {

constexpr uint8_t kVersion = 1;
constexpr uint8_t kMixedVersion = 2;
constexpr int kPcoMinor = 1;  // of pco in heads of version 2
constexpr int kMaxPageLog = 24;
constexpr uint64_t kMaxCount = uint64_t{1} << 31;
constexpr int kBytesKind = 3;

// A type has the kind in the lowest two bits, and the logarithm of its size in the next two.
uint8_t ByteOf(const Column& column) {
  if (column.is_bytes) return kBytesKind;
  const int log = std::countr_zero(static_cast<unsigned>(column.type.size));
  return static_cast<uint8_t>(static_cast<int>(column.type.kind) | log << 2);
}

std::optional<Column> ColumnOf(uint8_t byte, uint64_t count) {
  if (count < 1 || count > kMaxCount) return std::nullopt;
  if (byte == kBytesKind) {
    return Column{.is_bytes = true, .type = {.size = 1}, .count = static_cast<size_t>(count)};
  }
  const auto kind = static_cast<NumberKind>(byte & 3);
  const int size_log = byte >> 2;
  const int least = kind == NumberKind::kFloat ? 1 : 0;
  if ((byte & 3) == kBytesKind || size_log > 3 || size_log < least) return std::nullopt;
  return Column{.type = {.kind = kind, .size = 1 << size_log}, .count = static_cast<size_t>(count)};
}

// Reads how a column of a mixed stream is coded.
absl::Status ReadCoding(const Format& format, ByteReader& in, Column& column) {
  const uint8_t coding = in.U8("coding");
  if (!in.ok()) return in.status();
  if (coding == 0 || coding > kMaxCoding) {
    return Unimplemented("%s: a column of coding %d", format.stream, coding);
  }
  column.coding = static_cast<Coding>(coding);
  if (column.is_bytes && !TakesBytes(column.coding)) {
    return DataLoss("%s: bytes of coding %d", format.stream, coding);
  }
  return absl::OkStatus();
}

absl::Status ReadVersion(const Format& format, ByteReader& in, StreamHead& head) {
  const uint8_t major = in.U8("major version");
  head.minor = in.U8("minor version");
  if (!in.ok()) return in.status();
  if (major == format.major) return absl::OkStatus();
  return Unimplemented("%s: version %d of the format", format.stream, major);
}

}  // namespace

absl::Status ReadStreamHead(const Format& format, ByteReader& in, StreamHead& head) {
  head.stream = format.stream;
  const uint8_t version = in.U8("version");
  head.size = in.Varint("decoded size");
  head.page_log = in.U8("numbers of a page");
  const uint64_t columns = in.Varint("columns");
  if (!in.ok()) return in.status();
  if (version != (format.is_mixed ? kMixedVersion : kVersion)) {
    return Unimplemented("%s: version %d", format.stream, version);
  }
  if (head.page_log > kMaxPageLog) {
    return DataLoss("%s: pages of 2^%d numbers", format.stream, head.page_log);
  }
  if (columns < 1 || columns > in.remaining()) {
    return DataLoss("%s: %d columns", format.stream, columns);
  }
  head.columns.clear();
  head.stride = 0;
  for (uint64_t i = 0; i < columns; ++i) {
    const uint8_t byte = in.U8("type");
    const uint64_t count = in.Varint("count");
    if (!in.ok()) return in.status();
    auto column = ColumnOf(byte, count);
    if (!column) return DataLoss("%s: %d numbers of type %d", format.stream, count, byte);
    column->coding = column->is_bytes ? format.bytes : format.numbers;
    if (format.is_mixed) CAIRN_RETURN_IF_ERROR(ReadCoding(format, in, *column));
    head.columns.push_back(*column);
    head.stride += column->width();
    if (head.stride > kMaxCount) {
      return DataLoss("%s: records of %d bytes", format.stream, head.stride);
    }
  }
  if (!format.is_mixed) return ReadVersion(format, in, head);
  head.minor = kPcoMinor;
  return absl::OkStatus();
}

void WriteStreamHead(const Format& format, uint64_t size, int page_log,
                     std::span<const Column> columns, ByteWriter& out) {
  out.U8(format.is_mixed ? kMixedVersion : kVersion);
  out.Varint(size);
  out.U8(static_cast<uint8_t>(page_log));
  out.Varint(columns.size());
  for (const Column& column : columns) {
    out.U8(ByteOf(column));
    out.Varint(column.count);
    if (format.is_mixed) out.U8(static_cast<uint8_t>(column.coding));
  }
  if (format.is_mixed) return;
  out.U8(format.major);
  out.U8(format.minor);
}

}  // namespace cairn::numbers
