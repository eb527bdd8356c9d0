// The headers of C-Blosc2 that this library is compiled against, whose functions it defines.
#ifndef CAIRN_ENGINE_BLOSC2_API_PROCESS_API_H_
#define CAIRN_ENGINE_BLOSC2_API_PROCESS_API_H_

#define BLOSC_SHARED_LIBRARY  // makes the headers export what they declare

// IWYU pragma: begin_exports
#include <b2nd.h>
#include <blosc2.h>

#include <blosc2/codecs-registry.h>
#include <blosc2/filters-registry.h>
// IWYU pragma: end_exports

#include <cstddef>
#include <cstdint>

#include "cairn/types.h"
#include "engine/blosc2_api/process/versions.h"  // IWYU pragma: export

namespace cairn::blosc2_api {

// Returns the bytes that a caller describes by a pointer and a size that is not negative.
inline Bytes BytesAt(const void* data, int64_t size) {
  return {static_cast<const std::byte*>(data), static_cast<size_t>(size)};
}
inline MutableBytes MutableBytesAt(void* data, int64_t size) {
  return {static_cast<std::byte*>(data), static_cast<size_t>(size)};
}

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_PROCESS_API_H_
