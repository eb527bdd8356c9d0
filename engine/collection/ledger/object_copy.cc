#include "engine/collection/ledger/object_copy.h"

#include <utility>

#include "engine/base/binary_value.h"
#include "engine/base/status.h"
#include "engine/collection/ledger/member_name.h"
#include "engine/format/sparse_names.h"

namespace cairn::collection {

namespace {

constexpr uint32_t kCopiesVersion = 1;
constexpr size_t kLeastCopy = 2 + 2 + 8 + 1 + 8 + 4;

ObjectCopy ReadCopy(ByteReader& reader) {
  ObjectCopy copy{.member = ReadName(reader)};
  copy.id = reader.Le<uint64_t>("id");
  const uint8_t kind = reader.U8("kind of an object");
  copy.kind = static_cast<ObjectCopy::Kind>(kind);
  if (kind > static_cast<uint8_t>(ObjectCopy::Kind::kChunk)) {
    reader.Fail("kind of an object", "unknown: %d", kind);
  }
  copy.number = reader.Le<uint64_t>("number of an object");
  const bool is_chunk = copy.kind == ObjectCopy::Kind::kChunk;
  if (is_chunk && copy.number > uint64_t{format::kMaxChunkFileNumber}) {
    reader.Fail("number of an object", "%d", copy.number);
  }
  const auto size = reader.Le<uint32_t>("size of an object");
  const Bytes bytes = reader.Take(size, "object");
  copy.bytes.assign(bytes.begin(), bytes.end());
  return copy;
}

}  // namespace

void WriteCopies(const ObjectCopies& copies, ByteWriter& writer) {
  writer.Le(static_cast<uint32_t>(copies.size()));
  for (const ObjectCopy& copy : copies) {
    WriteName(copy.member, writer);
    writer.Le(copy.id);
    writer.U8(static_cast<uint8_t>(copy.kind));
    writer.Le(copy.number, static_cast<uint32_t>(copy.bytes.size()));
    writer.Append(copy.bytes);
  }
}

ObjectCopies ReadCopies(ByteReader& reader) {
  const auto count = reader.Le<uint32_t>("copies");
  if (reader.ok() && count > reader.remaining() / kLeastCopy) {
    reader.Fail("copies", "%d of them", count);
  }
  ObjectCopies copies;
  for (uint32_t i = 0; i < count && reader.ok(); ++i) copies.push_back(ReadCopy(reader));
  return copies;
}

std::vector<std::byte> EncodeCopies(const ObjectCopies& copies) {
  ByteWriter writer = BeginBinary();
  writer.Le(kCopiesVersion);
  WriteCopies(copies, writer);
  return EndBinary(std::move(writer));
}

absl::StatusOr<ObjectCopies> ParseCopies(Bytes layer) {
  ByteReader reader(layer, kCopiesLayer);
  ReadBinaryHead(reader);
  const auto version = reader.Le<uint32_t>("version");
  CAIRN_RETURN_IF_ERROR(reader.status());
  if (version != kCopiesVersion) {
    return Unimplemented("%s: version %d; this Cairn reads version %d", kCopiesLayer, version,
                         kCopiesVersion);
  }
  ObjectCopies copies = ReadCopies(reader);
  if (reader.ok() && reader.remaining() > 0) {
    reader.Fail("end", "%d bytes too many", reader.remaining());
  }
  CAIRN_RETURN_IF_ERROR(reader.status());
  return copies;
}

}  // namespace cairn::collection
