#include "fuzz/frame_parts.h"

#include "cairn/chunk.h"
#include "engine/format/trailer.h"
#include "fuzz/check.h"

namespace cairn::fuzz {

std::vector<std::byte> MakeChunk(Bytes payload, int32_t typesize, bool compressed,
                                 int32_t blocksize) {
  CompressionOptions options;
  options.typesize = typesize;
  options.blocksize = blocksize;
  options.clevel = compressed ? 1 : 0;
  std::vector<std::byte> chunk(MaxCompressedSize(payload.size()));
  const absl::StatusOr<size_t> size = CompressChunk(payload, options, chunk);
  CheckOk(size.status(), "any bytes become a chunk");
  chunk.resize(*size);
  return chunk;
}

std::vector<std::byte> JoinFrame(format::FrameHeader header, Bytes chunks, Bytes index) {
  const std::vector<std::byte> trailer = format::EncodeTrailer({}, FingerprintType::kNone);
  header.cbytes = std::ssize(chunks);
  header.header_len = std::ssize(format::EncodeNewHeader(header));
  header.frame_size =
      header.header_len + std::ssize(chunks) + std::ssize(index) + std::ssize(trailer);
  std::vector<std::byte> frame = format::EncodeNewHeader(header);
  frame.insert(frame.end(), chunks.begin(), chunks.end());
  frame.insert(frame.end(), index.begin(), index.end());
  frame.insert(frame.end(), trailer.begin(), trailer.end());
  return frame;
}

}  // namespace cairn::fuzz
