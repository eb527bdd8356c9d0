#include "engine/format/legacy/early_fields.h"

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/format/msgpack.h"

namespace cairn::format::legacy {

namespace {

constexpr uint8_t kFlagsMarker = 0xA4;
constexpr uint8_t kVersionMask = 0x0F;

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

}  // namespace

absl::StatusOr<int64_t> ParseEarlyHeaderLength(Bytes bytes) {
  ByteReader reader(bytes, kFrameHeaderSection);
  const int64_t length = ReadStart(reader);
  CAIRN_RETURN_IF_ERROR(reader.status());
  return length;
}

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

}  // namespace cairn::format::legacy
