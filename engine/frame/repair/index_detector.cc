#include "engine/frame/repair/index_detector.h"

#include <algorithm>
#include <utility>

#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/format/frame_header.h"
#include "engine/format/index_entry.h"

namespace cairn::frame {

namespace {

constexpr int64_t kEntrySize = format::kIndexTypesize;

int64_t EntryAt(Bytes entries, size_t number) {
  return static_cast<int64_t>(LoadLe<uint64_t>(entries.data() + number * kEntrySize));
}

bool MayBeEntry(int64_t entry, int64_t file_size) {
  return format::IsSpecialEntry(entry) ? format::SpecialOfEntry(entry).ok() : entry < file_size;
}

// The offsets among the entries in ascending order; nothing if they cannot be those of chunks.
std::optional<std::vector<int64_t>> OffsetsOf(Bytes entries, int64_t file_size) {
  const int64_t most = file_size / chunk::kHeaderSize;
  std::vector<int64_t> offsets;
  for (size_t i = 0; i < entries.size() / kEntrySize; ++i) {
    const int64_t entry = EntryAt(entries, i);
    if (!MayBeEntry(entry, file_size) || std::ssize(offsets) > most) return std::nullopt;
    if (!format::IsSpecialEntry(entry)) offsets.push_back(entry);
  }
  std::ranges::sort(offsets);
  const auto too_close = [](int64_t a, int64_t b) { return b - a < chunk::kHeaderSize; };
  if (std::ranges::adjacent_find(offsets, too_close) != offsets.end()) return std::nullopt;
  return offsets;
}

}  // namespace

// How many of the offsets lead to chunks that were found.
int64_t IndexDetector::CountHits(int64_t origin, std::span<const int64_t> offsets,
                                 size_t number) const {
  if (origin < format::kFixedHeaderSize) return 0;
  const auto before = chunks_.first(number);
  return std::ranges::count_if(offsets, [&](int64_t offset) {
    return std::ranges::binary_search(before, offset + origin, {}, &FoundChunk::begin);
  });
}

// Whether at least half of the offsets lead to chunks. Their origin is not known without the
// frame's header, but one of them is that of the first chunk, or of the last before the index.
bool IndexDetector::Leads(std::span<const int64_t> offsets, size_t number) const {
  if (offsets.empty()) return true;
  if (number == 0) return false;
  const int64_t half = (std::ssize(offsets) + 1) / 2;
  if (origin_.has_value()) return CountHits(*origin_, offsets, number) >= half;
  // A single one would always lead somewhere.
  if (offsets.size() == 1) return number == 1 && offsets[0] == 0;
  const int64_t from_first = chunks_[0].begin - offsets.front();
  const int64_t from_last = chunks_[number - 1].begin - offsets.back();
  const int64_t hits =
      std::max(CountHits(from_first, offsets, number), CountHits(from_last, offsets, number));
  return hits >= std::max<int64_t>(half, 2);
}

bool IndexDetector::HoldsOffsets(Bytes chunk, size_t number) {
  std::byte first[kEntrySize];
  if (!detector_.DecodeStart(chunk, first).ok() || !MayBeEntry(EntryAt(first, 0), file_.size())) {
    return false;
  }
  if (!budget_.Spend(chunks_[number].header.nbytes)) return false;
  const absl::StatusOr<std::vector<std::byte>> entries = detector_.Decode(chunk);
  if (!entries.ok()) return false;
  const auto offsets = OffsetsOf(*entries, file_.size());
  return offsets.has_value() && Leads(*offsets, number);
}

absl::StatusOr<bool> IndexDetector::IsIndex(size_t number) {
  const FoundChunk& chunk = chunks_[number];
  const chunk::Header& header = chunk.header;
  if (header.typesize != kEntrySize || header.nbytes % kEntrySize != 0 || header.vlblocks) {
    return false;
  }
  // The trailer lies between the index and the next chunk.
  const size_t next = number + 1;
  if (next < chunks_.size() && chunks_[next].begin == chunk.end()) return false;
  CAIRN_ASSIGN_OR_RETURN(const Bytes after, file_.ReadUpTo(chunk.end(), kTrailerHead));
  if (std::ssize(after) == kTrailerHead && LooksLikeTrailer(after)) return true;
  CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, file_.Read(chunk.begin, header.cbytes));
  return HoldsOffsets(bytes, number);
}

}  // namespace cairn::frame
