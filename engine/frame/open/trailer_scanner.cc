#include "engine/frame/open/trailer_scanner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/chunk/header.h"
#include "engine/format/frame_header.h"
#include "engine/format/msgpack.h"
#include "engine/frame/open/checkpoint_parts.h"

namespace cairn::frame {

namespace {

constexpr int64_t kTailStep = 1 << 20;
constexpr auto kTailSize = static_cast<size_t>(format::kTrailerTailSize);

// Returns the extent of the trailer that ends with this tail at `end`, if it may be one.
std::optional<Extent> CandidateOf(Bytes tail, int64_t end) {
  // A tail is CE trailer_len D8 type.
  if (tail[0] != std::byte{format::msgpack::kUint32} ||
      tail[5] != std::byte{format::msgpack::kFixExt16} ||
      tail[6] > static_cast<std::byte>(FingerprintType::k128Bit)) {
    return std::nullopt;
  }
  const absl::StatusOr<int64_t> size = format::ParseTrailerSize(tail, end);
  if (!size.ok()) return std::nullopt;
  return Extent{.begin = end - *size, .end = end};
}

// Returns true if the index lies before the trailer that begins there, and is the sealed one.
bool HasIndex(const FrameView& file, const format::FrameHeader& header, const format::Seal& seal,
              int64_t trailer_begin, ScanBudget& budget) {
  const std::optional<int64_t> begin = header.index_begin();
  if (!begin.has_value() || *begin > trailer_begin) return false;
  if (header.nbytes == 0) return true;
  const int64_t available = trailer_begin - *begin;
  ScratchBuffer scratch;
  const auto head = file.Read(*begin, std::min<int64_t>(available, chunk::kHeaderSize), scratch);
  if (!head.ok()) return false;
  const absl::StatusOr<chunk::Header> index = chunk::ParseHeader(*head, available);
  if (!index.ok() || !AgreeOnCount(header, *index).ok() || !budget.Spend(index->cbytes)) {
    return false;
  }
  const auto bytes = file.Read(*begin, index->cbytes, scratch);
  return bytes.ok() && (seal.index_hash == 0 || Xxh3(*bytes) == seal.index_hash);
}

// Returns the seal of a trailer that belongs to a complete frame at the start of the file.
std::optional<format::Seal> SealOfOwn(const FrameView& file, const TrailerBytes& trailer,
                                      ScanBudget& budget) {
  if (!CheckTrailerFingerprint(trailer.parsed, trailer.bytes).ok()) return std::nullopt;
  absl::StatusOr<format::Seal> seal = SealOf(trailer.parsed, trailer.bytes);
  if (!seal.ok() || Xxh3(seal->header_copy) != seal->header_hash) return std::nullopt;
  const auto header = format::ParseFrameHeader(seal->header_copy);
  const bool agrees = header.ok() && header->header_len == std::ssize(seal->header_copy) &&
                      header->frame_size == trailer.place.end &&
                      HasIndex(file, *header, *seal, trailer.place.begin, budget);
  return agrees ? std::optional(*std::move(seal)) : std::nullopt;
}

// Returns the name that commits have for this checkpoint if its journal begins with it, else 0. A
// journal that it inherited, or that was written before the header led here, proves nothing about
// this header.
uint64_t IdentityOf(const format::Seal& seal, const TrailerBytes& trailer) {
  const auto header = format::ParseFrameHeader(seal.header_copy);
  if (seal.journal.has_value() || !header.ok()) return 0;
  return format::BaseIdentity(*header, trailer.bytes, trailer.parsed.layers, seal.nonce);
}

}  // namespace

// A trailer begins with 94 version 93 CD.
bool LooksLikeTrailer(Bytes head) {
  return head[0] == std::byte{format::msgpack::FixArray(4)} &&
         head[2] == std::byte{format::msgpack::FixArray(3)} &&
         head[3] == std::byte{format::msgpack::kUint16};
}

absl::Status ForEachTrailer(const FrameView& file, ScanBudget& budget,
                            absl::FunctionRef<void(const TrailerBytes&)> visit) {
  constexpr auto kOverlap = static_cast<int64_t>(kTailSize) - 1;
  ScratchBuffer window;
  ScratchBuffer scratch;
  // Each step checks the tails that end in [end - kTailStep + 1, end].
  for (int64_t end = file.size(); end > kOverlap; end -= kTailStep) {
    const int64_t begin = std::max<int64_t>(end - kTailStep - kOverlap, 0);
    CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, file.Read(begin, end - begin, window));
    for (size_t i = bytes.size() - kTailSize + 1; i-- > 0;) {
      if (bytes[i] != std::byte{format::msgpack::kUint32}) continue;
      const std::optional<Extent> candidate =
          CandidateOf(bytes.subspan(i, kTailSize), begin + static_cast<int64_t>(i + kTailSize));
      if (!candidate.has_value()) continue;
      CAIRN_ASSIGN_OR_RETURN(const Bytes head, file.Read(candidate->begin, kTrailerHead, scratch));
      if (!LooksLikeTrailer(head)) continue;
      if (!budget.Spend(candidate->size())) return absl::OkStatus();
      CAIRN_ASSIGN_OR_RETURN(const Bytes all,
                             file.Read(candidate->begin, candidate->size(), scratch));
      const absl::StatusOr<format::Trailer> trailer = format::ParseTrailer(all);
      if (!trailer.ok()) continue;
      visit({.place = *candidate, .bytes = all, .parsed = *trailer});
    }
  }
  return absl::OkStatus();
}

namespace {

// Finds the newest trailer. `bases` is null for trailers of all journals.
absl::StatusOr<FoundTrailer> FindNewest(const FrameFile& source, const JournalBases* bases) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t size, source.Size());
  CAIRN_ASSIGN_OR_RETURN(const FrameView file, source.View(size));
  ScanBudget budget(size, kMaxTrailerOverlaps);
  std::optional<FoundTrailer> newest;
  CAIRN_RETURN_IF_ERROR(ForEachTrailer(file, budget, [&](const TrailerBytes& trailer) {
    std::optional<format::Seal> seal = SealOfOwn(file, trailer, budget);
    // The later of two trailers comes first.
    if (!seal.has_value() || (newest.has_value() && newest->seal.generation >= seal->generation)) {
      return;
    }
    if (bases != nullptr && !bases->contains(IdentityOf(*seal, trailer))) return;
    newest = FoundTrailer{.seal = *std::move(seal), .end = trailer.place.end};
  }));
  if (newest.has_value()) return *std::move(newest);
  return DataLoss("no trailer in %d bytes agrees with its header copy, position and index", size);
}

}  // namespace

absl::StatusOr<FoundTrailer> FindNewestTrailer(const FrameFile& source) {
  return FindNewest(source, nullptr);
}

absl::StatusOr<FoundTrailer> FindNewestTrailer(const FrameFile& source, const JournalBases& bases) {
  return FindNewest(source, &bases);
}

}  // namespace cairn::frame
