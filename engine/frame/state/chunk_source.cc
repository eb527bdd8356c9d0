#include "engine/frame/state/chunk_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/prefetch.h"
#include "engine/base/status.h"
#include "engine/frame/state/picked_read.h"
#include "engine/storage/read_ahead.h"

namespace cairn::frame {

absl::StatusOr<ChunkLocation> ContiguousChunkSource::Locate(int64_t entry) const {
  const int64_t area = end_ - begin_;
  if (entry < 0 || entry > area - chunk::kBlosc1HeaderSize) {
    return DataLoss("index: offset %d lies outside the %d bytes of chunks", entry, area);
  }
  return ChunkLocation{.offset = begin_ + entry};
}

std::string ContiguousChunkSource::Describe(int64_t entry) const {
  return absl::StrFormat("at byte %d", begin_ + entry);
}

absl::StatusOr<chunk::Header> ContiguousChunkSource::ReadHeader(int64_t entry,
                                                                ScratchBuffer& scratch) const {
  CAIRN_ASSIGN_OR_RETURN(const ChunkLocation place, Locate(entry));
  const int64_t available = end_ - *place.offset;
  const int64_t wanted =
      region_.in_place() ? available : std::min<int64_t>(available, chunk::kHeaderSize);
  CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, region_.Read(*place.offset, wanted, scratch));
  return chunk::ParseHeader(bytes, available);
}

absl::StatusOr<StoredChunk> ContiguousChunkSource::Read(int64_t entry, ReadMode mode,
                                                        ScratchBuffer& scratch,
                                                        const chunk::Header* header) const {
  if (mode == ReadMode::kCopied && region_.in_place()) {
    return ContiguousChunkSource(region_.Unmapped(), begin_, end_)
        .Read(entry, ReadMode::kPinned, scratch, nullptr);
  }
  if (header == nullptr) {
    const absl::StatusOr<chunk::Header> found = ReadHeader(entry, scratch);
    return found.ok() ? Read(entry, mode, scratch, &*found) : found.status();
  }
  if (mode != ReadMode::kMapped) {
    CAIRN_ASSIGN_OR_RETURN(Chunk chunk, region_.Pin(begin_ + entry, header->cbytes));
    return StoredChunk{*header, std::move(chunk)};
  }
  const absl::StatusOr<Bytes> bytes = region_.Read(begin_ + entry, header->cbytes, scratch);
  if (!bytes.ok()) return bytes.status();
  Prefetch(*bytes);
  return StoredChunk{*header, Chunk(*bytes, nullptr)};
}

absl::StatusOr<StoredChunk> ContiguousChunkSource::ReadBlocks(int64_t entry,
                                                              std::span<const ByteRange> needed,
                                                              ScratchBuffer& scratch) const {
  if (region_.in_place() || read_ahead() > 0) {
    return Read(entry, ReadMode::kPinned, scratch, nullptr);
  }
  CAIRN_ASSIGN_OR_RETURN(const ChunkLocation place, Locate(entry));
  const int64_t begin = *place.offset;
  const auto read = [&](int64_t offset, MutableBytes dst) {
    return region_.ReadInto(begin + offset, dst);
  };
  CAIRN_ASSIGN_OR_RETURN(Chunk chunk, ReadPicked(end_ - begin, needed, read));
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, chunk::ParseHeader(chunk.bytes()));
  return StoredChunk{header, std::move(chunk)};
}

void ContiguousChunkSource::WillRead(std::span<const ChunkHint> chunks) const {
  std::vector<FileRange> ranges;
  for (const auto& [entry, size] : chunks) {
    if (!Locate(entry).ok()) continue;
    const FileRange range = {begin_ + entry, std::min(size, end_ - begin_ - entry)};
    if (!region_.in_place()) {
      ranges.push_back(range);
    } else if (range.size >= storage::kLeastReadAhead) {
      ScratchBuffer unused;
      const absl::StatusOr<Bytes> bytes = region_.Read(range.offset, range.size, unused);
      if (bytes.ok()) storage::ReadAhead(*bytes);
    }
  }
  if (!ranges.empty()) region_.WillRead(ranges);
}

}  // namespace cairn::frame
