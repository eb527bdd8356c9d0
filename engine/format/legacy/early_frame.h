// Frames from before 2.0.0.rc1. Their headers begin with the fields of today's up to the typesize.
// Then come, without a block size, chunksize, thread counts and a flag.
//
// Frames of August 2019 and before have 64 bytes, metalayers if there are any, chunks and an index,
// but no trailer. Frames of 2.0.0.beta.2 to beta.5 are like today's, except that the header lacks
// the block size and the codec id, and that the trailer has one value.
#ifndef CAIRN_ENGINE_FORMAT_LEGACY_EARLY_FRAME_H_
#define CAIRN_ENGINE_FORMAT_LEGACY_EARLY_FRAME_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/format/frame_header.h"

namespace cairn::format::legacy {

// The first bytes of frames.
inline constexpr uint8_t kArray2019Plain = 0x9B;
inline constexpr uint8_t kArray2019WithLayers = 0x9C;
inline constexpr uint8_t kArrayBeta = 0x9D;

// The least length of a header, which has the fields up to the flag.
inline constexpr int64_t kEarlyFieldsSize = 0x40;

// `bytes` are the whole header. A header of 2019 names no filters, because those are in the chunks
// only.
absl::StatusOr<FrameHeader> ParseHeader2019(Bytes bytes);
absl::StatusOr<FrameHeader> ParseBetaHeader(Bytes bytes);

// The value of a beta's trailer has no name. It reads as a vlmetalayer of this name.
inline constexpr std::string_view kUsermetaLayer = "usermeta";

struct BetaTrailer {
  bool beta2 = false;   // else a later one: beta.4 and beta.5 look alike
  LayerPlace usermeta;  // a chunk; size 0 if there is none
};

absl::StatusOr<BetaTrailer> ParseBetaTrailer(Bytes bytes);

}  // namespace cairn::format::legacy

#endif  // CAIRN_ENGINE_FORMAT_LEGACY_EARLY_FRAME_H_
