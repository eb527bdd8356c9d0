// Parts of the interface that only newer headers of C-Blosc2 have. This library has them with each.
#ifndef CAIRN_ENGINE_BLOSC2_API_PROCESS_VERSIONS_H_
#define CAIRN_ENGINE_BLOSC2_API_PROCESS_VERSIONS_H_

#include <b2nd.h>
#include <blosc2.h>
#include <cstdint>

extern "C" {
BLOSC_EXPORT int b2nd_get_sparse_cbuffer(const b2nd_array_t* array, int64_t ncoords,
                                         const int64_t* coords, void* buffer, int64_t buffersize);
BLOSC_EXPORT int b2nd_refresh(b2nd_array_t* array);
BLOSC_EXPORT int blosc2_getitem_bytes_ctx(blosc2_context* context, const void* src, int32_t srcsize,
                                          int32_t start, int32_t nbytes, void* dest,
                                          int32_t destsize);
BLOSC_EXPORT int blosc2_schunk_get_sparse_buffer(blosc2_schunk* schunk, int64_t ncoords,
                                                 const int64_t* coords, void* buffer);
BLOSC_EXPORT int blosc2_schunk_get_vlblock(blosc2_schunk* schunk, int64_t nchunk, int32_t nblock,
                                           uint8_t** dest, int32_t* destsize);
BLOSC_EXPORT int blosc2_schunk_lock(blosc2_schunk* schunk);
BLOSC_EXPORT int blosc2_schunk_refresh(blosc2_schunk* schunk);
BLOSC_EXPORT int blosc2_schunk_unlock(blosc2_schunk* schunk);
BLOSC_EXPORT int blosc2_vlchunk_get_nblocks(const void* src, int32_t srcsize, int32_t* nblocks);
BLOSC_EXPORT int blosc2_vlcompress_ctx(blosc2_context* context, const void* const* srcs,
                                       const int32_t* srcsizes, int32_t nblocks, void* dest,
                                       int32_t destsize);
BLOSC_EXPORT int blosc2_vldecompress_block_ctx(blosc2_context* context, const void* src,
                                               int32_t srcsize, int32_t nblock, uint8_t** dest,
                                               int32_t* destsize);
BLOSC_EXPORT int blosc2_vldecompress_ctx(blosc2_context* context, const void* src, int32_t srcsize,
                                         void** dests, int32_t* destsizes, int32_t maxblocks);
}

namespace cairn::blosc2_api {

inline constexpr int kErrorLock = -37;
inline constexpr uint8_t kVlBlocks = 0x01;            // in the second flags of a chunk
inline constexpr int kFlags2Offset = 0x1E;            // of these flags in a chunk
inline constexpr uint8_t kVersionFormatVlBlocks = 6;  // of a chunk

// Returns true if the parameters of files ask for locking.
inline bool AsksForLocking([[maybe_unused]] const blosc2_io& io) {
#if BLOSC2_VERSION_MAJOR > 3 || (BLOSC2_VERSION_MAJOR == 3 && BLOSC2_VERSION_MINOR >= 2)
  const auto* const params = static_cast<const blosc2_stdio_params*>(io.params);
  return params != nullptr && params->locking;
#else
  return false;
#endif
}

// A super-chunk, and fields that its header has no place for, or lacks in older versions. All
// super-chunks are made this way.
struct SchunkMemory {
  blosc2_schunk schunk;
  uint8_t flags2;
  uint8_t use_dict;
  int64_t change_tick;
  blosc2_schunk* viewed;  // if this is a view, the super-chunk that has the chunks
};
struct ArrayMemory {
  b2nd_array_t array;
  int64_t last_tick;
};

inline SchunkMemory& MemoryOf(blosc2_schunk& schunk) {
  return reinterpret_cast<SchunkMemory&>(schunk);
}
inline const SchunkMemory& MemoryOf(const blosc2_schunk& schunk) {
  return reinterpret_cast<const SchunkMemory&>(schunk);
}
inline ArrayMemory& MemoryOf(b2nd_array_t& array) { return reinterpret_cast<ArrayMemory&>(array); }

// Returns the super-chunk that has the chunks and the vlmetalayers: a view shows those of another.
inline blosc2_schunk& OwnerOf(blosc2_schunk& schunk) {
  return schunk.view ? *MemoryOf(schunk).viewed : schunk;
}
inline const blosc2_schunk& OwnerOf(const blosc2_schunk& schunk) {
  return schunk.view ? *MemoryOf(schunk).viewed : schunk;
}

// Return the field of the struct, or the one that stands for it.
template <typename Schunk>
auto& Flags2(Schunk& schunk) {
  if constexpr (requires { schunk.flags2; }) {
    return schunk.flags2;
  } else {
    return MemoryOf(schunk).flags2;
  }
}
template <typename Schunk>
auto& UseDict(Schunk& schunk) {
  if constexpr (requires { schunk.use_dict; }) {
    return schunk.use_dict;
  } else {
    return MemoryOf(schunk).use_dict;
  }
}
template <typename Schunk>
auto& ChangeTick(Schunk& schunk) {
  if constexpr (requires { schunk.change_tick; }) {
    return schunk.change_tick;
  } else {
    return MemoryOf(schunk).change_tick;
  }
}
template <typename Array>
auto& LastTick(Array& array) {
  if constexpr (requires { array.last_tick; }) {
    return array.last_tick;
  } else {
    return MemoryOf(array).last_tick;
  }
}

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_PROCESS_VERSIONS_H_
