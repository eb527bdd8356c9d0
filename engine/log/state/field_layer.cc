#include "engine/log/state/field_layer.h"

#include <limits>
#include <span>
#include <utility>

#include "absl/container/flat_hash_set.h"

#include "engine/base/binary_value.h"
#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/status.h"

namespace cairn::log {

namespace {

constexpr uint32_t kFieldMagic = 0x46474C43;  // "CLGF"
constexpr uint32_t kFieldVersion = 1;
constexpr uint64_t kMaxFields = 65'535;  // each has a byte of the record
constexpr uint64_t kMaxFirst = std::numeric_limits<int64_t>::max();

}  // namespace

absl::StatusOr<std::vector<FieldFact>> ParseFieldLayer(Bytes content) {
  ByteReader reader(content, "fields");
  ReadHeadIfAny(reader);
  if (reader.Le<uint32_t>("magic") != kFieldMagic) reader.Fail("magic", "not that of fields");
  const auto version = reader.Le<uint32_t>("version");
  if (reader.ok() && version != kFieldVersion) {
    return Unimplemented("fields of a log: version %d, this Cairn knows %d", version,
                         kFieldVersion);
  }
  const uint64_t count = reader.Varint("fields");
  if (count > kMaxFields) reader.Fail("fields", "too many");
  std::vector<FieldFact> fields;
  absl::flat_hash_set<std::string> names;
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    FieldFact field;
    for (const std::byte c : reader.Take(reader.Varint("length of a name"), "name")) {
      field.name.push_back(static_cast<char>(c));
    }
    const uint8_t kind = reader.U8("kind");
    if (kind > 1) reader.Fail("kind", "none that this Cairn knows");
    field.is_text = kind == 1;
    const uint64_t begin = reader.Varint("first record");
    if (begin > kMaxFirst) reader.Fail("first record", "after the greatest number");
    if (!names.insert(field.name).second) reader.Fail("name", "is there twice");
    field.begin = static_cast<int64_t>(begin & kMaxFirst);
    fields.push_back(std::move(field));
  }
  if (reader.remaining() > 0) reader.Fail("fields", "bytes after the last");
  CAIRN_RETURN_IF_ERROR(reader.status());
  return fields;
}

std::vector<std::byte> EncodeFieldLayer(const std::vector<FieldFact>& fields) {
  ByteWriter writer = BeginBinary();
  writer.Le(kFieldMagic);
  writer.Le(kFieldVersion);
  writer.Varint(fields.size());
  for (const FieldFact& field : fields) {
    writer.Varint(field.name.size());
    writer.Append(std::as_bytes(std::span(field.name)));
    writer.U8(field.is_text ? 1 : 0);
    writer.Varint(static_cast<uint64_t>(field.begin));
  }
  return EndBinary(std::move(writer));
}

}  // namespace cairn::log
