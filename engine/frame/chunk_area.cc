#include "engine/frame/chunk_area.h"

#include <algorithm>

#include "engine/base/status.h"

namespace cairn::frame {

absl::StatusOr<ChunkPlace> ContiguousArea::Locate(int64_t entry) const {
  const int64_t area = end_ - begin_;
  if (entry < 0 || entry > area - chunk::kBlosc1HeaderSize) {
    return DataLoss("index: offset %d lies outside the %d bytes of chunks", entry, area);
  }
  return ChunkPlace{.offset = begin_ + entry};
}

std::string ContiguousArea::Describe(int64_t entry) const {
  return absl::StrFormat("at byte %d", begin_ + entry);
}

absl::StatusOr<chunk::Header> ContiguousArea::ReadHeader(int64_t entry,
                                                         chunk::ScratchBuffer& scratch) const {
  CAIRN_ASSIGN_OR_RETURN(const ChunkPlace place, Locate(entry));
  const int64_t available = end_ - place.offset;
  const int64_t wanted =
      region_.in_place() ? available : std::min<int64_t>(available, chunk::kHeaderSize);
  CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, region_.Read(place.offset, wanted, scratch));
  return chunk::ParseHeader(bytes, available);
}

absl::StatusOr<Chunk> ContiguousArea::Read(int64_t entry, ReadMode mode,
                                           chunk::ScratchBuffer& scratch) const {
  if (mode == ReadMode::kCopied && region_.in_place()) {
    return ContiguousArea(region_.Unmapped(), begin_, end_).Pin(entry);
  }
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, ReadHeader(entry, scratch));
  CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, region_.Read(begin_ + entry, header.cbytes, scratch));
  return Chunk(bytes, nullptr);
}

absl::StatusOr<Chunk> ContiguousArea::Pin(int64_t entry) const {
  chunk::ScratchBuffer scratch;
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, ReadHeader(entry, scratch));
  return region_.Pin(begin_ + entry, header.cbytes);
}

}  // namespace cairn::frame
