// Recognises chunks among other bytes.
#ifndef CAIRN_ENGINE_FRAME_REPAIR_CHUNK_DETECTOR_H_
#define CAIRN_ENGINE_FRAME_REPAIR_CHUNK_DETECTOR_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/base/scratch_buffer.h"
#include "engine/chunk/decoder.h"
#include "engine/chunk/header.h"
#include "engine/format/frame_header.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

class ChunkDetector {
 public:
  // Peek reads this many bytes.
  static constexpr int64_t kPeek = chunk::kHeaderSize;

  // `frame` is the header of the frame that the chunks were in, or null.
  ChunkDetector(const FrameContext& env, const format::FrameHeader* frame);

  // Returns the header if the first of the `available` bytes could be that of a chunk with data.
  // Cheap and strict: almost any bytes would decode as a memcpyed chunk or a special value, so
  // every field must be one that an encoder writes.
  std::optional<chunk::Header> Peek(Bytes head, int64_t available) const;

  // Decodes all of a chunk, piece by piece. Takes memory for a few blocks.
  absl::Status TryDecoding(Bytes chunk);
  // Returns the bytes that TryDecoding has decoded so far.
  int64_t decoded() const { return decoded_; }

  // Decodes at most the first `most` bytes at once. Errors: kResourceExhausted for more memory than
  // the chunk justifies.
  absl::StatusOr<std::vector<std::byte>> Decode(Bytes chunk, int64_t most = INT64_MAX) const;

 private:
  const FrameContext& env_;
  std::optional<ArrayInfo> array_;
  chunk::DecodeContext context_;
  ScratchBuffer scratch_;
  int64_t decoded_ = 0;
};

// Errors: kResourceExhausted for memory that a chunk of `cbytes` does not justify.
absl::Status CheckMemory(int64_t wanted, int64_t cbytes);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_CHUNK_DETECTOR_H_
