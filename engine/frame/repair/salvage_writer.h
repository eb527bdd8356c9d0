// Makes a frame of what was found without one.
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
  SalvageWriter(BufferedFile& window, const ChunkDetector& probe, const FrameContext& env)
      : window_(window), probe_(probe), env_(env) {}

  // Takes what can stand in one frame: chunks of one typesize, all with variable blocks or none,
  // that need no more memory than they justify. The rest is lost.
  void Choose(ScanResult found, const std::optional<format::FrameHeader>& header);

  bool empty() const { return chunks_.empty() && tail_.empty(); }
  std::vector<LostBytes>& lost() { return lost_; }

  // Chunks are of one size if all but the last are; else they vary. kCancelled when `progress`,
  // which gets where the next chunk begins, says stop.
  absl::StatusOr<FrameInfo> Write(const std::string& path, FileSystem* files,
                                  absl::FunctionRef<bool(int64_t)> progress);

 private:
  bool NeedsDecoding(const chunk::Header& header) const;
  void SetCompression(const std::optional<format::FrameHeader>& header);
  bool CanEncode(const CompressionOptions& compression) const;
  int32_t Chunksize() const;
  absl::Status Append(const FoundChunk& chunk, Writer& writer);

  BufferedFile& window_;
  const ChunkDetector& probe_;
  const FrameContext& env_;
  std::vector<FoundChunk> chunks_;
  std::vector<std::byte> tail_;
  std::vector<LostBytes> lost_;
  CompressionOptions compression_;
  bool whole_items_ = true;  // no chunk ends within an item
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_SALVAGE_WRITER_H_
