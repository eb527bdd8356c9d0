// Writes a new frame of the chunks that a scan found.
#ifndef CAIRN_ENGINE_FRAME_REPAIR_SALVAGE_WRITER_H_
#define CAIRN_ENGINE_FRAME_REPAIR_SALVAGE_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/options.h"
#include "cairn/recover.h"
#include "cairn/snapshot.h"
#include "cairn/writer.h"
#include "engine/format/frame_header.h"
#include "engine/frame/repair/buffered_file.h"
#include "engine/frame/repair/chunk_detector.h"
#include "engine/frame/repair/chunk_scanner.h"

namespace cairn::frame {

class SalvageWriter {
 public:
  // What all chunks of a frame have in common.
  struct Kind {
    int32_t typesize = 0;  // as in their headers
    bool vlblocks = false;
    auto operator<=>(const Kind&) const = default;
  };

  SalvageWriter(BufferedFile& file, const ChunkDetector& detector, const FrameContext& env)
      : file_(file), detector_(detector), env_(env) {}

  // Takes what fits into one frame: chunks of one typesize, all with variable blocks or none, that
  // need no more memory than their size justifies. Reports the rest as lost.
  void Choose(ScanResult found, const std::optional<format::FrameHeader>& header);

  bool empty() const { return chunks_.empty() && pending_.empty(); }
  std::vector<LostBytes>& lost() { return lost_; }

  // Chunks are of one size if all but the last are; else they vary. kCancelled when `progress`,
  // which gets where the next chunk begins, says stop.
  absl::StatusOr<FrameInfo> Write(const std::string& path, FileSystem* files,
                                  absl::FunctionRef<bool(int64_t)> progress);

 private:
  std::string Misfit(const chunk::Header& header, const Kind& kind) const;
  bool NeedsDecoding(const chunk::Header& header) const;
  void SetCompression(const std::optional<format::FrameHeader>& header);
  bool CanEncode(const CompressionOptions& compression) const;
  int32_t Chunksize() const;
  absl::Status Append(const FoundChunk& chunk, Writer& writer);

  BufferedFile& file_;
  const ChunkDetector& detector_;
  const FrameContext& env_;
  std::vector<FoundChunk> chunks_;
  std::vector<std::byte> pending_;
  std::vector<LostBytes> lost_;
  CompressionOptions compression_;
  bool complete_items_ = true;  // no chunk ends within an item
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_SALVAGE_WRITER_H_
