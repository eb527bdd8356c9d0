// Shuffles of a buffer outside of chunks.
#include <cstdint>

#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/process/codes.h"
#include "engine/filter/filters.h"

namespace cairn::blosc2_api {

namespace {

using Shuffler = void(size_t typesize, Bytes src, MutableBytes dst);

int32_t Run(Shuffler* shuffler, int32_t typesize, int32_t size, const void* src, void* dest) {
  if (typesize < 1 || typesize > 256 || size < 0) {
    return Failed(BLOSC2_ERROR_INVALID_PARAM, "shuffle: typesize or size is out of range");
  }
  shuffler(static_cast<size_t>(typesize), BytesAt(src, size), MutableBytesAt(dest, size));
  return size;
}

}  // namespace

}  // namespace cairn::blosc2_api

namespace filter = cairn::filter;
using cairn::blosc2_api::Run;

int32_t blosc2_shuffle(int32_t typesize, int32_t blocksize, const void* src, void* dest) {
  return Run(filter::Shuffle, typesize, blocksize, src, dest);
}

int32_t blosc2_unshuffle(int32_t typesize, int32_t blocksize, const void* src, void* dest) {
  return Run(filter::Unshuffle, typesize, blocksize, src, dest);
}

int32_t blosc2_bitshuffle(int32_t typesize, int32_t blocksize, const void* src, void* dest) {
  return Run(filter::BitShuffle, typesize, blocksize, src, dest);
}

int32_t blosc2_bitunshuffle(int32_t typesize, int32_t blocksize, const void* src, void* dest) {
  return Run(filter::BitUnshuffle, typesize, blocksize, src, dest);
}
