// Binary values of MessagePack: 0xC6 and a u32 size in big endian before the bytes. The content of
// Cairn's own vlmetalayers is such a value, so that programs which expect MessagePack there, as
// python-blosc2 does, can show all vlmetalayers of a frame.
#ifndef CAIRN_ENGINE_BASE_BINARY_VALUE_H_
#define CAIRN_ENGINE_BASE_BINARY_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"

namespace cairn {

inline constexpr size_t kBinaryHead = 1 + sizeof(uint32_t);

// Writes the head of a value of `size` bytes.
void WriteBinaryHead(size_t size, ByteWriter& writer);

// Begins a value whose size EndBinary fills in.
ByteWriter BeginBinary();
std::vector<std::byte> EndBinary(ByteWriter writer);

// Reads the head of a value that takes all bytes that are left.
void ReadBinaryHead(ByteReader& reader);
// Does the same for a layer that older Cairns wrote without a head. Its first byte is another one.
void ReadHeadIfAny(ByteReader& reader);

}  // namespace cairn

#endif  // CAIRN_ENGINE_BASE_BINARY_VALUE_H_
