// Frames of 2.0.0.beta.2 to beta.5: like today's, but for a header without block size and codec id
// and a trailer with one value.
#ifndef CAIRN_ENGINE_FORMAT_LEGACY_BETA_FRAME_H_
#define CAIRN_ENGINE_FORMAT_LEGACY_BETA_FRAME_H_

#include <string_view>

#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/format/frame_header.h"
#include "engine/format/trailer.h"

namespace cairn::format::legacy {

inline constexpr uint8_t kArrayBeta = 0x9D;

// The value of the trailer has no name; it reads as a vlmetalayer of this one.
inline constexpr std::string_view kUsermetaLayer = "usermeta";

// `bytes` are the whole header.
absl::StatusOr<FrameHeader> ParseBetaHeader(Bytes bytes);

struct BetaTrailer {
  bool beta2 = false;   // else of a later one: beta.4 and beta.5 cannot be told apart
  LayerPlace usermeta;  // a chunk; size 0 when there is none
};

absl::StatusOr<BetaTrailer> ParseBetaTrailer(Bytes bytes);

}  // namespace cairn::format::legacy

#endif  // CAIRN_ENGINE_FORMAT_LEGACY_BETA_FRAME_H_
