// Chunks whose data is lost. One stream serves all blocks and says so. Its codec is one that no
// library has.
#ifndef CAIRN_ENGINE_CHUNK_HOLE_H_
#define CAIRN_ENGINE_CHUNK_HOLE_H_

#include <cstdint>
#include <string_view>

#include "cairn/types.h"
#include "engine/base/bytes.h"
#include "engine/chunk/header.h"

namespace cairn::chunk {

// A program may have a codec of this number, so the stream decides.
inline constexpr auto kHoleCodec = static_cast<Codec>(255);
inline constexpr std::string_view kHoleStream = "the data was lost";
inline constexpr int32_t kHoleStreamBytes = 4 + int32_t{kHoleStream.size()};

// Returns true if the chunk is a hole. `chunk` has all bytes that its header names.
inline bool IsHole(const Header& header, Bytes chunk) {
  return header.codec_id == static_cast<uint8_t>(kHoleCodec) &&
         header.cbytes == header.size() + 4 * int64_t{header.nblocks()} + kHoleStreamBytes &&
         AsText(chunk).ends_with(kHoleStream);
}

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_HOLE_H_
