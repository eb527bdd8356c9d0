#include "engine/format/frame_header.h"

#include <algorithm>
#include <string_view>

#include "engine/base/byte_reader.h"
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
constexpr uint8_t kVlBlocks = 0x80;

// A codec nibble from which on byte 0x4D holds the id.
constexpr uint8_t kUserCodec = 6;
constexpr uint8_t kSplitModeMask = 0x03;
constexpr uint8_t kUseDict = 0x01;

void ReadMagic(ByteReader& reader) {
  const uint8_t array = reader.U8("array");
  reader.Expect(kFrameMagicMarker, "magic");
  const Bytes magic = reader.Take(kFrameMagic.size(), "magic");
  if (!reader.ok()) return;
  if (AsText(magic) != kFrameMagic) return reader.Fail("magic", "is not \"b2frame\"");
  if (array != kArray) {
    reader.Fail("array", absl::StrFormat("expected 0x%02x, got 0x%02x", kArray, array));
  }
}

int64_t ReadHeaderLength(ByteReader& reader) {
  const int32_t length = msgpack::ReadInt32(reader, "header_len");
  if (reader.ok() && length < kFixedHeaderSize) {
    reader.Fail("header_len",
                absl::StrFormat("expected at least %d, got %d", kFixedHeaderSize, length));
  }
  return length;
}

struct Flags {
  uint8_t general = 0;
  uint8_t frame_type = 0;
  uint8_t codec = 0;
  uint8_t other = 0;
};

Flags ReadFlags(ByteReader& reader) {
  reader.Expect(kFlagsMarker, "flags");
  Flags flags;
  flags.general = reader.U8("general_flags");
  flags.frame_type = reader.U8("frame_type");
  flags.codec = reader.U8("codec_flags");
  flags.other = reader.U8("other_flags");
  return flags;
}

void ReadSizes(ByteReader& reader, FrameHeader& header) {
  header.nbytes = msgpack::ReadInt64(reader, "nbytes");
  header.cbytes = msgpack::ReadInt64(reader, "cbytes");
  header.typesize = msgpack::ReadInt32(reader, "typesize");
  header.blocksize = msgpack::ReadInt32(reader, "blocksize");
  header.chunksize = msgpack::ReadInt32(reader, "chunksize");
  msgpack::ReadInt16(reader, "nthreads_comp");
  msgpack::ReadInt16(reader, "nthreads_decomp");
  const uint8_t has_vlmetalayers = reader.U8("vlmetalayers");
  header.has_vlmetalayers = has_vlmetalayers == msgpack::kTrue;
}

void ReadPipeline(ByteReader& reader, FrameHeader& header, Flags flags) {
  reader.Expect(msgpack::kFixExt16, "filters");
  const uint8_t count = reader.U8("filter count");
  if (reader.ok() && count > kMaxFilters) {
    reader.Fail("filter count", absl::StrFormat("expected up to %d, got %d", kMaxFilters, count));
  }
  const Bytes ids = reader.Take(kMaxFilters, "filter ids");
  const uint8_t codec_id = reader.U8("udcodec");
  header.codec_meta = reader.U8("compcode_meta");
  const Bytes metas = reader.Take(kMaxFilters, "filter metas");
  header.use_dict = (reader.U8("other_flags2") & kUseDict) != 0;
  reader.U8("padding");
  if (!reader.ok()) return;
  for (size_t i = 0; i < count; ++i) {
    header.filters[i] = {static_cast<Filter>(ids[i]), std::to_integer<uint8_t>(metas[i])};
  }
  const uint8_t nibble = flags.codec & 0x0F;
  header.codec = static_cast<Codec>(nibble < kUserCodec ? nibble : codec_id);
  header.clevel = flags.codec >> 4;
  header.split_mode = static_cast<SplitMode>((flags.other & kSplitModeMask) + 1);
}

absl::Status CheckFlags(const FrameHeader& header, Flags flags) {
  if (header.version > kFrameVersionVariable) {
    return Unimplemented("frame header: version %d is newer than %d", header.version,
                         kFrameVersionVariable);
  }
  if (flags.frame_type > static_cast<uint8_t>(Layout::kSparse)) {
    return Unimplemented("frame header: frame_type %d is not known", flags.frame_type);
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<int64_t> FrameHeader::index_begin() const {
  const bool chunks_before = layout == Layout::kContiguous && nbytes > 0;
  return CheckedAdd(header_len, chunks_before ? cbytes : 0);
}

absl::Status CheckHeaderValues(const FrameHeader& header) {
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

void TakeMetalayers(Bytes bytes, FrameHeader& header) {
  for (const LayerPlace& place : header.places) {
    header.metalayers.push_back({place.name, ToVector(ContentOf(place, bytes))});
  }
}

absl::StatusOr<int64_t> ParseHeaderLength(Bytes bytes) {
  ByteReader reader(bytes, kFrameHeaderSection);
  ReadMagic(reader);
  const int64_t length = ReadHeaderLength(reader);
  CAIRN_RETURN_IF_ERROR(reader.status());
  return length;
}

absl::StatusOr<FrameHeader> ParseFrameHeader(Bytes bytes) {
  FrameHeader header;
  CAIRN_ASSIGN_OR_RETURN(header.header_len, ParseHeaderLength(bytes));
  if (header.header_len > static_cast<int64_t>(bytes.size())) {
    return DataLoss("frame header: header_len %d passes the %d bytes that there are",
                    header.header_len, bytes.size());
  }
  // Nothing of the header lies outside header_len.
  bytes = bytes.first(static_cast<size_t>(header.header_len));
  ByteReader reader(bytes, kFrameHeaderSection);
  ReadMagic(reader);
  ReadHeaderLength(reader);
  reader.Expect(msgpack::kUint64, "frame_size");
  header.frame_size = static_cast<int64_t>(reader.Be<uint64_t>("frame_size"));
  const Flags flags = ReadFlags(reader);
  header.version = flags.general & kVersionMask;
  header.vlblocks = (flags.general & kVlBlocks) != 0;
  header.layout = static_cast<Layout>(flags.frame_type);
  ReadSizes(reader, header);
  ReadPipeline(reader, header, flags);
  CAIRN_RETURN_IF_ERROR(reader.status());
  CAIRN_RETURN_IF_ERROR(CheckFlags(header, flags));
  CAIRN_RETURN_IF_ERROR(CheckHeaderValues(header));
  header.places = ReadLayers(reader, kMaxMetalayers);
  CAIRN_RETURN_IF_ERROR(reader.status());
  TakeMetalayers(bytes, header);
  return header;
}

std::vector<std::byte> EncodeFixedHeader(const FrameHeader& header) {
  const bool variable = header.variable_chunks();
  const int version = variable || header.vlblocks ? kFrameVersionVariable : kFrameVersion;
  const auto codec_id = static_cast<uint8_t>(header.codec);
  ByteWriter writer;
  writer.U8(kArray);
  writer.U8(kFrameMagicMarker);
  writer.Append(AsBytes(kFrameMagic));
  msgpack::WriteInt32(writer, static_cast<int32_t>(header.header_len));
  writer.U8(msgpack::kUint64);
  writer.Be(static_cast<uint64_t>(header.frame_size));
  writer.U8(kFlagsMarker);
  writer.U8(static_cast<uint8_t>(version | kOffsets64 | (variable ? kVariableChunks : 0) |
                                 (header.vlblocks ? kVlBlocks : 0)));
  writer.U8(static_cast<uint8_t>(header.layout));
  writer.U8(static_cast<uint8_t>(std::min(codec_id, kUserCodec) | (header.clevel << 4)));
  writer.U8(static_cast<uint8_t>(static_cast<int>(header.split_mode) - 1));
  msgpack::WriteInt64(writer, header.nbytes);
  msgpack::WriteInt64(writer, header.cbytes);
  msgpack::WriteInt32(writer, header.typesize);
  msgpack::WriteInt32(writer, header.blocksize);
  msgpack::WriteInt32(writer, header.chunksize);
  msgpack::WriteInt16(writer, 1);
  msgpack::WriteInt16(writer, 1);
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
  header.header_len = kFixedHeaderSize + LayersSize(layers);
  ByteWriter writer;
  writer.Append(EncodeFixedHeader(header));
  header.places = WriteLayers(layers, MapSizeOrigin::kArray, writer);
  return std::move(writer).Take();
}

}  // namespace cairn::format
