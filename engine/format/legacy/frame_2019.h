// Frames of August 2019 and before: 64 bytes, metalayers when there are any, chunks, index; no
// trailer.
#ifndef CAIRN_ENGINE_FORMAT_LEGACY_FRAME_2019_H_
#define CAIRN_ENGINE_FORMAT_LEGACY_FRAME_2019_H_

#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/format/frame_header.h"

namespace cairn::format::legacy {

inline constexpr uint8_t kArray2019Plain = 0x9B;
inline constexpr uint8_t kArray2019WithLayers = 0x9C;

// `bytes` are the whole header. It tells no filters: those are in the chunks only.
absl::StatusOr<FrameHeader> ParseHeader2019(Bytes bytes);

}  // namespace cairn::format::legacy

#endif  // CAIRN_ENGINE_FORMAT_LEGACY_FRAME_2019_H_
