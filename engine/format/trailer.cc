#include "engine/format/trailer.h"

#include <algorithm>

#include "absl/strings/escaping.h"

#include "engine/base/binary_value.h"
#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/bytes.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/chunk/header.h"
#include "engine/format/msgpack.h"

namespace cairn::format {

namespace {

constexpr std::string_view kSection = "trailer";
constexpr uint8_t kTrailerVersion = 1;
constexpr size_t kFingerprintSize = 16;

}  // namespace

absl::StatusOr<int64_t> ParseTrailerSize(Bytes tail, int64_t max_size) {
  ByteReader reader(tail, kSection);
  reader.Expect(msgpack::kUint32, "trailer_len");
  const int64_t size = reader.Be<uint32_t>("trailer_len");
  CAIRN_RETURN_IF_ERROR(reader.status());
  if (size < kMinTrailerSize || size > max_size) {
    return DataLoss("trailer: trailer_len: expected %d to %d, got %d", kMinTrailerSize, max_size,
                    size);
  }
  return size;
}

absl::StatusOr<Trailer> ParseTrailer(Bytes bytes) {
  Trailer trailer;
  trailer.size = static_cast<int64_t>(bytes.size());
  ByteReader reader(bytes, kSection);
  reader.Expect(msgpack::FixArray(4), "array");
  reader.U8("version");
  trailer.layers = ReadLayers(reader, kMaxVlMetalayers);
  CAIRN_RETURN_IF_ERROR(reader.status());
  const size_t tail = bytes.size() - kTrailerTailSize;
  for (const LayerPlace& layer : trailer.layers) {
    if (layer.begin + layer.size > static_cast<int64_t>(tail)) {
      return DataLoss("trailer: vlmetalayer %s ends at byte %d, past the end of the values %d",
                      absl::Utf8SafeCEscape(layer.name), layer.begin + layer.size, tail);
    }
  }
  reader.Seek(tail, "trailer_len");
  reader.Expect(msgpack::kUint32, "trailer_len");
  reader.Be<uint32_t>("trailer_len");
  reader.Expect(msgpack::kFixExt16, "fingerprint");
  trailer.fingerprint_type = reader.U8("fingerprint type");
  const Bytes fingerprint = reader.Take(kFingerprintSize, "fingerprint");
  CAIRN_RETURN_IF_ERROR(reader.status());
  std::ranges::copy(fingerprint, trailer.fingerprint.begin());
  return trailer;
}

Trailer ScanTrailer(Bytes bytes) {
  Trailer trailer;
  trailer.size = static_cast<int64_t>(bytes.size());
  trailer.layers = ScanLayers(bytes, kTrailerHeadSize);
  std::erase_if(trailer.layers, [&](const LayerPlace& layer) {
    const absl::StatusOr<chunk::Header> header = chunk::ParseHeader(ContentOf(layer, bytes));
    return !header.ok() || header->cbytes != layer.size;
  });
  return trailer;
}

int64_t TableHeadSize(int64_t size) {
  constexpr int64_t kHead = kBinaryHead;
  return size % kTableEntry == kHead ? kHead : 0;
}

std::array<std::byte, 16> TrailerFingerprint(FingerprintType type, Bytes trailer,
                                             const std::vector<LayerPlace>& layers) {
  Bytes covered = trailer.first(trailer.size() - kFingerprintSize);
  const LayerPlace* table = FindLayer(layers, kTableLayer);
  if (table == nullptr) return Fingerprint(type, {&covered, 1});
  // The table's entries are checked page by page. What is before them is not.
  const auto end = static_cast<size_t>(table->begin + table->size);
  const int64_t before = chunk::kHeaderSize + TableHeadSize(table->size - chunk::kHeaderSize);
  const auto begin = static_cast<size_t>(table->begin + std::min(table->size, before));
  const Bytes parts[] = {covered.first(begin), covered.subspan(end)};
  return Fingerprint(type, parts);
}

std::vector<std::byte> EncodeTrailer(std::span<const NamedBytes> layers, FingerprintType type) {
  ByteWriter writer;
  writer.U8(msgpack::FixArray(4));
  writer.U8(kTrailerVersion);
  const std::vector<LayerPlace> places = WriteLayers(layers, MapSizeOrigin::kMapSize, writer);
  writer.U8(msgpack::kUint32);
  writer.Be(static_cast<uint32_t>(TrailerSize(layers)));
  writer.U8(msgpack::kFixExt16);
  writer.U8(static_cast<uint8_t>(type));
  writer.Zeros(kFingerprintSize);
  const auto fingerprint = TrailerFingerprint(type, writer.written(), places);
  CopyBytes(fingerprint, writer.written().last(kFingerprintSize));
  return std::move(writer).Take();
}

int64_t TrailerSize(std::span<const NamedBytes> layers) {
  return kTrailerHeadSize + LayersSize(layers) + kTrailerTailSize;
}

}  // namespace cairn::format
