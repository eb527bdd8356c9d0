#include "engine/frame/open/newer_checkpoint.h"

#include <array>
#include <cstdint>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/format/trailer.h"

namespace cairn::frame {

namespace {

// Returns true if the file holds other bytes than these at `position`.
absl::StatusOr<bool> HoldsOther(const FrameFile& source, int64_t position, Bytes bytes) {
  constexpr size_t kMostHeaders = 512;
  std::array<std::byte, kMostHeaders> few;
  std::vector<std::byte> many(bytes.size() > few.size() ? bytes.size() : 0);
  const MutableBytes there = many.empty() ? MutableBytes(few).first(bytes.size()) : many;
  const absl::Status read = source.ReadAt(position, there);
  // There was a checkpoint, so the file was truncated since.
  if (absl::IsOutOfRange(read)) return WithCode(absl::StatusCode::kDataLoss, read);
  CAIRN_RETURN_IF_ERROR(read);
  return !AreEqual(there, bytes);
}

}  // namespace

bool IsOfOthers(const Checkpoint& checkpoint) {
  const bool may_have_one =
      !checkpoint.seal.has_value() || checkpoint.seal->type != FingerprintType::kNone;
  return may_have_one && checkpoint.fingerprint == FingerprintType::kNone;
}

// C-Blosc2 replaces chunks by some of the same size, and layers too, in place. That leaves the
// header as it was, but no fingerprint in the trailer.
absl::StatusOr<bool> HasNewCheckpoint(const State& newest, const FrameFile& source) {
  const Checkpoint& checkpoint = *newest.checkpoint;
  const Bytes header = checkpoint.header_bytes;
  const std::byte type{static_cast<uint8_t>(checkpoint.fingerprint)};
  const int64_t type_at = checkpoint.trailer.end - format::kFingerprintFieldSize;
  const bool has_type = checkpoint.fingerprint != FingerprintType::kNone;
  if (SeesFile(newest, source)) {
    return newest.region.SeesOther(0, header) ||
           (has_type && newest.region.SeesOther(type_at, {&type, 1}));
  }
  CAIRN_ASSIGN_OR_RETURN(const bool other_header, HoldsOther(source, 0, header));
  if (other_header || !has_type) return other_header;
  return HoldsOther(source, type_at, {&type, 1});
}

}  // namespace cairn::frame
