// Tells an index from the data in which it was found.
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
  IndexDetector(BufferedFile& window, const ChunkDetector& probe,
                std::span<const FoundChunk> chunks, std::optional<int64_t> origin)
      : window_(window),
        probe_(probe),
        chunks_(chunks),
        origin_(origin),
        budget_(std::max(window.size(), kFewBytes), kMaxDecoded) {}

  // An index says so by what follows, a trailer, or by what it holds: the places of other chunks.
  absl::StatusOr<bool> IsIndex(size_t number);

 private:
  // What chunks that may be indexes may decode to together: so many times the size of the file. Of
  // the rest, which only a hostile file has, none is taken for one.
  static constexpr int64_t kMaxDecoded = 256;
  static constexpr int64_t kFewBytes = 1 << 20;

  bool HoldsPlaces(Bytes chunk, size_t number);
  bool Leads(std::span<const int64_t> offsets, size_t number) const;
  int64_t CountHits(int64_t origin, std::span<const int64_t> offsets, size_t number) const;

  BufferedFile& window_;
  const ChunkDetector& probe_;
  std::span<const FoundChunk> chunks_;
  std::optional<int64_t> origin_;
  ScanBudget budget_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_REPAIR_INDEX_DETECTOR_H_
