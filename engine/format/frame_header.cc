#include "engine/format/frame_header.h"

#include <algorithm>
#include <utility>

#include "engine/base/byte_writer.h"
#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/format/msgpack.h"

namespace cairn::format {

namespace {

constexpr uint8_t kArray = msgpack::FixArray(14);
constexpr uint8_t kFlagsMarker = 0xA4;

// general_flags
constexpr uint8_t kVersionMask = 0x0F;
constexpr uint8_t kOffsets64 = 0x10;
constexpr uint8_t kVariableChunks = 0x40;
constexpr uint8_t kHeaderVlBlocks = 0x80;

constexpr uint8_t kCodecMask = 0x0F;
// From this codec nibble on, byte 0x4D holds the id.
constexpr uint8_t kUserCodec = 6;
// The metas begin here, after the ids.
constexpr size_t kFilterMetas = 8;
constexpr uint8_t kSplitModeMask = 0x03;
constexpr uint8_t kUseDict = 0x01;

// Reads the header up to its length, and returns that.
int32_t ReadStart(ByteReader& reader, int64_t least) {
  const uint8_t array = reader.U8("array");
  reader.Expect(kFrameMagicMarker, "magic");
  const Bytes magic = reader.Take(kFrameMagic.size(), "magic");
  if (reader.ok() && AsText(magic) != kFrameMagic) reader.Fail("magic", "is not \"b2frame\"");
  // Pre-releases have other arrays.
  if (reader.ok() && array != kArray && least == kFixedHeaderSize) {
    reader.Fail("array", "expected 0x%02x, got 0x%02x", kArray, array);
  }
  const auto length = msgpack::ReadInt<int32_t>(reader, "header_len");
  if (reader.ok() && length < least) {
    reader.Fail("header_len", "expected at least %d, got %d", least, length);
  }
  return length;
}

absl::Status CheckFlags(const FrameHeader& header, const HeaderFlags& flags) {
  if (header.version > kFrameVersionVariable) {
    return Unimplemented("frame header: version %d is newer than %d", header.version,
                         kFrameVersionVariable);
  }
  if (flags.frame_type > static_cast<uint8_t>(Layout::kSparse)) {
    return Unimplemented("frame header: frame_type %d is not known", flags.frame_type);
  }
  return absl::OkStatus();
}

absl::Status CheckValues(const FrameHeader& header) {
  if (header.clevel > 9)
    return DataLoss("frame header: clevel: expected 0 to 9, got %d", header.clevel);
  if (header.nbytes < 0) return DataLoss("frame header: nbytes is negative: %d", header.nbytes);
  if (header.cbytes < 0) return DataLoss("frame header: cbytes is negative: %d", header.cbytes);
  if (header.typesize <= 0) {
    return DataLoss("frame header: typesize: expected 1 or more, got %d", header.typesize);
  }
  if (header.blocksize < 0) {
    return DataLoss("frame header: blocksize is negative: %d", header.blocksize);
  }
  const int32_t least = header.nbytes > 0 ? kChunksizeVariable : kChunksizeUnknown;
  if (header.chunksize < least || header.chunksize > kMaxChunkBytes) {
    return DataLoss("frame header: chunksize: expected %d to %d, got %d", least, kMaxChunkBytes,
                    header.chunksize);
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<int64_t> FrameHeader::index_begin() const {
  const bool chunks_before = layout == Layout::kContiguous && nbytes > 0;
  return CheckedAdd(header_len, chunks_before ? cbytes : 0);
}

HeaderFlags ReadHeaderFields(ByteReader& reader, int64_t least, FrameHeader& header) {
  header.header_len = ReadStart(reader, least);
  reader.Expect(msgpack::kUint64, "frame_size");
  header.frame_size = reader.Be<int64_t>("frame_size");
  reader.Expect(kFlagsMarker, "flags");
  HeaderFlags flags;
  flags.general = reader.U8("general_flags");
  flags.frame_type = reader.U8("frame_type");
  flags.codec = reader.U8("codec_flags");
  flags.other = reader.U8("other_flags");
  header.version = flags.general & kVersionMask;
  header.codec = static_cast<Codec>(flags.codec & kCodecMask);
  header.clevel = flags.codec >> 4;
  header.nbytes = msgpack::ReadInt<int64_t>(reader, "nbytes");
  header.cbytes = msgpack::ReadInt<int64_t>(reader, "cbytes");
  header.typesize = msgpack::ReadInt<int32_t>(reader, "typesize");
  if (least == kFixedHeaderSize) {
    header.blocksize = msgpack::ReadInt<int32_t>(reader, "blocksize");
  }
  header.chunksize = msgpack::ReadInt<int32_t>(reader, "chunksize");
  msgpack::ReadInt<int16_t>(reader, "nthreads_comp");
  msgpack::ReadInt<int16_t>(reader, "nthreads_decomp");
  return flags;
}

Bytes ReadHeaderFilters(ByteReader& reader, FrameHeader& header) {
  reader.Expect(msgpack::kFixExt16, "filters");
  const uint8_t count = reader.U8("filter count");
  reader.AtMost(count, kMaxFilters, "filter count");
  const Bytes slots = reader.Take(2 * kFilterMetas, "filters");
  for (size_t i = 0; i < count && reader.ok(); ++i) {
    header.filters[i] = {static_cast<Filter>(slots[i]),
                         std::to_integer<uint8_t>(slots[kFilterMetas + i])};
  }
  return slots;
}

absl::StatusOr<FrameHeader> FinishHeader(Bytes bytes, const ByteReader& reader,
                                         FrameHeader header) {
  CAIRN_RETURN_IF_ERROR(reader.status());
  CAIRN_RETURN_IF_ERROR(CheckValues(header));
  for (const LayerPlace& place : header.places) {
    header.metalayers.push_back({place.name, ToVector(ContentOf(place, bytes))});
  }
  return header;
}

absl::StatusOr<int64_t> ParseHeaderLength(Bytes bytes, int64_t least) {
  ByteReader reader(bytes, kFrameHeaderSection);
  const int64_t length = ReadStart(reader, least);
  CAIRN_RETURN_IF_ERROR(reader.status());
  return length;
}

absl::StatusOr<FrameHeader> ParseFrameHeader(Bytes bytes) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t length, ParseHeaderLength(bytes));
  if (length > std::ssize(bytes)) {
    return DataLoss("frame header: header_len %d passes the %d bytes that there are", length,
                    bytes.size());
  }
  // The header ends at header_len, whatever bytes follow.
  bytes = bytes.first(static_cast<size_t>(length));
  ByteReader reader(bytes, kFrameHeaderSection);
  FrameHeader header;
  const HeaderFlags flags = ReadHeaderFields(reader, kFixedHeaderSize, header);
  header.vlblocks = (flags.general & kHeaderVlBlocks) != 0;
  header.layout = static_cast<Layout>(flags.frame_type);
  header.split_mode = static_cast<SplitMode>((flags.other & kSplitModeMask) + 1);
  header.has_vlmetalayers = reader.U8("vlmetalayers") == msgpack::kTrue;
  const Bytes slots = ReadHeaderFilters(reader, header);
  CAIRN_RETURN_IF_ERROR(reader.status());
  CAIRN_RETURN_IF_ERROR(CheckFlags(header, flags));
  // These bytes lie between the ids and the metas of six filters, and after the metas.
  if ((flags.codec & kCodecMask) >= kUserCodec) header.codec = static_cast<Codec>(slots[6]);
  header.codec_meta = std::to_integer<uint8_t>(slots[7]);
  header.use_dict = (slots[14] & std::byte{kUseDict}) != std::byte{0};
  header.places = ReadLayers(reader, kMaxMetalayers);
  return FinishHeader(bytes, reader, std::move(header));
}

int RestoreMarkers(MutableBytes header) {
  constexpr uint8_t kInt64 = msgpack::kInt<int64_t>;
  constexpr uint8_t kInt32 = msgpack::kInt<int32_t>;
  constexpr uint8_t kInt16 = msgpack::kInt<int16_t>;
  constexpr struct {
    size_t at;
    uint8_t value;
  } kMarkers[] = {{0, kArray},
                  {1, kFrameMagicMarker},
                  {10, kInt32},            // header_len
                  {15, msgpack::kUint64},  // frame_size
                  {24, kFlagsMarker},
                  {29, kInt64},                // nbytes
                  {38, kInt64},                // cbytes
                  {47, kInt32},                // typesize
                  {52, kInt32},                // blocksize
                  {57, kInt32},                // chunksize
                  {62, kInt16},                // nthreads_comp
                  {65, kInt16},                // nthreads_decomp
                  {69, msgpack::kFixExt16},    // filters
                  {87, msgpack::FixArray(3)},  // metalayers
                  {88, msgpack::kUint16},      // map_size
                  {91, msgpack::kMap16}};
  int changed = 0;
  const auto restore = [&](size_t at, std::byte value) {
    if (std::exchange(header[at], value) != value) ++changed;
  };
  for (const auto& marker : kMarkers) restore(marker.at, std::byte{marker.value});
  const Bytes magic = AsBytes(kFrameMagic);
  for (size_t i = 0; i < magic.size(); ++i) restore(2 + i, magic[i]);
  return changed;
}

std::vector<std::byte> EncodeFixedHeader(const FrameHeader& header) {
  const bool variable = header.variable_chunks();
  const int version = variable || header.vlblocks ? kFrameVersionVariable : kFrameVersion;
  const auto codec_id = static_cast<uint8_t>(header.codec);
  ByteWriter writer;
  writer.U8(kArray);
  writer.U8(kFrameMagicMarker);
  writer.Append(AsBytes(kFrameMagic));
  msgpack::WriteInt<int32_t>(writer, static_cast<int32_t>(header.header_len));
  writer.U8(msgpack::kUint64);
  writer.Be(header.frame_size);
  writer.U8(kFlagsMarker);
  writer.U8(static_cast<uint8_t>(version | kOffsets64 | (variable ? kVariableChunks : 0) |
                                 (header.vlblocks ? kHeaderVlBlocks : 0)));
  writer.U8(static_cast<uint8_t>(header.layout));
  writer.U8(static_cast<uint8_t>(std::min(codec_id, kUserCodec) | (header.clevel << 4)));
  writer.U8(static_cast<uint8_t>(static_cast<int>(header.split_mode) - 1));
  msgpack::WriteInt<int64_t>(writer, header.nbytes);
  msgpack::WriteInt<int64_t>(writer, header.cbytes);
  msgpack::WriteInt<int32_t>(writer, header.typesize);
  msgpack::WriteInt<int32_t>(writer, header.blocksize);
  msgpack::WriteInt<int32_t>(writer, header.chunksize);
  msgpack::WriteInt<int16_t>(writer, 1);
  msgpack::WriteInt<int16_t>(writer, 1);
  writer.U8(header.has_vlmetalayers ? msgpack::kTrue : msgpack::kFalse);
  writer.U8(msgpack::kFixExt16);
  writer.U8(kMaxFilters);
  for (const FilterStage& stage : header.filters) writer.U8(static_cast<uint8_t>(stage.filter));
  writer.U8(codec_id);
  writer.U8(header.codec_meta);
  for (const FilterStage& stage : header.filters) writer.U8(stage.meta);
  writer.U8(header.use_dict ? kUseDict : uint8_t{0});
  writer.U8(0);
  return std::move(writer).Take();
}

std::vector<std::byte> EncodeNewHeader(FrameHeader& header) {
  std::vector<NamedBytes> layers;
  for (const Metalayer& layer : header.metalayers) layers.push_back({layer.name, layer.content});
  ByteWriter writer;
  writer.Zeros(kFixedHeaderSize);
  header.places = WriteLayers(layers, MapSizeOrigin::kArray, writer);
  header.header_len = static_cast<int64_t>(writer.size());
  CopyBytes(EncodeFixedHeader(header), writer.written());
  return std::move(writer).Take();
}

}  // namespace cairn::format
