#include "engine/format/legacy/era.h"

#include "engine/base/bytes.h"
#include "engine/format/frame_header.h"
#include "engine/format/legacy/beta_frame.h"
#include "engine/format/legacy/frame_2019.h"
#include "engine/format/legacy/packed.h"

namespace cairn::format::legacy {

static_assert(kEraBytes >= kPackedHeaderSize);

Era EraOf(Bytes head, int64_t size) {
  const size_t magic_end = 2 + kFrameMagic.size();
  if (head.size() >= magic_end && head[1] == std::byte{kFrameMagicMarker} &&
      AsText(head.subspan(2, kFrameMagic.size())) == kFrameMagic) {
    switch (std::to_integer<uint8_t>(head[0])) {
      case kArray2019Plain:
      case kArray2019WithLayers:
        return Era::kFrame2019;
      case kArrayBeta:
        return Era::kBeta;
      default:
        return Era::kCurrent;
    }
  }
  return ParsePackedHeader(head, size).ok() ? Era::kPacked2015 : Era::kCurrent;
}

}  // namespace cairn::format::legacy
