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

absl::Status CheckTrailerFingerprint(const SealedParts& parts, FingerprintType type) {
  const auto expected =
      format::TrailerFingerprint(type, parts.trailer_chunk.bytes(), parts.trailer.layers);
  if (expected == parts.trailer.fingerprint) return absl::OkStatus();
  return DataLoss("trailer: fingerprint: expected %s, got %s", Hex(parts.trailer.fingerprint),
                  Hex(expected));
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
  const uint8_t raw_type = parts.trailer.fingerprint_type;
  const std::vector<format::LayerPlace>& layers = parts.trailer.layers;
  const format::LayerPlace* place = format::FindLayer(layers, format::kSealLayer);
  // Either name tells that Cairn wrote the trailer. What others put into the field is theirs.
  if (place == nullptr && format::FindLayer(layers, format::kTableLayer) == nullptr) return verdict;
  if (raw_type > static_cast<uint8_t>(FingerprintType::k128Bit)) {
    verdict.trailer_damage = DataLoss("trailer: fingerprint type %d is not known", raw_type);
    return verdict;
  }
  verdict.type = static_cast<FingerprintType>(raw_type);
  // With type 0 the field must be empty: else a damaged type would pass for a frame without a seal.
  verdict.trailer_damage = CheckTrailerFingerprint(parts, verdict.type);
  if (place == nullptr || !verdict.trailer_damage.ok()) return verdict;

  const bool intact = verdict.type != FingerprintType::kNone;
  const absl::StatusOr<Bytes> payload =
      chunk::PlainPayload(format::ContentOf(*place, parts.trailer_chunk.bytes()));
  absl::StatusOr<format::Seal> seal =
      payload.ok() ? format::ParseSeal(*payload, CeilDiv(parts.nchunks, format::kPageEntries))
                   : payload.status();
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

}  // namespace cairn::frame
