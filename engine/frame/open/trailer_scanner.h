// Scans a file for trailers when its header is lost.
#ifndef CAIRN_ENGINE_FRAME_OPEN_TRAILER_SCANNER_H_
#define CAIRN_ENGINE_FRAME_OPEN_TRAILER_SCANNER_H_

#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/base/extent.h"
#include "engine/base/scan_budget.h"
#include "engine/format/seal.h"
#include "engine/format/trailer.h"
#include "engine/frame/files/frame_file.h"

namespace cairn::frame {

// A trailer that parses, of any library and wherever it is: in a chunk it is user data.
struct TrailerBytes {
  Extent place;
  Bytes bytes;
  const format::Trailer& parsed;
};

// Whether a trailer may begin with these bytes, kTrailerHead at least.
bool LooksLikeTrailer(Bytes head);
inline constexpr int64_t kTrailerHead = 4;

// Frames that are stored in frames are scanned too, down to about this depth.
inline constexpr int64_t kMaxTrailerOverlaps = 16;

// Visits trailers from the end of the file backwards, as far as the budget goes.
absl::Status ForEachTrailer(const FrameView& file, ScanBudget& budget,
                            absl::FunctionRef<void(const TrailerBytes&)> visit);

struct FoundTrailer {
  format::Seal seal;  // with the header that belongs to it
  int64_t end = 0;    // also of the frame
};

// The newest trailer of a frame at the start of the file whose fingerprint, header copy, position
// and index agree. Trailers of frames that are user data in the file are not at their position.
// Memory: as much as the longest trailer and index take. kDataLoss when there is none.
absl::StatusOr<FoundTrailer> FindNewestTrailer(const FrameFile& source);

// The same of those after which one of these journals begins, and which were written at once: no
// commit of that journal was made before a header led there.
using JournalBases = absl::flat_hash_set<uint64_t>;
absl::StatusOr<FoundTrailer> FindNewestTrailer(const FrameFile& source, const JournalBases& bases);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_OPEN_TRAILER_SCANNER_H_
