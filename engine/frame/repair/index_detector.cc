// Recognises offsets indexes among the chunks that were found.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/endian.h"
#include "engine/base/status.h"
#include "engine/format/frame_header.h"
#include "engine/format/index_entry.h"
#include "engine/frame/open/trailer_scanner.h"
#include "engine/frame/repair/chunk_scanner.h"

namespace cairn::frame {

namespace {

constexpr int64_t kEntrySize = format::kIndexTypesize;

int64_t EntryAt(Bytes entries, size_t number) {
  return static_cast<int64_t>(LoadLe<uint64_t>(entries.data() + number * kEntrySize));
}

bool MayBeEntry(int64_t entry, int64_t file_size) {
  return format::IsSpecialEntry(entry) ? format::SpecialOfEntry(entry).ok() : entry < file_size;
}

// Returns the offsets among the entries in ascending order, or nothing if they cannot be those of
// chunks.
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

class IndexDetector {
 public:
  // `chunks` are the found ones, in order. Offsets count from `origin`, if it is known.
  IndexDetector(const FrameView& file, const ChunkDetector& detector,
                std::span<const FoundChunk> chunks, std::optional<int64_t> origin)
      : file_(file),
        detector_(detector),
        chunks_(chunks),
        origin_(origin),
        budget_(std::max(file.size(), kFewBytes), kMaxDecoded) {}

  // An index is followed by a trailer, or holds the offsets of other chunks.
  absl::StatusOr<bool> IsIndex(size_t number);

 private:
  // The most that possible indexes may decode to together, in multiples of the size of the file.
  // Only a hostile file has more, and the rest is then not taken for indexes.
  static constexpr int64_t kMaxDecoded = 256;
  static constexpr int64_t kFewBytes = 1 << 20;

  bool HoldsOffsets(Bytes chunk, size_t number);
  bool Leads(std::span<const int64_t> offsets, size_t number) const;
  int64_t CountHits(int64_t origin, std::span<const int64_t> offsets, size_t number) const;

  const FrameView& file_;
  const ChunkDetector& detector_;
  std::span<const FoundChunk> chunks_;
  std::optional<int64_t> origin_;
  ScanBudget budget_;
  ScratchBuffer scratch_;
};

// Returns how many of the offsets lead to found chunks.
int64_t IndexDetector::CountHits(int64_t origin, std::span<const int64_t> offsets,
                                 size_t number) const {
  if (origin < format::kFixedHeaderSize) return 0;
  const auto before = chunks_.first(number);
  return std::ranges::count_if(offsets, [&](int64_t offset) {
    return std::ranges::binary_search(before, offset + origin, {}, &FoundChunk::begin);
  });
}

// Returns true if at least half of the offsets lead to chunks. Their origin is not known without
// the frame's header, but one of them is that of the first chunk, or of the last before the index.
bool IndexDetector::Leads(std::span<const int64_t> offsets, size_t number) const {
  if (offsets.empty()) return true;
  if (number == 0) return false;
  const int64_t half = (std::ssize(offsets) + 1) / 2;
  if (origin_.has_value()) return CountHits(*origin_, offsets, number) >= half;
  // A single offset would always lead somewhere.
  if (offsets.size() == 1) return number == 1 && offsets[0] == 0;
  const int64_t from_first = chunks_[0].begin - offsets.front();
  const int64_t from_last = chunks_[number - 1].begin - offsets.back();
  const int64_t hits =
      std::max(CountHits(from_first, offsets, number), CountHits(from_last, offsets, number));
  return hits >= std::max<int64_t>(half, 2);
}

bool IndexDetector::HoldsOffsets(Bytes chunk, size_t number) {
  const absl::StatusOr<std::vector<std::byte>> first = detector_.Decode(chunk, kEntrySize);
  if (!first.ok() || !MayBeEntry(EntryAt(*first, 0), file_.size())) return false;
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
  CAIRN_ASSIGN_OR_RETURN(const Bytes after, ReadUpTo(file_, chunk.end(), kTrailerHead, scratch_));
  if (std::ssize(after) == kTrailerHead && LooksLikeTrailer(after)) return true;
  CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, file_.Read(chunk.begin, header.cbytes, scratch_));
  return HoldsOffsets(bytes, number);
}

}  // namespace

absl::Status DropIndexes(const FrameView& file, const ChunkDetector& detector,
                         std::optional<int64_t> origin, ScanResult& found) {
  const std::vector<FoundChunk>& chunks = found.chunks;
  IndexDetector indexes(file, detector, chunks, origin);
  std::vector<FoundChunk> data;
  for (size_t i = 0; i < chunks.size(); ++i) {
    CAIRN_ASSIGN_OR_RETURN(const bool index, indexes.IsIndex(i));
    if (!index) {
      data.push_back(chunks[i]);
    } else if (!data.empty()) {
      found.first_end = std::min(found.first_end, chunks[i].begin);
    }
  }
  found.chunks = std::move(data);
  return absl::OkStatus();
}

}  // namespace cairn::frame
