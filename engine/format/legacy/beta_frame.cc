#include "engine/format/legacy/beta_frame.h"

#include <string>

#include "engine/base/byte_reader.h"
#include "engine/base/status.h"
#include "engine/format/legacy/early_fields.h"
#include "engine/format/msgpack.h"

namespace cairn::format::legacy {

namespace {

constexpr uint64_t kFilterSlots = 8;

// A slip of beta.2, which meant an array of 4 as well.
constexpr uint8_t kTrailerArrayBeta2 = 0x0D;
constexpr size_t kFingerprintSize = 16;

void ReadFilters(ByteReader& reader, FrameHeader& header) {
  reader.Expect(msgpack::kFixExt16, "filters");
  const uint8_t count = reader.U8("filter count");
  if (reader.ok() && count > kMaxFilters) {
    reader.Fail("filter count", absl::StrFormat("expected up to %d, got %d", kMaxFilters, count));
  }
  const Bytes ids = reader.Take(kFilterSlots, "filter ids");
  const Bytes metas = reader.Take(kFilterSlots, "filter metas");
  if (!reader.ok()) return;
  for (size_t i = 0; i < count; ++i) {
    header.filters[i] = {static_cast<Filter>(ids[i]), std::to_integer<uint8_t>(metas[i])};
  }
}

}  // namespace

absl::StatusOr<FrameHeader> ParseBetaHeader(Bytes bytes) {
  ByteReader reader(bytes, kFrameHeaderSection);
  FrameHeader header = ReadEarlyFields(reader);
  reader.U8("usermeta");  // not to be relied on
  ReadFilters(reader, header);
  header.places = ReadLayers(reader, kMaxMetalayers);
  CAIRN_RETURN_IF_ERROR(reader.status());
  CAIRN_RETURN_IF_ERROR(CheckHeaderValues(header));
  TakeMetalayers(bytes, header);
  return header;
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
