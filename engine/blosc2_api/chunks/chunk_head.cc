#include "engine/blosc2_api/chunks/chunk_head.h"

#include <algorithm>
#include <cstddef>

#include "engine/base/checked.h"
#include "engine/base/endian.h"
#include "engine/blosc2_api/process/codes.h"

namespace cairn::blosc2_api {

namespace {

constexpr int kMarker = BLOSC_DOSHUFFLE | BLOSC_DOBITSHUFFLE;

int CheckSpecial(const ChunkHead& head) {
  if (head.special() == BLOSC2_NO_SPECIAL) return BLOSC2_ERROR_SUCCESS;
  if (head.vlblocks()) {
    return Failed(BLOSC2_ERROR_INVALID_HEADER, "chunk header: a special value of variable blocks");
  }
  if (head.special() == BLOSC2_SPECIAL_VALUE) {
    const int32_t width = head.cbytes - BLOSC_EXTENDED_HEADER_LENGTH;
    if (width <= 0 || width > BLOSC2_MAXTYPESIZE || width > head.nbytes ||
        head.nbytes % width != 0) {
      return Failed(BLOSC2_ERROR_INVALID_HEADER, "chunk header: width of the repeated value");
    }
    return BLOSC2_ERROR_SUCCESS;
  }
  if (head.special() != BLOSC2_SPECIAL_ZERO && head.nbytes % head.typesize != 0) {
    return Failed(BLOSC2_ERROR_INVALID_HEADER, "chunk header: an incomplete special value");
  }
  return BLOSC2_ERROR_SUCCESS;
}

void ReadExtension(const std::byte* bytes, ChunkHead& head) {
  head.extended = true;
  for (size_t i = 0; i < head.filters.size(); ++i) {
    head.filters[i] = std::to_integer<uint8_t>(bytes[BLOSC2_CHUNK_FILTER_CODES + i]);
  }
  head.codec = std::to_integer<uint8_t>(bytes[BLOSC2_CHUNK_FILTER_META - 2]);
  head.flags2 = std::to_integer<uint8_t>(bytes[kFlags2Offset]);
  head.blosc2_flags = std::to_integer<uint8_t>(bytes[BLOSC2_CHUNK_BLOSC2_FLAGS]);
}

}  // namespace

int32_t ChunkHead::nblocks() const {
  return vlblocks() || blocksize <= 0 ? blocksize : CeilDiv(std::max(nbytes, 0), blocksize);
}

int ReadHead(const void* chunk, int32_t size, bool all, ChunkHead& head) {
  head = ChunkHead();
  if (size < BLOSC_MIN_HEADER_LENGTH) {
    return Failed(BLOSC2_ERROR_READ_BUFFER, "chunk header: fewer than 16 bytes");
  }
  const auto* const bytes = static_cast<const std::byte*>(chunk);
  head.version = std::to_integer<uint8_t>(bytes[BLOSC2_CHUNK_VERSION]);
  head.versionlz = std::to_integer<uint8_t>(bytes[BLOSC2_CHUNK_VERSIONLZ]);
  head.flags = std::to_integer<uint8_t>(bytes[BLOSC2_CHUNK_FLAGS]);
  head.typesize = std::to_integer<uint8_t>(bytes[BLOSC2_CHUNK_TYPESIZE]);
  head.nbytes = LoadLe<int32_t>(bytes + BLOSC2_CHUNK_NBYTES);
  head.blocksize = LoadLe<int32_t>(bytes + BLOSC2_CHUNK_BLOCKSIZE);
  head.cbytes = LoadLe<int32_t>(bytes + BLOSC2_CHUNK_CBYTES);
  if (head.cbytes < BLOSC_MIN_HEADER_LENGTH || head.blocksize <= 0 ||
      head.blocksize > BLOSC2_MAXBLOCKSIZE || head.typesize == 0) {
    return Failed(BLOSC2_ERROR_INVALID_HEADER, "chunk header: a size out of range");
  }
  if (all && (head.flags & kMarker) == kMarker) {
    if (head.cbytes < BLOSC_EXTENDED_HEADER_LENGTH) {
      return Failed(BLOSC2_ERROR_INVALID_HEADER, "chunk header: cbytes is below 32");
    }
    if (size < BLOSC_EXTENDED_HEADER_LENGTH) {
      return Failed(BLOSC2_ERROR_READ_BUFFER, "chunk header: fewer than 32 bytes");
    }
    ReadExtension(bytes, head);
    const int code = CheckSpecial(head);
    if (code < 0) return code;
  }
  if (head.version > BLOSC2_VERSION_FORMAT && (head.flags2 & ~kVlBlocks) != 0) {
    return Failed(BLOSC2_ERROR_VERSION_SUPPORT, "chunk header: a newer format");
  }
  if (head.vlblocks() && head.memcpyed()) {
    return Failed(BLOSC2_ERROR_INVALID_HEADER, "chunk header: variable blocks that are not coded");
  }
  if (!head.vlblocks() && head.nbytes > 0) head.blocksize = std::min(head.blocksize, head.nbytes);
  return BLOSC2_ERROR_SUCCESS;
}

}  // namespace cairn::blosc2_api
