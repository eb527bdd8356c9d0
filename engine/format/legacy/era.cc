#include "engine/format/legacy/era.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "engine/base/bytes.h"
#include "engine/format/frame_header.h"
#include "engine/format/legacy/early_frame.h"
#include "engine/format/legacy/packed.h"

namespace cairn::format::legacy {

static_assert(kEraBytes >= kPackedHeaderSize);

namespace {

// Returns true if the bytes have more than half of the magic, or of its beginning: they are a
// damaged frame.
bool BeginsAsFrame(Bytes head) {
  std::string magic(1, static_cast<char>(kFrameMagicMarker));
  magic += kFrameMagic;
  const std::string_view there = AsText(head.subspan(std::min<size_t>(head.size(), 1)));
  const size_t size = std::min(there.size(), magic.size());
  size_t same = 0;
  for (size_t i = 0; i < size; ++i) same += there[i] == magic[i] ? 1 : 0;
  return 2 * same > size;
}

}  // namespace

absl::StatusOr<Era> EraOf(Bytes head, int64_t size) {
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
  if (ParsePackedHeader(head, size).ok()) return Era::kPacked2015;
  if (BeginsAsFrame(head)) return Era::kCurrent;
  return absl::InvalidArgumentError("not a Blosc2 frame");
}

}  // namespace cairn::format::legacy
