// Makes the chunks of a frame and stores them.
#ifndef CAIRN_ENGINE_FRAME_STAGE_CHUNK_WRITER_H_
#define CAIRN_ENGINE_FRAME_STAGE_CHUNK_WRITER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "engine/chunk/encoder.h"
#include "engine/chunk/header.h"
#include "engine/frame/stage/chunk_sink.h"
#include "engine/frame/stage/staged_state.h"
#include "engine/frame/state/frame_context.h"

namespace cairn::frame {

// A chunk of another program as the frame will hold it. One of three fields is set: a special value
// of the index, bytes to be stored, or items to be recompressed.
struct ImportedChunk {
  int64_t nbytes = 0;  // decoded
  SpecialValue special = SpecialValue::kNone;
  std::vector<std::byte> stored;
  std::vector<std::byte> items;
};

// Compresses chunks and puts them into a sink. Not thread-safe.
class ChunkWriter {
 public:
  // Writes chunks of a frame with the compression's typesize. With `fixed_chunks`, the index of the
  // frame may hold special values.
  ChunkWriter(CompressionOptions compression, bool fixed_chunks,
              std::shared_ptr<const FrameContext> env, ChunkSink& sink)
      : compression_(std::move(compression)),
        fixed_chunks_(fixed_chunks),
        env_(std::move(env)),
        sink_(sink) {
    compression_.before_filters = nullptr;  // no reader of the frame would undo it
  }

  void set_fixed_chunks(bool fixed_chunks) { fixed_chunks_ = fixed_chunks; }

  // Fails if the options cannot make a chunk.
  absl::Status CheckOptions() { return GetEncoder().status(); }

  absl::StatusOr<format::IndexedChunk> FromItems(Bytes items);
  // Makes a chunk of the items and zeros after them, `padded_to` bytes in all. A block that has
  // only zeros takes a few bytes, whatever the options say.
  absl::StatusOr<format::IndexedChunk> FromPadded(Bytes items, int32_t padded_to);
  // Decides what the chunk becomes, without storing it, so that every reader of frames takes it:
  // stored chunks have version 5 or 6 and 32-byte headers, and hold no special values except a
  // repeated item of the frame's typesize. `header` is the parsed header of the chunk. Errors:
  // kInvalidArgument if the chunk is instrumented, or has NaNs whose size is not 4 or 8.
  absl::StatusOr<ImportedChunk> Import(Bytes chunk, const chunk::Header& header) const;
  absl::StatusOr<format::IndexedChunk> FromImported(const ImportedChunk& imported);
  // Makes a chunk that has `nbytes` of one value. `value` is one item, and is given with kRepeat
  // only.
  absl::StatusOr<format::IndexedChunk> FromSpecial(SpecialValue special, int64_t nbytes,
                                                   Bytes value);

 private:
  absl::StatusOr<const chunk::Encoder*> GetEncoder();
  absl::StatusOr<format::IndexedChunk> FromItems(Bytes items, const chunk::Encoder& encoder);
  absl::StatusOr<std::vector<std::byte>> Decode(Bytes chunk) const;
  absl::StatusOr<format::IndexedChunk> Store(Bytes chunk, int64_t nbytes);

  CompressionOptions compression_;
  bool fixed_chunks_;
  std::shared_ptr<const FrameContext> env_;
  ChunkSink& sink_;
  std::optional<chunk::Encoder> encoder_;  // made at the first chunk
  ScratchBuffer encoded_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_CHUNK_WRITER_H_
