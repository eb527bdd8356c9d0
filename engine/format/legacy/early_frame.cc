#include "engine/format/legacy/early_frame.h"

#include <string>
#include <utility>

#include "engine/base/byte_reader.h"
#include "engine/base/status.h"
#include "engine/format/msgpack.h"

namespace cairn::format::legacy {

namespace {

// An error of beta.2, which also meant an array of 4.
constexpr uint8_t kTrailerArrayBeta2 = 0x0D;
constexpr size_t kFingerprintSize = 16;

}  // namespace

absl::StatusOr<FrameHeader> ParseHeader2019(Bytes bytes) {
  ByteReader reader(bytes, kFrameHeaderSection);
  FrameHeader header;
  ReadHeaderFields(reader, kEarlyFieldsSize, header);
  header.version = 0;  // the low bits of general_flags meant something else
  const bool layers = !bytes.empty() && bytes[0] == std::byte{kArray2019WithLayers};
  reader.Expect(layers ? msgpack::kTrue : msgpack::kFalse, "metalayers");
  if (layers) header.places = ReadLayers(reader, kMaxMetalayers);
  return FinishHeader(bytes, reader, std::move(header));
}

absl::StatusOr<FrameHeader> ParseBetaHeader(Bytes bytes) {
  ByteReader reader(bytes, kFrameHeaderSection);
  FrameHeader header;
  ReadHeaderFields(reader, kEarlyFieldsSize, header);
  reader.U8("usermeta");  // not reliable
  ReadHeaderFilters(reader, header);
  header.places = ReadLayers(reader, kMaxMetalayers);
  return FinishHeader(bytes, reader, std::move(header));
}

absl::StatusOr<BetaTrailer> ParseBetaTrailer(Bytes bytes) {
  BetaTrailer trailer;
  ByteReader reader(bytes, "trailer");
  trailer.beta2 = !bytes.empty() && bytes[0] == std::byte{kTrailerArrayBeta2};
  reader.Expect(trailer.beta2 ? kTrailerArrayBeta2 : msgpack::FixArray(4), "array");
  reader.U8("version");
  reader.Expect(msgpack::kBin32, "usermeta");
  trailer.usermeta.name = std::string(kUsermetaLayer);
  trailer.usermeta.size = reader.Be<uint32_t>("usermeta length");
  trailer.usermeta.begin = static_cast<int64_t>(reader.offset());
  reader.Take(static_cast<uint64_t>(trailer.usermeta.size), "usermeta");
  reader.Expect(msgpack::kUint32, "trailer_len");
  reader.Be<uint32_t>("trailer_len");
  reader.Expect(msgpack::kFixExt16, "fingerprint");
  reader.U8("fingerprint type");
  reader.Take(kFingerprintSize, "fingerprint");
  CAIRN_RETURN_IF_ERROR(reader.status());
  if (reader.remaining() != 0) {
    return DataLoss("trailer: usermeta leaves %d bytes that nothing uses", reader.remaining());
  }
  return trailer;
}

}  // namespace cairn::format::legacy
