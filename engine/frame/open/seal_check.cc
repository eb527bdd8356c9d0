#include "engine/frame/open/seal_check.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/chunk/special.h"

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

absl::StatusOr<format::Seal> ParseSealLayer(const format::LayerPlace& layer, Bytes trailer_bytes,
                                            int64_t max_pages) {
  CAIRN_ASSIGN_OR_RETURN(const Bytes payload,
                         chunk::MemcpyedPayload(format::ContentOf(layer, trailer_bytes)));
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
absl::StatusOr<bool> CheckHeader(Bytes header, const format::Seal& seal) {
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

absl::StatusOr<std::optional<IndexSeal>> OpenTable(const format::Trailer& trailer,
                                                   const Chunk& trailer_chunk, int64_t nchunks,
                                                   format::Seal& seal) {
  const format::LayerPlace* const layer = format::FindLayer(trailer.layers, format::kTableLayer);
  if (layer == nullptr) {
    return DataLoss("trailer: the vlmetalayer %s is missing", format::kTableLayer);
  }
  if (nchunks == 0) return std::nullopt;
  Chunk content(format::ContentOf(*layer, trailer_chunk.bytes()), trailer_chunk.owner());
  CAIRN_ASSIGN_OR_RETURN(FingerprintTable table,
                         FingerprintTable::Open(std::move(content), nchunks));
  return IndexSeal{.table = std::move(table),
                   .pages = std::move(seal.pages),
                   .index_hash = seal.index_hash,
                   .uncovered = seal.uncovered};
}

}  // namespace

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

absl::StatusOr<std::optional<IndexSeal>> CheckSeal(const format::Trailer& trailer,
                                                   const Chunk& trailer_chunk, int64_t nchunks,
                                                   Checkpoint& checkpoint) {
  const Bytes trailer_bytes = trailer_chunk.bytes();
  const format::LayerPlace* const layer = format::FindLayer(trailer.layers, format::kSealLayer);
  // Only Cairn writes these layers. Without them the fingerprint field belongs to another writer.
  if (layer == nullptr && format::FindLayer(trailer.layers, format::kTableLayer) == nullptr) {
    return std::nullopt;
  }
  checkpoint.trailer_damage = CheckTrailerFingerprint(trailer, trailer_bytes);
  checkpoint.fingerprint = TypeOf(trailer).value_or(FingerprintType::kNone);
  if (layer == nullptr || !checkpoint.trailer_damage.ok()) return std::nullopt;

  const bool intact = checkpoint.fingerprint != FingerprintType::kNone;
  absl::StatusOr<format::Seal> seal =
      ParseSealLayer(*layer, trailer_bytes, CeilDiv(nchunks, format::kPageEntries));
  if (!seal.ok()) {
    // Without a fingerprint the layer may be what another program left there.
    if (intact) checkpoint.trailer_damage = Annotate("trailer", seal.status());
    return std::nullopt;
  }
  const absl::StatusOr<bool> changed = CheckHeader(checkpoint.header_bytes, *seal);
  if (intact && !changed.ok()) return changed.status();
  std::optional<IndexSeal> index;
  if (intact) {
    CAIRN_ASSIGN_OR_RETURN(index, OpenTable(trailer, trailer_chunk, nchunks, *seal));
    checkpoint.header_changed_outside = *changed;
    checkpoint.sealed = !*changed && seal->uncovered == 0;
  }
  checkpoint.seal_holds = changed.ok();
  checkpoint.seal = *std::move(seal);
  return index;
}

absl::StatusOr<format::Seal> SealOf(const format::Trailer& trailer, Bytes trailer_bytes) {
  const format::LayerPlace* const layer = format::FindLayer(trailer.layers, format::kSealLayer);
  if (layer == nullptr) return DataLoss("trailer: no seal");
  return ParseSealLayer(*layer, trailer_bytes, format::kMaxPages);
}

}  // namespace cairn::frame
