// Writes staged chunks back to back into a frame's file, in large pieces.
#ifndef CAIRN_ENGINE_FRAME_STAGE_CONTIGUOUS_SINK_H_
#define CAIRN_ENGINE_FRAME_STAGE_CONTIGUOUS_SINK_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/file_system.h"
#include "engine/format/journal.h"
#include "engine/frame/files/frame_file.h"
#include "engine/frame/stage/chunk_sink.h"

namespace cairn::frame {

class ContiguousSink final : public ChunkSink {
 public:
  // Writes to `file`, which `source` reads, from `begin` on: after every committed byte. Entries of
  // the index count from `header_len`.
  ContiguousSink(File* file, FrameFile source, int64_t header_len, int64_t begin)
      : file_(file),
        source_(std::move(source)),
        header_len_(header_len),
        flushed_(begin),
        announced_(begin) {}

  absl::StatusOr<int64_t> Append(Bytes chunk) override;
  absl::Status Flush() override;
  absl::StatusOr<std::shared_ptr<const ChunkSource>> Source(const State& base) override;
  // The frame with all that was flushed.
  absl::StatusOr<FrameView> View(const State& base);
  // Puts the commit's record and its receipt after the chunks, and returns the checksum that ends
  // the record.
  absl::StatusOr<uint64_t> AppendRecord(const format::CommitRecordParts& commit,
                                        const format::Receipt& receipt);
  // Everything before this is in the file.
  int64_t flushed() const { return flushed_; }
  // The first free position.
  int64_t end() const { return flushed_ + static_cast<int64_t>(pending_.size()); }

 private:
  absl::Status Write(Bytes bytes);

  File* file_;
  FrameFile source_;
  int64_t header_len_;
  int64_t flushed_;
  int64_t announced_;  // bytes before this are on their way to the disk
  std::vector<std::byte> pending_;
  FrameView view_;  // the last one
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_CONTIGUOUS_SINK_H_
