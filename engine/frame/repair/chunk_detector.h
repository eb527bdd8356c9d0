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
#include "engine/frame/state/frame_context.h"

namespace cairn::frame {

// What is known of the frame that the chunks were in.
struct FrameTraits {
  int32_t typesize = 0;             // 0: not known
  std::vector<int32_t> blockshape;  // of an n-dimensional array
};

class ChunkDetector {
 public:
  // Bytes that Peek reads.
  static constexpr int64_t kPeek = chunk::kHeaderSize;

  ChunkDetector(const FrameContext& env, const FrameTraits& frame);

  // The header, if the first bytes of the `available` ones at hand could be that of a chunk with
  // data. Cheap and strict: almost any bytes would decode as a memcpyed chunk or a special value,
  // so every field has to be what an encoder writes.
  std::optional<chunk::Header> Peek(Bytes head, int64_t available) const;

  // Decodes all of a chunk, piece by piece. Costs memory for a few blocks.
  absl::Status TryDecoding(Bytes chunk);
  // What TryDecoding has decoded so far, bytes.
  int64_t decoded() const { return decoded_; }

  // Decodes the first bytes of a chunk, as many as dst has.
  absl::Status DecodeStart(Bytes chunk, MutableBytes dst) const;
  // Decodes at once. kResourceExhausted for more memory than the chunk justifies.
  absl::StatusOr<std::vector<std::byte>> Decode(Bytes chunk) const;

 private:
  bool KnowsFilters(const chunk::Header& header) const;
  absl::Status DecodePieces(const chunk::Decoder& decoder);

  const FrameContext& env_;
  const FrameTraits frame_;
  chunk::DecodeContext context_;
  ScratchBuffer scratch_;
  int64_t decoded_ = 0;
};

// kResourceExhausted for memory that a chunk of `cbytes` does not justify.
absl::Status CheckMemory(int64_t wanted, int64_t cbytes);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_CHUNK_DETECTOR_H_
