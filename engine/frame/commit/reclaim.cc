#include "engine/frame/commit/reclaim.h"

#include <algorithm>

#include "engine/base/page_size.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"

namespace cairn::frame {

absl::StatusOr<std::vector<Extent>> DeadExtents(const State& checkpoint) {
  const int64_t header_len = checkpoint.header().header_len;
  const Extent trailer = checkpoint.checkpoint->trailer;
  const Extent last = checkpoint.index().size() > 0 ? checkpoint.index() : trailer;
  std::vector<Extent> live = {{0, header_len}, {last.begin, trailer.end}};
  ScratchBuffer scratch;
  CAIRN_RETURN_IF_ERROR(checkpoint.chunks.ForEach([&](const IndexEntry& entry) -> absl::Status {
    if (format::IsSpecialEntry(entry.value)) return absl::OkStatus();
    CAIRN_ASSIGN_OR_RETURN(const chunk::Header header,
                           checkpoint.chunk_source->ReadHeader(entry.value, scratch));
    const int64_t begin = header_len + entry.value;
    live.push_back({begin, begin + header.cbytes});
    return absl::OkStatus();
  }));
  std::ranges::sort(live, {}, &Extent::begin);
  std::vector<Extent> dead;
  int64_t end = 0;
  for (const Extent& extent : live) {
    if (extent.begin > end) dead.push_back({end, extent.begin});
    end = std::max(end, extent.end);
  }
  return dead;
}

absl::StatusOr<int64_t> PunchHoles(File& file, const std::vector<Extent>& extents) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t before, file.AllocatedSize());
  for (const Extent& extent : extents) {
    const int64_t begin = (extent.begin + kPageSize - 1) / kPageSize * kPageSize;
    const int64_t end = extent.end / kPageSize * kPageSize;
    if (begin < end) CAIRN_RETURN_IF_ERROR(file.PunchHole(begin, end - begin));
  }
  CAIRN_ASSIGN_OR_RETURN(const int64_t after, file.AllocatedSize());
  return std::max<int64_t>(before - after, 0);
}

}  // namespace cairn::frame
