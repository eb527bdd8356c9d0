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

// What a chunk of another program becomes, one of three: a special value of the index, bytes to be
// stored, or items to be coded again.
struct ImportedChunk {
  int64_t nbytes = 0;  // decoded
  SpecialValue special = SpecialValue::kNone;
  std::vector<std::byte> stored;
  std::vector<std::byte> items;
};

// Not thread-safe.
class ChunkWriter {
 public:
  // For a frame of the compression's typesize. The index of one of fixed chunks may hold special
  // values.
  ChunkWriter(CompressionOptions compression, bool fixed_chunks,
              std::shared_ptr<const FrameContext> env, ChunkSink& sink)
      : compression_(std::move(compression)),
        fixed_chunks_(fixed_chunks),
        env_(std::move(env)),
        sink_(sink) {}

  // Whether the options can make a chunk.
  absl::Status CheckOptions() { return GetEncoder().status(); }

  absl::StatusOr<format::IndexedChunk> FromItems(Bytes items);
  // With zeros after the items, up to so many bytes. Blocks of zeros alone take next to nothing,
  // whatever the options say.
  absl::StatusOr<format::IndexedChunk> FromPadded(Bytes items, int32_t padded_to);
  // Decides by what every reader of frames takes: chunks of version 5 and 6 with 32-byte headers,
  // special values in the index alone. `header` is the chunk's, parsed. Stores nothing.
  absl::StatusOr<ImportedChunk> Import(Bytes chunk, const chunk::Header& header) const;
  absl::StatusOr<format::IndexedChunk> FromImported(const ImportedChunk& imported);
  // A chunk of nbytes of one value; `value` is one item and given with kRepeat only.
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
