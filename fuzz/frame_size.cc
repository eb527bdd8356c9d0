#include "fuzz/frame_size.h"

#include <string_view>

#include "engine/base/bytes.h"
#include "engine/base/endian.h"

namespace cairn::fuzz {

void RepairFrameSize(MutableBytes frame) {
  constexpr size_t kSizeAt = 0x10;
  constexpr size_t kFixed = 0x18;
  constexpr std::string_view kMagic("b2frame\0", 8);
  if (frame.size() < kFixed || AsText(frame.subspan(2, kMagic.size())) != kMagic) return;
  StoreBe(frame.data() + kSizeAt, uint64_t{frame.size()});
}

}  // namespace cairn::fuzz
