// Turns edits into chunks in the file and entries in a draft. Nothing here is visible to anybody
// before a commit.
#ifndef CAIRN_ENGINE_FRAME_STAGER_H_
#define CAIRN_ENGINE_FRAME_STAGER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "engine/chunk/encoder.h"
#include "engine/frame/chunk_log.h"
#include "engine/frame/draft.h"
#include "engine/frame/foreign_chunk.h"
#include "engine/frame/frame_source.h"

namespace cairn::frame {

// What new chunks are made with.
struct StagerOptions {
  CompressionOptions compression;  // its typesize is the frame's
  int32_t chunksize = 0;           // where the frame does not say
};

// Not thread-safe. Refused arguments change nothing; any other failure leaves the draft half edited
// and is remembered in failure().
class Stager {
 public:
  // Chunks are written to `file` from `begin` on, and read back through `source`.
  Stager(std::shared_ptr<const State> base, File* file, FrameSource source, int64_t begin,
         StagerOptions options);

  absl::Status Append(Bytes items);
  absl::Status AppendChunk(Bytes chunk);
  absl::Status AppendSpecial(SpecialValue special, int64_t nitems, Bytes value);
  absl::Status SetMetalayer(std::string_view name, Bytes content);
  absl::Status SetVlmeta(std::string_view name, Bytes content);
  absl::Status DeleteVlmeta(std::string_view name);

  // Makes a chunk of what waits in the tail and brings everything to the file.
  absl::Status Finish();
  // The base with the edits on top, for reading.
  absl::StatusOr<std::shared_ptr<const State>> View();

  const Draft& draft() const { return draft_; }
  // The first position behind everything staged.
  int64_t end() const { return log_.end(); }
  const absl::Status& failure() const { return failure_; }

 private:
  bool fixed_chunks() const { return !draft_.header.variable_chunks(); }
  absl::Status Remember(absl::Status status);
  absl::StatusOr<const chunk::Encoder*> GetEncoder();
  absl::Status CheckRoom(int64_t nbytes) const;
  void FixChunksize(int32_t chunksize);
  absl::Status ReopenShortChunk();

  absl::Status StageItems(Bytes items);
  absl::Status StageFixed(Bytes items);
  absl::Status EncodeChunk(Bytes items);
  absl::Status StageChunk(Bytes chunk, int64_t nbytes);
  absl::StatusOr<ForeignChunk> PrepareForeign(Bytes chunk, const chunk::Header& header) const;
  absl::Status StageForeign(const ForeignChunk& foreign);
  absl::Status StageSpecial(SpecialValue special, int64_t nbytes, Bytes value);
  absl::Status StageAsItems(SpecialValue special, int64_t nbytes, Bytes value);
  absl::Status StageOneSpecial(SpecialValue special, int64_t nbytes, Bytes value);

  std::shared_ptr<const State> base_;
  FrameSource source_;
  StagerOptions options_;
  Draft draft_;
  ChunkLog log_;
  std::optional<chunk::Encoder> encoder_;  // made at the first chunk
  chunk::ScratchBuffer encoded_;
  absl::Status failure_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGER_H_
