#include "engine/frame/repair/trailer_scanner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/base/extent.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/chunk/header.h"
#include "engine/format/frame_header.h"
#include "engine/format/msgpack.h"
#include "engine/frame/open/checkpoint_parts.h"
#include "engine/frame/repair/buffered_file.h"

namespace cairn::frame {

namespace {

constexpr int64_t kStep = 1 << 20;
// CE trailer_len D8 type
constexpr size_t kLengthMarker = 0;
constexpr size_t kExtMarker = 5;
constexpr size_t kType = 6;
constexpr auto kTailSize = static_cast<size_t>(format::kTrailerTailSize);

bool LooksLikeTail(Bytes tail) {
  return tail[kLengthMarker] == std::byte{format::msgpack::kUint32} &&
         tail[kExtMarker] == std::byte{format::msgpack::kFixExt16} &&
         tail[kType] <= static_cast<std::byte>(FingerprintType::k128Bit);
}

// The extent of the trailer that ends with this tail at `end`, if it may be one.
std::optional<Extent> CandidateOf(Bytes tail, int64_t end) {
  if (!LooksLikeTail(tail)) return std::nullopt;
  const absl::StatusOr<int64_t> size = format::ParseTrailerSize(tail, end);
  if (!size.ok()) return std::nullopt;
  return Extent{.begin = end - *size, .end = end};
}

// Checks whether a trailer belongs to a complete frame at the start of the file.
class OwnTrailerCheck {
 public:
  OwnTrailerCheck(BufferedFile& file, ScanBudget& budget) : file_(file), budget_(budget) {}

  // The first misfit is the error.
  absl::StatusOr<FoundTrailer> Check(const TrailerBytes& trailer);

 private:
  absl::Status CheckIndex(const format::FrameHeader& header, const format::Seal& seal,
                          int64_t trailer_begin);

  BufferedFile& file_;
  ScanBudget& budget_;
};

absl::Status OwnTrailerCheck::CheckIndex(const format::FrameHeader& header,
                                         const format::Seal& seal, int64_t trailer_begin) {
  const std::optional<int64_t> begin = header.index_begin();
  if (!begin.has_value() || *begin > trailer_begin) {
    return DataLoss("frame header: cbytes: the index begins after the trailer");
  }
  if (header.nbytes == 0) return absl::OkStatus();
  const int64_t available = trailer_begin - *begin;
  CAIRN_ASSIGN_OR_RETURN(const Bytes head,
                         file_.Read(*begin, std::min<int64_t>(available, chunk::kHeaderSize)));
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header index, chunk::ParseHeader(head, available));
  CAIRN_RETURN_IF_ERROR(AgreeOnCount(header, index).status());
  if (!budget_.Spend(index.cbytes)) return ResourceExhausted("too many indexes");
  CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, file_.Read(*begin, index.cbytes));
  if (seal.index_hash != 0 && Xxh3(bytes) != seal.index_hash) {
    return DataLoss("index: the hash is wrong");
  }
  return absl::OkStatus();
}

absl::StatusOr<FoundTrailer> OwnTrailerCheck::Check(const TrailerBytes& trailer) {
  FoundTrailer found;
  found.end = trailer.end;
  CAIRN_RETURN_IF_ERROR(CheckTrailerFingerprint(trailer.parsed, trailer.bytes));
  CAIRN_ASSIGN_OR_RETURN(found.seal, SealOf(trailer.parsed, trailer.bytes));
  found.header = found.seal.header_copy;
  if (Xxh3(found.header) != found.seal.header_hash) {
    return DataLoss("seal: the hash of the header is wrong");
  }
  CAIRN_ASSIGN_OR_RETURN(const format::FrameHeader header, format::ParseFrameHeader(found.header));
  if (header.header_len != std::ssize(found.header) || header.frame_size != trailer.end) {
    return DataLoss("frame header: frame_size: expected %d, got %d", trailer.end,
                    header.frame_size);
  }
  CAIRN_RETURN_IF_ERROR(CheckIndex(header, found.seal, trailer.begin));
  return found;
}

}  // namespace

// 94 version 93 CD
bool LooksLikeTrailer(Bytes head) {
  return head[0] == std::byte{format::msgpack::FixArray(4)} &&
         head[2] == std::byte{format::msgpack::FixArray(3)} &&
         head[3] == std::byte{format::msgpack::kUint16};
}

absl::Status ForEachTrailer(const File& file, ScanBudget& budget,
                            absl::FunctionRef<void(const TrailerBytes&)> visit) {
  constexpr auto kOverlap = static_cast<int64_t>(kTailSize) - 1;
  CAIRN_ASSIGN_OR_RETURN(BufferedFile scan, BufferedFile::Open(file, 0));
  CAIRN_ASSIGN_OR_RETURN(BufferedFile buffered, BufferedFile::Open(file, 0));
  // Each step checks the tails that end in [end - kStep + 1, end].
  for (int64_t end = scan.size(); end > kOverlap; end -= kStep) {
    const int64_t begin = std::max<int64_t>(end - kStep - kOverlap, 0);
    CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, scan.Read(begin, end - begin));
    for (size_t i = bytes.size() - kTailSize + 1; i-- > 0;) {
      if (bytes[i] != std::byte{format::msgpack::kUint32}) continue;
      const std::optional<Extent> candidate =
          CandidateOf(bytes.subspan(i, kTailSize), begin + static_cast<int64_t>(i + kTailSize));
      if (!candidate.has_value()) continue;
      CAIRN_ASSIGN_OR_RETURN(const Bytes head, buffered.Read(candidate->begin, kTrailerHead));
      if (!LooksLikeTrailer(head)) continue;
      if (!budget.Spend(candidate->size())) return absl::OkStatus();
      CAIRN_ASSIGN_OR_RETURN(const Bytes all, buffered.Read(candidate->begin, candidate->size()));
      const absl::StatusOr<format::Trailer> trailer = format::ParseTrailer(all);
      if (!trailer.ok()) continue;
      visit({.begin = candidate->begin, .end = candidate->end, .bytes = all, .parsed = *trailer});
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<FoundTrailer> FindNewestTrailer(const File& file) {
  CAIRN_ASSIGN_OR_RETURN(BufferedFile buffered, BufferedFile::Open(file, 0));
  ScanBudget budget(buffered.size(), kMaxTrailerOverlaps);
  OwnTrailerCheck check(buffered, budget);
  std::optional<FoundTrailer> newest;
  CAIRN_RETURN_IF_ERROR(ForEachTrailer(file, budget, [&](const TrailerBytes& trailer) {
    absl::StatusOr<FoundTrailer> found = check.Check(trailer);
    if (!found.ok()) return;
    // The later of two comes first.
    if (newest.has_value() && newest->seal.generation >= found->seal.generation) return;
    newest = *std::move(found);
  }));
  if (!newest.has_value()) {
    return DataLoss("no trailer in %d bytes agrees with its header copy, position and index",
                    buffered.size());
  }
  return *std::move(newest);
}

}  // namespace cairn::frame
