// The vlmetalayer that says which records of a log's frame were deleted. Only frames with such
// records have it, and the newest frames of logs with such records in older frames.
//
//   magic "CLGE" | version u32 | changes of older files i64 | number of ranges varint | for each:
//   begin minus the end of the range before it, or its number, varint | records varint
#ifndef CAIRN_ENGINE_LOG_STATE_EDIT_LAYER_H_
#define CAIRN_ENGINE_LOG_STATE_EDIT_LAYER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/log.h"
#include "cairn/types.h"

namespace cairn::log {

inline constexpr std::string_view kEditLayer = "cairn.log.edits";
// A frame has at most this many ranges. Each commit of the frame compares the whole layer.
inline constexpr int64_t kMaxDeletedRanges = 1'000'000;

struct EditLayer {
  // Increases by one when the writer begins to delete records of files before this one, and by one
  // when it has finished. So it is odd in between, and stays odd if the writer dies there.
  // Increases by two when records of `deleted` have moved to older files. The next file continues
  // the number, so that a reader which compares it misses no change.
  int64_t older_files = 0;
  // The deleted records; see record_ranges.h. In the newest file, also those of older files that
  // are not overwritten there yet. The next file takes these over.
  std::vector<RecordRange> deleted = {};
  bool operator==(const EditLayer&) const = default;
};

// Parses the layer. Errors: kDataLoss if it is damaged; kUnimplemented if a newer Cairn wrote it.
absl::StatusOr<EditLayer> ParseEditLayer(Bytes content);
std::vector<std::byte> EncodeEditLayer(const EditLayer& layer);

}  // namespace cairn::log

#endif  // CAIRN_ENGINE_LOG_STATE_EDIT_LAYER_H_
