// Whether typed values are the items of a frame.
#ifndef CAIRN_ENGINE_FRAME_API_ITEM_SIZE_H_
#define CAIRN_ENGINE_FRAME_API_ITEM_SIZE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"

#include "engine/base/status.h"

namespace cairn::frame {

// `value_size` is 0 for raw bytes, which fit any frame.
inline absl::Status CheckItemSize(size_t value_size, int32_t typesize) {
  if (value_size == 0 || value_size == static_cast<size_t>(typesize)) return absl::OkStatus();
  return InvalidArgument("values of %d bytes are no items of a frame with typesize %d", value_size,
                         typesize);
}

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_API_ITEM_SIZE_H_
