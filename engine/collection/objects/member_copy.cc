#include "engine/collection/objects/member_copy.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cairn/chunk.h"
#include "engine/base/status.h"

namespace cairn::collection {

namespace {

// Pending items are not stored, and chunks that repeat a value have one of their own only if they
// are compressed as such.
absl::Status CopyChunk(const Snapshot& from, int64_t nchunk, Writer& to) {
  CAIRN_ASSIGN_OR_RETURN(const Chunk chunk, from.GetChunk(nchunk));
  CAIRN_ASSIGN_OR_RETURN(const ChunkInfo info, InspectChunk(chunk.bytes()));
  const absl::StatusOr<ChunkEntry> entry = from.GetEntry(nchunk);
  if (entry.ok() && entry->stored()) return to.AppendCompressed(chunk.bytes());
  const bool repeats = info.special != SpecialValue::kNone && info.special != SpecialValue::kRepeat;
  const int32_t typesize = from.info().typesize;
  if (repeats && info.nbytes % typesize == 0) {
    return to.AppendSpecial(info.special, info.nbytes / typesize);
  }
  std::vector<std::byte> items(static_cast<size_t>(info.nbytes));
  CAIRN_RETURN_IF_ERROR(from.ReadChunk(nchunk, MutableBytes(items)));
  return to.Append(Bytes(items));
}

}  // namespace

absl::Status CopyContent(const Snapshot& from, Writer& to) {
  for (const std::string& name : from.vlmetalayers()) {
    CAIRN_ASSIGN_OR_RETURN(const std::vector<std::byte> content, from.GetVlmetalayer(name));
    CAIRN_RETURN_IF_ERROR(to.SetVlmetalayer(name, content));
  }
  for (int64_t nchunk = 0; nchunk < from.info().nchunks; ++nchunk) {
    CAIRN_RETURN_IF_ERROR(CopyChunk(from, nchunk, to));
  }
  return absl::OkStatus();
}

}  // namespace cairn::collection
