#include "engine/log/state/log_layer.h"

#include <algorithm>
#include <span>
#include <utility>

#include "engine/base/binary_value.h"
#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/status.h"

namespace cairn::log {

namespace {

constexpr uint32_t kMagic = 0x474F4C43;  // "CLOG"
constexpr uint32_t kVersion = 1;

int64_t ReadCount(ByteReader& reader, std::string_view field) {
  const auto value = reader.Le<int64_t>(field);
  if (value < 0) reader.Fail(field, "less than 0");
  return value;
}

}  // namespace

absl::StatusOr<std::string> TimeNameOf(const Schema& schema, const Field* time) {
  if (time == nullptr) return "";
  if (time->name.size() <= kMaxTimeName) return time->name;
  const auto first = std::ranges::find(schema.fields(), FieldType::kTimestamp, &Field::type);
  if (first != schema.fields().end() && first->name == time->name) return "";
  return InvalidArgument("log: the name of the time field has %d bytes, at most %d can be stored",
                         time->name.size(), kMaxTimeName);
}

absl::Status CheckLimits(const Retention& retention, const Rotation& rotation) {
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("log: retention: max_age", retention.max_age));
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("log: retention: max_records", retention.max_records));
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("log: retention: max_bytes", retention.max_bytes));
  CAIRN_RETURN_IF_ERROR(CheckNotNegative("log: rotation: max_bytes", rotation.max_bytes));
  return CheckNotNegative("log: rotation: period", rotation.period);
}

absl::StatusOr<LogLayer> ParseLogLayer(Bytes content) {
  ByteReader reader(content, "log");
  ReadHeadIfAny(reader);
  if (reader.Le<uint32_t>("magic") != kMagic) reader.Fail("magic", "not that of a log");
  const auto version = reader.Le<uint32_t>("version");
  if (reader.ok() && version != kVersion) {
    return Unimplemented("log: version %d, this Cairn knows %d", version, kVersion);
  }
  LogLayer layer;
  layer.first_record = ReadCount(reader, "first record");
  layer.retention.max_age = ReadCount(reader, "most age");
  layer.retention.max_records = ReadCount(reader, "most records");
  layer.retention.max_bytes = ReadCount(reader, "most bytes");
  layer.rotation.max_bytes = ReadCount(reader, "bytes of a file");
  layer.rotation.period = ReadCount(reader, "period of a file");
  layer.ended = reader.U8("ended") != 0;
  for (const std::byte c : reader.Take(reader.U8("length of a name"), "time field")) {
    layer.time_field.push_back(static_cast<char>(c));
  }
  if (reader.remaining() > 0) reader.Fail("time field", "bytes after it");
  CAIRN_RETURN_IF_ERROR(reader.status());
  return layer;
}

std::vector<std::byte> EncodeLogLayer(const LogLayer& layer) {
  ByteWriter writer = BeginBinary();
  writer.Le(kMagic);
  writer.Le(kVersion);
  writer.Le(layer.first_record);
  writer.Le(layer.retention.max_age);
  writer.Le(layer.retention.max_records);
  writer.Le(layer.retention.max_bytes);
  writer.Le(layer.rotation.max_bytes);
  writer.Le(layer.rotation.period);
  writer.U8(layer.ended ? 1 : 0);
  writer.U8(static_cast<uint8_t>(layer.time_field.size()));
  writer.Append(std::as_bytes(std::span(layer.time_field)));
  return EndBinary(std::move(writer));
}

}  // namespace cairn::log
