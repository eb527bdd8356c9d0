// Frames put together from parts that need not fit each other.
#ifndef CAIRN_FUZZ_FRAME_PARTS_H_
#define CAIRN_FUZZ_FRAME_PARTS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "cairn/types.h"
#include "engine/format/frame_header.h"

namespace cairn::fuzz {

// A chunk of these bytes, stored as they are or compressed.
std::vector<std::byte> MakeChunk(Bytes payload, int32_t typesize, bool compressed,
                                 int32_t blocksize = 0);

// A frame without a seal: header (whose sizes of parts are filled in), chunks, index, trailer.
std::vector<std::byte> JoinFrame(format::FrameHeader header, Bytes chunks, Bytes index);

}  // namespace cairn::fuzz

#endif  // CAIRN_FUZZ_FRAME_PARTS_H_
