// Frames from before 2.0.0.rc1. Their headers begin with the fields of today's up to the typesize,
// no block size, chunksize, thread counts and a flag.
//
// Frames of August 2019 and before: 64 bytes, metalayers when there are any, chunks, index; no
// trailer. Frames of 2.0.0.beta.2 to beta.5: like today's, but for a header without block size and
// codec id and a trailer with one value.
#ifndef CAIRN_ENGINE_FORMAT_LEGACY_EARLY_FRAME_H_
#define CAIRN_ENGINE_FORMAT_LEGACY_EARLY_FRAME_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/format/frame_header.h"

namespace cairn::format::legacy {

// First bytes.
inline constexpr uint8_t kArray2019Plain = 0x9B;
inline constexpr uint8_t kArray2019WithLayers = 0x9C;
inline constexpr uint8_t kArrayBeta = 0x9D;

// The least length of a header: the fields up to the flag.
inline constexpr int64_t kEarlyFieldsSize = 0x40;

// `bytes` are the whole header. That of 2019 names no filters: those are in the chunks only.
absl::StatusOr<FrameHeader> ParseHeader2019(Bytes bytes);
absl::StatusOr<FrameHeader> ParseBetaHeader(Bytes bytes);

// The value of a beta's trailer has no name; it reads as a vlmetalayer of this one.
inline constexpr std::string_view kUsermetaLayer = "usermeta";

struct BetaTrailer {
  bool beta2 = false;   // else of a later one: beta.4 and beta.5 cannot be told apart
  LayerPlace usermeta;  // a chunk; size 0 when there is none
};

absl::StatusOr<BetaTrailer> ParseBetaTrailer(Bytes bytes);

}  // namespace cairn::format::legacy

#endif  // CAIRN_ENGINE_FORMAT_LEGACY_EARLY_FRAME_H_
