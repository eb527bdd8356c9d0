// Scans a file for trailers if its header is lost.
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

// A trailer that parses, of any library and wherever it is. In a chunk it is user data.
struct TrailerBytes {
  Extent place;
  Bytes bytes;
  const format::Trailer& parsed;
};

// Returns true if a trailer may begin with these bytes, of which there are kTrailerHead at least.
bool LooksLikeTrailer(Bytes head);
inline constexpr int64_t kTrailerHead = 4;

// Frames that are stored in frames are scanned too, down to about this depth.
inline constexpr int64_t kMaxTrailerOverlaps = 16;

// Visits trailers from the end of the file backwards, until the budget is spent.
absl::Status ForEachTrailer(const FrameView& file, ScanBudget& budget,
                            absl::FunctionRef<void(const TrailerBytes&)> visit);

struct FoundTrailer {
  format::Seal seal;  // has the header that belongs to it
  int64_t end = 0;    // end of the trailer and of the frame
};

// Finds the newest trailer of a frame at the start of the file whose fingerprint, header copy,
// position and index agree. Trailers of frames that are user data in the file are not at their
// position. Takes as much memory as the longest trailer and index. Errors: kDataLoss if there is
// none.
absl::StatusOr<FoundTrailer> FindNewestTrailer(const FrameFile& source);

// Finds the newest trailer after which one of these journals begins, and which was written at once:
// no commit of that journal was made before a header led there.
using JournalBases = absl::flat_hash_set<uint64_t>;
absl::StatusOr<FoundTrailer> FindNewestTrailer(const FrameFile& source, const JournalBases& bases);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_OPEN_TRAILER_SCANNER_H_
