#include "engine/frame/open/seal_check.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/chunk/plain.h"

namespace cairn::frame {

namespace {

// Thread counts, which every writer sets as it likes: D1 i16 D1 i16.
constexpr size_t kThreadsBegin = 0x3E;
constexpr size_t kThreadsEnd = 0x44;

std::string Hex(Bytes bytes) {
  const std::string_view text = AsText(bytes);
  return absl::BytesToHexString(absl::string_view(text.data(), text.size()));
}

std::optional<FingerprintType> TypeOf(const format::Trailer& trailer) {
  constexpr auto kLast = static_cast<uint8_t>(FingerprintType::k128Bit);
  if (trailer.fingerprint_type > kLast) return std::nullopt;
  return static_cast<FingerprintType>(trailer.fingerprint_type);
}

// With type 0 the field must be empty: else a damaged type would pass for a frame without a seal.
absl::Status CheckTrailerFingerprint(const format::Trailer& trailer, Bytes trailer_bytes) {
  const std::optional<FingerprintType> type = TypeOf(trailer);
  if (!type.has_value()) {
    return DataLoss("trailer: fingerprint type %d is not known", trailer.fingerprint_type);
  }
  const auto expected = format::TrailerFingerprint(*type, trailer_bytes, trailer.layers);
  if (expected == trailer.fingerprint) return absl::OkStatus();
  return DataLoss("trailer: fingerprint: expected %s, got %s", Hex(trailer.fingerprint),
                  Hex(expected));
}

absl::StatusOr<format::Seal> ParseSealLayer(const format::LayerPlace& place, Bytes trailer_bytes,
                                            int64_t max_pages) {
  CAIRN_ASSIGN_OR_RETURN(const Bytes payload,
                         chunk::PlainPayload(format::ContentOf(place, trailer_bytes)));
  return format::ParseSeal(payload, max_pages);
}

// Whether `position` may differ from the sealed header without the trailer being rewritten:
// C-Blosc2 updates the content of metalayers that way, and sets the thread counts while it is at
// it.
bool MayChangeOutside(const format::FrameHeader& header, size_t position) {
  if (position >= kThreadsBegin && position < kThreadsEnd) return true;
  return std::ranges::any_of(header.places, [&](const format::LayerPlace& place) {
    return static_cast<int64_t>(position) >= place.begin &&
           static_cast<int64_t>(position) < place.begin + place.size;
  });
}

// Compares the header with its sealed copy; true when it was changed outside.
absl::StatusOr<bool> CheckHeader(const SealedParts& parts, const format::Seal& seal) {
  const Bytes header = parts.header_bytes;
  if (Xxh3(header) == seal.header_hash) return false;
  if (seal.header_copy.size() != header.size()) {
    return DataLoss("frame header: header_len: expected %d, got %d", seal.header_copy.size(),
                    header.size());
  }
  // Where metalayers lie is what the sealed header says: the one that was changed may say anything.
  CAIRN_ASSIGN_OR_RETURN(const format::FrameHeader sealed,
                         format::ParseFrameHeader(seal.header_copy));
  for (size_t i = 0; i < header.size(); ++i) {
    if (header[i] != seal.header_copy[i] && !MayChangeOutside(sealed, i)) {
      return DataLoss("frame header: byte %d: expected 0x%02x, got 0x%02x", i,
                      std::to_integer<int>(seal.header_copy[i]), std::to_integer<int>(header[i]));
    }
  }
  return true;
}

absl::StatusOr<std::optional<IndexSeal>> OpenTable(const SealedParts& parts, format::Seal& seal) {
  const format::LayerPlace* place = format::FindLayer(parts.trailer.layers, format::kTableLayer);
  if (place == nullptr) {
    return DataLoss("trailer: the vlmetalayer %s is missing", format::kTableLayer);
  }
  if (parts.nchunks == 0) return std::nullopt;
  Chunk layer(format::ContentOf(*place, parts.trailer_chunk.bytes()), parts.trailer_chunk.owner());
  CAIRN_ASSIGN_OR_RETURN(FingerprintTable table,
                         FingerprintTable::Open(std::move(layer), parts.nchunks));
  return IndexSeal{.table = std::move(table),
                   .pages = std::move(seal.pages),
                   .index_hash = seal.index_hash,
                   .uncovered = seal.uncovered};
}

}  // namespace

absl::StatusOr<SealVerdict> CheckSeal(const SealedParts& parts) {
  SealVerdict verdict;
  const Bytes trailer_bytes = parts.trailer_chunk.bytes();
  const std::vector<format::LayerPlace>& layers = parts.trailer.layers;
  const format::LayerPlace* place = format::FindLayer(layers, format::kSealLayer);
  // Only Cairn writes these layers. Without them the fingerprint field belongs to another writer.
  if (place == nullptr && format::FindLayer(layers, format::kTableLayer) == nullptr) return verdict;
  verdict.trailer_damage = CheckTrailerFingerprint(parts.trailer, trailer_bytes);
  verdict.type = TypeOf(parts.trailer).value_or(FingerprintType::kNone);
  if (place == nullptr || !verdict.trailer_damage.ok()) return verdict;

  const bool intact = verdict.type != FingerprintType::kNone;
  absl::StatusOr<format::Seal> seal =
      ParseSealLayer(*place, trailer_bytes, CeilDiv(parts.nchunks, format::kPageEntries));
  if (!seal.ok()) {
    // Without a fingerprint the layer may be what another program left there.
    if (intact) verdict.trailer_damage = Annotate("trailer", seal.status());
    return verdict;
  }
  const absl::StatusOr<bool> changed = CheckHeader(parts, *seal);
  if (intact && !changed.ok()) return changed.status();
  verdict.holds = changed.ok();
  if (intact) {
    verdict.header_changed_outside = *changed;
    CAIRN_ASSIGN_OR_RETURN(verdict.index, OpenTable(parts, *seal));
    verdict.sealed = !verdict.header_changed_outside && seal->uncovered == 0;
  }
  verdict.seal = *std::move(seal);
  return verdict;
}

absl::StatusOr<format::Seal> SealOf(const format::Trailer& trailer, Bytes trailer_bytes) {
  const format::LayerPlace* const place = format::FindLayer(trailer.layers, format::kSealLayer);
  if (place == nullptr) return DataLoss("trailer: no seal");
  CAIRN_RETURN_IF_ERROR(CheckTrailerFingerprint(trailer, trailer_bytes));
  return ParseSealLayer(*place, trailer_bytes, format::kMaxPages);
}

}  // namespace cairn::frame
