// The trailer of a frame, which holds vlmetalayers and the fingerprint field.
#ifndef CAIRN_ENGINE_FORMAT_TRAILER_H_
#define CAIRN_ENGINE_FORMAT_TRAILER_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "cairn/types.h"
#include "engine/format/layers.h"

namespace cairn::format {

// Every trailer starts with 94 and the version.
inline constexpr int64_t kTrailerHeadSize = 1 + 1;
// Every trailer ends with CE trailer_len D8 type fingerprint.
inline constexpr int64_t kTrailerTailSize = (1 + 4) + (1 + 1 + 16);
// The last bytes of it are the type and the fingerprint.
inline constexpr int64_t kFingerprintFieldSize = 1 + 16;
inline constexpr int64_t kMinTrailerSize = kTrailerHeadSize + kTrailerTailSize;

struct Trailer {
  int64_t size = 0;
  std::vector<LayerPlace> layers;  // each value is a chunk
  uint8_t fingerprint_type = 0;  // as it is stored, perhaps one that FingerprintType does not know
  std::array<std::byte, 16> fingerprint{};
};

// Returns the trailer's size, from the last kTrailerTailSize bytes of the frame. At most max_size.
absl::StatusOr<int64_t> ParseTrailerSize(Bytes tail, int64_t max_size);

absl::StatusOr<Trailer> ParseTrailer(Bytes bytes);

// Returns the intact part of a damaged trailer: the layers that still lead to a chunk.
Trailer ScanTrailer(Bytes bytes);

// The vlmetalayer whose columns the trailer's fingerprint leaves out, because pages of the seal
// stand for them.
inline constexpr std::string_view kTableLayer = "cairn.fp";
// Bytes of the table for each chunk.
inline constexpr int64_t kTableEntry = sizeof(uint64_t) + sizeof(uint32_t);

// Returns the bytes before the columns of a table whose payload has `size` bytes: the head of a
// value of MessagePack, or none in tables of older Cairns. They have 8 or 12 bytes for each chunk.
int64_t TableHeadSize(int64_t size);

// Returns the fingerprint that a trailer of these bytes must have.
std::array<std::byte, 16> TrailerFingerprint(FingerprintType type, Bytes trailer,
                                             const std::vector<LayerPlace>& layers);

std::vector<std::byte> EncodeTrailer(std::span<const NamedBytes> layers, FingerprintType type);

// Returns the number of bytes that EncodeTrailer gives for these layers.
int64_t TrailerSize(std::span<const NamedBytes> layers);

}  // namespace cairn::format

#endif  // CAIRN_ENGINE_FORMAT_TRAILER_H_
