// The input is the list of layers that a header or a trailer holds, and what follows it: once as
// the metalayers of a frame, once as its trailer.

#include <vector>

#include "engine/base/byte_writer.h"
#include "engine/base/bytes.h"
#include "engine/base/endian.h"
#include "engine/format/frame_header.h"
#include "engine/format/trailer.h"
#include "fuzz/mutator.h"
#include "fuzz/read_all.h"

namespace cairn::fuzz {
namespace {

using Buffer = std::vector<std::byte>;

// An empty frame of these parts, whose sizes its header tells.
Buffer Join(Bytes metalayers, Bytes trailer) {
  format::FrameHeader header;
  header.header_len = format::kFixedHeaderSize + std::ssize(metalayers);
  header.frame_size = header.header_len + std::ssize(trailer);
  header.has_vlmetalayers = true;
  Buffer frame = format::EncodeFixedHeader(header);
  frame.insert(frame.end(), metalayers.begin(), metalayers.end());
  frame.insert(frame.end(), trailer.begin(), trailer.end());
  return frame;
}

void Read(Bytes input) {
  format::FrameHeader header;
  const Buffer good_header = format::EncodeNewHeader(header);
  const Buffer good_trailer = format::EncodeTrailer({}, FingerprintType::kNone);
  const Bytes no_metalayers = Bytes(good_header).subspan(format::kFixedHeaderSize);
  ReadFrame(Join(input, good_trailer));

  // Trailers begin with their version; the size is 23 bytes before the end.
  Buffer trailer = ToVector(input);
  constexpr size_t kSizeAt = 22;
  if (trailer.size() > kSizeAt) {
    StoreBe(trailer.data() + trailer.size() - kSizeAt, static_cast<uint32_t>(trailer.size()));
  }
  ReadFrame(Join(no_metalayers, trailer));
}

}  // namespace
}  // namespace cairn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cairn::fuzz::Read(cairn::fuzz::AsBytes(data, size));
  return 0;
}
