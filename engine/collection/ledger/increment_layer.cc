#include "engine/collection/ledger/increment_layer.h"

#include <utility>

#include "engine/base/binary_value.h"
#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/status.h"
#include "engine/collection/ledger/member_name.h"

namespace cairn::collection {

namespace {

constexpr uint32_t kIncrementVersion = 1;

void WriteNames(const std::vector<std::string>& names, ByteWriter& writer) {
  writer.Le(static_cast<uint32_t>(names.size()));
  for (const std::string& name : names) WriteName(name, writer);
}

std::vector<std::string> ReadNames(std::string_view field, ByteReader& reader) {
  std::vector<std::string> names;
  for (auto left = reader.Le<uint32_t>(field); left > 0 && reader.ok(); --left) {
    names.push_back(ReadName(reader));
  }
  return names;
}

}  // namespace

std::vector<std::byte> EncodeIncrementLayer(const IncrementLayer& layer) {
  ByteWriter writer = BeginBinary();
  writer.Le(kIncrementVersion);
  writer.Le(layer.info.base_hash, layer.info.result_hash, layer.info.base_generation,
            layer.info.result_generation);
  WriteNames(layer.removed, writer);
  writer.Le(static_cast<uint32_t>(layer.whole.size()));
  for (const WholeMember& member : layer.whole) {
    WriteName(member.name, writer);
    writer.U8(static_cast<uint8_t>(member.kind));
  }
  WriteNames(layer.changed, writer);
  return EndBinary(std::move(writer));
}

absl::StatusOr<IncrementLayer> ParseIncrementLayer(Bytes bytes) {
  ByteReader reader(bytes, kIncrementLayer);
  ReadBinaryHead(reader);
  const auto version = reader.Le<uint32_t>("version");
  CAIRN_RETURN_IF_ERROR(reader.status());
  if (version != kIncrementVersion) {
    return Unimplemented("%s: version %d; this Cairn reads version %d", kIncrementLayer, version,
                         kIncrementVersion);
  }
  IncrementLayer layer;
  layer.info.base_hash = reader.Le<uint64_t>("base");
  layer.info.result_hash = reader.Le<uint64_t>("result");
  layer.info.base_generation = reader.Le<uint64_t>("commit before");
  layer.info.result_generation = reader.Le<uint64_t>("commit");
  layer.removed = ReadNames("removed members", reader);
  for (auto left = reader.Le<uint32_t>("whole members"); left > 0 && reader.ok(); --left) {
    WholeMember& member = layer.whole.emplace_back();
    member.name = ReadName(reader);
    const uint8_t kind = reader.U8("kind");
    member.kind = static_cast<MemberKind>(kind);
    if (SuffixOf(member.kind).empty()) reader.Fail("kind", "unknown: %d", kind);
  }
  layer.changed = ReadNames("changed members", reader);
  if (reader.ok() && reader.remaining() > 0) {
    reader.Fail("end", "%d bytes too many", reader.remaining());
  }
  CAIRN_RETURN_IF_ERROR(reader.status());
  return layer;
}

}  // namespace cairn::collection
