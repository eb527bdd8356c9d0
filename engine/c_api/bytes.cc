#include <cstddef>

#include "cairn/cairn.h"
#include "engine/c_api/handles.h"

const void* cairn_bytes_data(const cairn_bytes* bytes) {
  return bytes == nullptr ? nullptr : bytes->chunk.bytes().data();
}

size_t cairn_bytes_size(const cairn_bytes* bytes) {
  return bytes == nullptr ? 0 : bytes->chunk.bytes().size();
}

void cairn_bytes_free(cairn_bytes* bytes) { delete bytes; }
