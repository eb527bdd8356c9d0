// Reads the chunks of a snapshot that shows staged edits.
#ifndef CAIRN_ENGINE_FRAME_STATE_STAGED_SOURCE_H_
#define CAIRN_ENGINE_FRAME_STATE_STAGED_SOURCE_H_

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/base/owner_process.h"
#include "engine/base/status.h"
#include "engine/frame/state/chunk_source.h"

namespace cairn::frame {

// Reads as `source` does, in the process of the writer. Only that process keeps staged bytes, so a
// forked child gets kFailedPrecondition, because the bytes may have been overwritten by now.
class StagedSource final : public ChunkSource {
 public:
  explicit StagedSource(std::shared_ptr<const ChunkSource> source)
      : ChunkSource(source->read_ahead()), source_(std::move(source)) {}

  absl::StatusOr<ChunkLocation> Locate(int64_t entry) const override {
    return source_->Locate(entry);
  }
  std::string Describe(int64_t entry) const override { return source_->Describe(entry); }
  int64_t end() const override { return source_->end(); }
  absl::StatusOr<chunk::Header> ReadHeader(int64_t entry, ScratchBuffer& scratch) const override {
    CAIRN_RETURN_IF_ERROR(CheckIsHere());
    return source_->ReadHeader(entry, scratch);
  }
  absl::StatusOr<StoredChunk> Read(int64_t entry, ReadMode mode, ScratchBuffer& scratch,
                                   const chunk::Header* header) const override {
    CAIRN_RETURN_IF_ERROR(CheckIsHere());
    return source_->Read(entry, mode, scratch, header);
  }
  absl::StatusOr<StoredChunk> ReadBlocks(int64_t entry, std::span<const ByteRange> needed,
                                         ScratchBuffer& scratch) const override {
    CAIRN_RETURN_IF_ERROR(CheckIsHere());
    return source_->ReadBlocks(entry, needed, scratch);
  }
  void WillRead(std::span<const ChunkHint> chunks) const override { source_->WillRead(chunks); }

 private:
  absl::Status CheckIsHere() const {
    if (owner_.is_here()) return absl::OkStatus();
    return FailedPrecondition("staged edits belong to the process that this one was forked from");
  }

  const std::shared_ptr<const ChunkSource> source_;
  const OwnerProcess owner_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STATE_STAGED_SOURCE_H_
