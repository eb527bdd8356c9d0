#include "tests/support/frame_parts.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "engine/base/endian.h"
#include "engine/format/frame_header.h"
#include "engine/format/trailer.h"
#include "tests/support/status.h"

namespace cairn::test {

FrameParts PartsOf(Bytes frame) {
  FrameParts parts;
  const auto header = format::ParseFrameHeader(frame);
  EXPECT_TRUE(IsOk(header));
  if (!header.ok()) return parts;
  parts.header_len = header->header_len;
  parts.index_begin = header->header_len + header->cbytes;
  parts.frame_size = header->frame_size;
  constexpr auto kTail = static_cast<size_t>(format::kTrailerTailSize);
  const Bytes tail = frame.first(static_cast<size_t>(parts.frame_size)).last(kTail);
  parts.trailer_begin = parts.frame_size - int64_t{LoadBe<uint32_t>(tail.data() + 1)};
  return parts;
}

void DropFingerprint(Buffer& frame) { std::fill(frame.end() - 17, frame.end(), std::byte{0}); }

}  // namespace cairn::test
