// CRC-32 as zlib and zip files have it.
#ifndef CAIRN_ENGINE_CODEC_CRC32_H_
#define CAIRN_ENGINE_CODEC_CRC32_H_

#include <cstdint>

#include "cairn/types.h"

namespace cairn::codec {

// Returns the checksum of the bytes, after others whose checksum is `before`.
uint32_t Crc32(Bytes bytes, uint32_t before = 0);

}  // namespace cairn::codec

#endif  // CAIRN_ENGINE_CODEC_CRC32_H_
