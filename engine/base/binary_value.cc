#include "engine/base/binary_value.h"

#include <utility>

#include "engine/base/endian.h"

namespace cairn {

namespace {

constexpr uint8_t kBin32 = 0xC6;

}  // namespace

void WriteBinaryHead(size_t size, ByteWriter& writer) {
  writer.U8(kBin32);
  writer.Be(static_cast<uint32_t>(size));
}

ByteWriter BeginBinary() {
  ByteWriter writer;
  WriteBinaryHead(0, writer);
  return writer;
}

std::vector<std::byte> EndBinary(ByteWriter writer) {
  std::vector<std::byte> value = std::move(writer).Take();
  StoreBe(value.data() + 1, static_cast<uint32_t>(value.size() - kBinaryHead));
  return value;
}

void ReadBinaryHead(ByteReader& reader) {
  reader.Expect(kBin32, "marker");
  const auto size = reader.Be<uint32_t>("size");
  if (reader.ok() && size != reader.remaining()) {
    reader.Fail("size", "expected %d bytes, got %d", size, reader.remaining());
  }
}

void ReadHeadIfAny(ByteReader& reader) {
  const size_t begin = reader.offset();
  const uint8_t first = reader.U8("marker");
  reader.Seek(begin, "marker");
  if (first == kBin32) ReadBinaryHead(reader);
}

}  // namespace cairn
