// Recognises an offsets index among the chunks that were found.
#ifndef CAIRN_ENGINE_FRAME_REPAIR_INDEX_DETECTOR_H_
#define CAIRN_ENGINE_FRAME_REPAIR_INDEX_DETECTOR_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/frame/repair/buffered_file.h"
#include "engine/frame/repair/chunk_detector.h"
#include "engine/frame/repair/chunk_scanner.h"
#include "engine/frame/repair/trailer_scanner.h"

namespace cairn::frame {

class IndexDetector {
 public:
  // `chunks` is what was found, in order; offsets count from `origin`, where it is known.
  IndexDetector(BufferedFile& file, const ChunkDetector& detector,
                std::span<const FoundChunk> chunks, std::optional<int64_t> origin)
      : file_(file),
        detector_(detector),
        chunks_(chunks),
        origin_(origin),
        budget_(std::max(file.size(), kFewBytes), kMaxDecoded) {}

  // An index is followed by a trailer, or holds the offsets of other chunks.
  absl::StatusOr<bool> IsIndex(size_t number);

 private:
  // What possible indexes may decode to together, in multiples of the size of the file. Only a
  // hostile file has more: the rest is not taken for indexes.
  static constexpr int64_t kMaxDecoded = 256;
  static constexpr int64_t kFewBytes = 1 << 20;

  bool HoldsOffsets(Bytes chunk, size_t number);
  bool Leads(std::span<const int64_t> offsets, size_t number) const;
  int64_t CountHits(int64_t origin, std::span<const int64_t> offsets, size_t number) const;

  BufferedFile& file_;
  const ChunkDetector& detector_;
  std::span<const FoundChunk> chunks_;
  std::optional<int64_t> origin_;
  ScanBudget budget_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_INDEX_DETECTOR_H_
