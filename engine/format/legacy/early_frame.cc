#include "engine/format/legacy/early_frame.h"

#include <string>
#include <utility>

#include "engine/base/byte_reader.h"
#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/format/msgpack.h"

namespace cairn::format::legacy {

namespace {

constexpr uint8_t kFlagsMarker = 0xA4;
constexpr uint8_t kVersionMask = 0x0F;

constexpr uint64_t kFilterSlots = 8;

// A slip of beta.2, which meant an array of 4 as well.
constexpr uint8_t kTrailerArrayBeta2 = 0x0D;
constexpr size_t kFingerprintSize = 16;

int32_t ReadStart(ByteReader& reader) {
  reader.U8("array");
  reader.Expect(kFrameMagicMarker, "magic");
  const Bytes magic = reader.Take(kFrameMagic.size(), "magic");
  if (reader.ok() && AsText(magic) != kFrameMagic) reader.Fail("magic", "is not \"b2frame\"");
  const int32_t length = msgpack::ReadInt32(reader, "header_len");
  if (reader.ok() && length < kEarlyFieldsSize) {
    reader.Fail("header_len",
                absl::StrFormat("expected at least %d, got %d", kEarlyFieldsSize, length));
  }
  return length;
}

// Reads all fields but the flag, which follows. Sets the version that general_flags give.
FrameHeader ReadEarlyFields(ByteReader& reader) {
  FrameHeader header;
  header.header_len = ReadStart(reader);
  reader.Expect(msgpack::kUint64, "frame_size");
  header.frame_size = static_cast<int64_t>(reader.Be<uint64_t>("frame_size"));
  reader.Expect(kFlagsMarker, "flags");
  header.version = reader.U8("general_flags") & kVersionMask;
  reader.U8("frame_type");
  const uint8_t codec = reader.U8("codec_flags");
  // The nibble holds every codec of that time, Snappy (3) and Lizard (6) among them.
  header.codec = static_cast<Codec>(codec & 0x0F);
  header.clevel = codec >> 4;
  reader.U8("other_flags");
  header.nbytes = msgpack::ReadInt64(reader, "nbytes");
  header.cbytes = msgpack::ReadInt64(reader, "cbytes");
  header.typesize = msgpack::ReadInt32(reader, "typesize");
  header.chunksize = msgpack::ReadInt32(reader, "chunksize");
  msgpack::ReadInt16(reader, "nthreads_comp");
  msgpack::ReadInt16(reader, "nthreads_decomp");
  return header;
}

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

// Of a header that was read up to its end.
absl::StatusOr<FrameHeader> Finish(Bytes bytes, const ByteReader& reader, FrameHeader header) {
  CAIRN_RETURN_IF_ERROR(reader.status());
  CAIRN_RETURN_IF_ERROR(CheckHeaderValues(header));
  TakeMetalayers(bytes, header);
  return header;
}

}  // namespace

absl::StatusOr<int64_t> ParseEarlyHeaderLength(Bytes bytes) {
  ByteReader reader(bytes, kFrameHeaderSection);
  const int64_t length = ReadStart(reader);
  CAIRN_RETURN_IF_ERROR(reader.status());
  return length;
}

absl::StatusOr<FrameHeader> ParseHeader2019(Bytes bytes) {
  ByteReader reader(bytes, kFrameHeaderSection);
  FrameHeader header = ReadEarlyFields(reader);
  header.version = 0;  // the low bits of general_flags meant something else
  const bool layers = !bytes.empty() && bytes[0] == std::byte{kArray2019WithLayers};
  reader.Expect(layers ? msgpack::kTrue : msgpack::kFalse, "metalayers");
  if (layers) header.places = ReadLayers(reader, kMaxMetalayers);
  return Finish(bytes, reader, std::move(header));
}

absl::StatusOr<FrameHeader> ParseBetaHeader(Bytes bytes) {
  ByteReader reader(bytes, kFrameHeaderSection);
  FrameHeader header = ReadEarlyFields(reader);
  reader.U8("usermeta");  // not to be relied on
  ReadFilters(reader, header);
  header.places = ReadLayers(reader, kMaxMetalayers);
  return Finish(bytes, reader, std::move(header));
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
