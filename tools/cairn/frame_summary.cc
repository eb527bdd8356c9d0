#include "tools/cairn/frame_summary.h"

#include <utility>

namespace cairn::tool {

absl::StatusOr<FrameSummary> SummarizeFrame(const std::string& path, const Snapshot& snapshot) {
  FrameSummary summary = {.path = path,
                          .info = snapshot.info(),
                          .metalayers = snapshot.metalayers(),
                          .vlmetalayers = {}};
  for (std::string& name : snapshot.vlmetalayers()) {
    absl::StatusOr<std::vector<std::byte>> content = snapshot.GetVlmeta(name);
    if (!content.ok()) return content.status();
    summary.vlmetalayers.push_back({.name = std::move(name), .content = *std::move(content)});
  }
  return summary;
}

absl::StatusOr<ChunkSummary> SummarizeChunk(const Snapshot& snapshot, int64_t nchunk) {
  const absl::StatusOr<ChunkEntry> entry = snapshot.GetEntry(nchunk);
  if (!entry.ok()) return entry.status();
  const absl::StatusOr<Chunk> chunk = snapshot.GetChunk(nchunk);
  if (!chunk.ok()) return chunk.status();
  const absl::StatusOr<ChunkInfo> info = InspectChunk(chunk->bytes());
  if (!info.ok()) return info.status();
  const bool stored = entry->offset >= 0;
  return ChunkSummary{.index = nchunk,
                      .offset = entry->offset,
                      .nbytes = info->nbytes,
                      .cbytes = stored ? info->cbytes : 0,
                      .blocksize = info->blocksize,
                      .special = stored ? info->special : entry->special,
                      .fingerprint = entry->fingerprint};
}

}  // namespace cairn::tool
