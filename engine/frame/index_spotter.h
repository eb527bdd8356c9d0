// Tells an index from the data in which it was found.
#ifndef CAIRN_ENGINE_FRAME_INDEX_SPOTTER_H_
#define CAIRN_ENGINE_FRAME_INDEX_SPOTTER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/frame/chunk_probe.h"
#include "engine/frame/chunk_scan.h"
#include "engine/frame/file_window.h"

namespace cairn::frame {

class IndexSpotter {
 public:
  // `chunks` is what was found, in order; offsets count from `origin`, where it is known.
  IndexSpotter(FileWindow& window, const ChunkProbe& probe, std::span<const FoundChunk> chunks,
               std::optional<int64_t> origin)
      : window_(window), probe_(probe), chunks_(chunks), origin_(origin) {}

  // An index says so by what follows, a trailer, or by what it holds: the places of other chunks.
  absl::StatusOr<bool> IsIndex(size_t number);

 private:
  bool HoldsPlaces(Bytes chunk, size_t number) const;
  bool Leads(std::span<const int64_t> offsets, size_t number) const;
  int64_t CountHits(int64_t origin, std::span<const int64_t> offsets, size_t number) const;

  FileWindow& window_;
  const ChunkProbe& probe_;
  std::span<const FoundChunk> chunks_;
  std::optional<int64_t> origin_;
};

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_INDEX_SPOTTER_H_
