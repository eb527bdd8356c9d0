#include "engine/format/legacy/packed.h"

#include <algorithm>

#include "engine/base/byte_reader.h"
#include "engine/base/status.h"

namespace cairn::format::legacy {

namespace {

constexpr std::string_view kSection = "packed super-chunk";
constexpr uint16_t kMaxCodec = 5;
constexpr uint16_t kMaxLevel = 9;
constexpr int kFilterBits = 3;
constexpr uint16_t kFilterMask = (1 << kFilterBits) - 1;
constexpr uint16_t kMaxFilter = static_cast<uint16_t>(Filter::kDelta);

// Reads a number that must not exceed `most`.
uint16_t ReadUpTo(ByteReader& reader, uint16_t most, std::string_view field) {
  const uint16_t value = reader.Le<uint16_t>(field);
  reader.AtMost(value, most, field);
  return value;
}

void ReadFilters(ByteReader& reader, PackedHeader& header) {
  uint16_t bits = reader.Le<uint16_t>("filters");
  for (Filter& filter : header.filters) {
    const uint16_t id = bits & kFilterMask;
    if (reader.ok() && id > kMaxFilter) {
      reader.Fail("filters", "filter %d is not known", id);
    }
    filter = static_cast<Filter>(id);
    bits = static_cast<uint16_t>(bits >> kFilterBits);
  }
  if (reader.ok() && bits != 0) reader.Fail("filters", "the last bit is set");
}

// Checks that the chunks without data lie before those with data, in the order of their fields.
absl::Status CheckPositions(const PackedHeader& header) {
  int64_t last = 0;
  for (const int64_t position :
       {header.filters_chunk, header.codec_chunk, header.metadata_chunk, header.userdata_chunk}) {
    if (position == 0) continue;
    const bool first = last == 0;
    if (first ? position != kPackedHeaderSize : position <= last) {
      return DataLoss("%s: a chunk at byte %d behind byte %d", kSection, position,
                      first ? kPackedHeaderSize : last);
    }
    last = position;
  }
  if (last < header.table || last == 0) return absl::OkStatus();
  return DataLoss("%s: a chunk at byte %d, behind the end %d of the chunks", kSection, last,
                  header.table);
}

absl::Status CheckSizes(const PackedHeader& header, int64_t size) {
  if (header.size != size) {
    return DataLoss("%s: cbytes: expected %d, got %d", kSection, size, header.size);
  }
  const int64_t most = (size - kPackedHeaderSize) / kPackedEntrySize;
  if (header.nchunks < 0 || header.nchunks > most) {
    return DataLoss("%s: nchunks: expected 0 to %d, got %d", kSection, most, header.nchunks);
  }
  const int64_t table = size - kPackedEntrySize * header.nchunks;
  if (header.table != table) {
    return DataLoss("%s: table: expected at byte %d, got %d", kSection, table, header.table);
  }
  return CheckPositions(header);
}

}  // namespace

absl::StatusOr<PackedHeader> ParsePackedHeader(Bytes bytes, int64_t size) {
  PackedHeader header;
  if (static_cast<int64_t>(bytes.size()) < kPackedHeaderSize || size < kPackedHeaderSize) {
    return DataLoss("%s: needs %d bytes, got %d", kSection, kPackedHeaderSize, bytes.size());
  }
  ByteReader reader(bytes, kSection);
  for (const std::string_view field : {"version", "flags", "flags", "flags"}) {
    reader.Expect(0, field);
  }
  header.codec = static_cast<Codec>(ReadUpTo(reader, kMaxCodec, "compressor"));
  header.clevel = ReadUpTo(reader, kMaxLevel, "clevel");
  ReadFilters(reader, header);
  reader.Le<uint16_t>("filters_meta");
  reader.Le<uint32_t>("chunksize");
  header.nchunks = reader.Le<int64_t>("nchunks");
  header.unpacked = reader.Le<int64_t>("nbytes");
  header.size = reader.Le<int64_t>("cbytes");
  header.filters_chunk = reader.Le<int64_t>("filters chunk");
  header.codec_chunk = reader.Le<int64_t>("codec chunk");
  header.metadata_chunk = reader.Le<int64_t>("metadata chunk");
  header.userdata_chunk = reader.Le<int64_t>("userdata chunk");
  header.table = reader.Le<int64_t>("table");
  CAIRN_RETURN_IF_ERROR(reader.status());
  CAIRN_RETURN_IF_ERROR(CheckSizes(header, size));
  return header;
}

absl::StatusOr<chunk::Header> ParsePackedChunk(Bytes bytes, int64_t available) {
  // Chunks of that time have the short header whatever their flags say.
  const size_t size = std::min<size_t>(bytes.size(), chunk::kBlosc1HeaderSize);
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header,
                         chunk::ParseHeader(bytes.first(size), available));
  if (header.version != chunk::kVersionBlosc1 || bytes[1] != std::byte{1}) {
    return DataLoss("chunk header: version: expected %d.1, got %d.%d", chunk::kVersionBlosc1,
                    header.version, std::to_integer<int>(bytes[1]));
  }
  return header;
}

}  // namespace cairn::format::legacy
