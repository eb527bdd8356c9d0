// The header of a chunk, read with the checks and the error codes of C-Blosc2.
#ifndef CAIRN_ENGINE_BLOSC2_API_CHUNKS_CHUNK_HEAD_H_
#define CAIRN_ENGINE_BLOSC2_API_CHUNKS_CHUNK_HEAD_H_

#include <array>
#include <cstdint>

#include "engine/blosc2_api/process/api.h"

namespace cairn::blosc2_api {

inline constexpr uint8_t kLazyFlag = 0x08;  // in the last byte of a header

struct ChunkHead {
  uint8_t version = 0;
  uint8_t versionlz = 0;
  uint8_t flags = 0;
  uint8_t typesize = 0;
  int32_t nbytes = 0;
  int32_t blocksize = 0;  // at most nbytes; of variable blocks their number
  int32_t cbytes = 0;
  // The rest is read from headers of 32 bytes alone.
  bool extended = false;
  std::array<uint8_t, BLOSC2_MAX_FILTERS> filters{};
  uint8_t codec = 0;
  uint8_t flags2 = 0;
  uint8_t blosc2_flags = 0;

  int size() const { return extended ? BLOSC_EXTENDED_HEADER_LENGTH : BLOSC_MIN_HEADER_LENGTH; }
  bool memcpyed() const { return (flags & BLOSC_MEMCPYED) != 0; }
  bool vlblocks() const { return (flags2 & kVlBlocks) != 0; }
  int special() const { return (blosc2_flags >> 4) & BLOSC2_SPECIAL_MASK; }
  // Returns true if the bytes stand for a chunk that is still in its file.
  bool lazy() const { return (blosc2_flags & kLazyFlag) != 0 && special() == 0; }
  // Returns the number of blocks. Variable blocks have as many as `blocksize` says.
  int32_t nblocks() const;
};

// Reads the header. Without `all`, only its first 16 bytes are read. Returns 0 or an error code.
int ReadHead(const void* chunk, int32_t size, bool all, ChunkHead& head);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_CHUNKS_CHUNK_HEAD_H_
