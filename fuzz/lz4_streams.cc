#include "fuzz/lz4_streams.h"

#include <cstdint>

#include "cairn/chunk.h"
#include "fuzz/chunk_layout.h"
#include "fuzz/input.h"

namespace cairn::fuzz {
namespace {

size_t ReadLength(size_t length, Input& input) {
  if (length != 15) return length;
  uint8_t more = 255;
  while (more == 255 && !input.empty()) length += more = input.Number<uint8_t>();
  return length;
}

bool RepeatsAtNoDistance(Input stream) {
  while (!stream.empty()) {
    const auto token = stream.Number<uint8_t>();
    stream.Take(ReadLength(token >> 4, stream));
    if (stream.rest().size() < 2) return false;
    if (stream.Number<uint16_t>() == 0) return true;
    ReadLength(token & 15, stream);
  }
  return false;
}

}  // namespace

bool RepeatsAtNoDistance(Bytes chunk) {
  const absl::StatusOr<ChunkInfo> info = InspectChunk(chunk);
  if (!info.ok() || (info->codec != Codec::kLz4 && info->codec != Codec::kLz4Hc)) return false;
  for (const ByteRange& stream : ChunkLayout(chunk).streams) {
    if (RepeatsAtNoDistance(Input(chunk.subspan(stream.begin, stream.size)))) return true;
  }
  return false;
}

}  // namespace cairn::fuzz
