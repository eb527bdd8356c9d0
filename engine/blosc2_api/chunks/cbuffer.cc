// Says what the header of a chunk says.
#include <cstddef>
#include <cstdint>

#include "engine/blosc2_api/chunks/chunk_head.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"

using cairn::blosc2_api::ChunkHead;
using cairn::blosc2_api::Failed;
using cairn::blosc2_api::ReadHead;

int blosc2_cbuffer_sizes(const void* cbuffer, int32_t* nbytes, int32_t* cbytes,
                         int32_t* blocksize) {
  ChunkHead head;
  const int code = ReadHead(cbuffer, BLOSC_MIN_HEADER_LENGTH, false, head);
  if (code < 0) head = ChunkHead();
  if (nbytes != nullptr) *nbytes = head.nbytes;
  if (cbytes != nullptr) *cbytes = head.cbytes;
  if (blocksize != nullptr) *blocksize = head.blocksize;
  return code;
}

void blosc1_cbuffer_sizes(const void* cbuffer, size_t* nbytes, size_t* cbytes, size_t* blocksize) {
  ChunkHead head;
  if (ReadHead(cbuffer, BLOSC_MIN_HEADER_LENGTH, false, head) < 0) head = ChunkHead();
  *nbytes = static_cast<size_t>(head.nbytes);
  *cbytes = static_cast<size_t>(head.cbytes);
  *blocksize = static_cast<size_t>(head.blocksize);
}

int blosc1_cbuffer_validate(const void* cbuffer, size_t cbytes, size_t* nbytes) {
  *nbytes = 0;
  if (cbytes < BLOSC_MIN_HEADER_LENGTH) {
    return Failed(BLOSC2_ERROR_WRITE_BUFFER, "chunk: fewer than 16 bytes");
  }
  ChunkHead head;
  const int code = ReadHead(cbuffer, BLOSC_MIN_HEADER_LENGTH, false, head);
  if (code < 0) return code;
  if (static_cast<size_t>(head.cbytes) != cbytes) {
    return Failed(BLOSC2_ERROR_INVALID_HEADER, "chunk: not as many bytes as its header says");
  }
  if (head.nbytes < 0 || head.nbytes > BLOSC2_MAX_BUFFERSIZE) {
    return Failed(BLOSC2_ERROR_MEMORY_ALLOC, "chunk header: nbytes is out of range");
  }
  *nbytes = static_cast<size_t>(head.nbytes);
  return BLOSC2_ERROR_SUCCESS;
}

void blosc1_cbuffer_metainfo(const void* cbuffer, size_t* typesize, int* flags) {
  ChunkHead head;
  if (ReadHead(cbuffer, BLOSC_MIN_HEADER_LENGTH, false, head) < 0) head = ChunkHead();
  *typesize = head.typesize;
  *flags = head.flags;
}

void blosc2_cbuffer_versions(const void* cbuffer, int* version, int* versionlz) {
  ChunkHead head;
  if (ReadHead(cbuffer, BLOSC_MIN_HEADER_LENGTH, false, head) < 0) head = ChunkHead();
  *version = head.version;
  *versionlz = head.versionlz;
}
