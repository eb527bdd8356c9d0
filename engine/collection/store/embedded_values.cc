#include "engine/collection/store/embedded_values.h"

#include <cstddef>
#include <utility>

#include "engine/base/byte_reader.h"
#include "engine/base/status.h"

namespace cairn::collection {

namespace {

// Values may be nested this deep: the layer nests three maps.
constexpr int kMostDepth = 16;

// Reads msgpack of any program: the same value has several forms.
class MsgpackReader {
 public:
  explicit MsgpackReader(Bytes bytes) : reader_(bytes, "store of values") {}

  bool ok() const { return reader_.ok(); }
  const absl::Status& status() const { return reader_.status(); }
  void Fail(std::string_view field, std::string_view problem) {
    reader_.Fail(field, "%s", problem);
  }
  bool at_end() const { return reader_.remaining() == 0; }

  // Each item takes a byte or more, so a count that passes what is left ends soon.
  uint64_t MapSize(std::string_view field) {
    const uint8_t marker = reader_.U8(field);
    if ((marker & 0xF0) == 0x80) return marker & 0x0F;
    if (marker == 0xDE) return reader_.Be<uint16_t>(field);
    if (marker == 0xDF) return reader_.Be<uint32_t>(field);
    reader_.Fail(field, "is no map");
    return 0;
  }

  std::string Text(std::string_view field) {
    const uint8_t marker = reader_.U8(field);
    uint64_t size = marker & 0x1F;
    if (marker == 0xD9) {
      size = reader_.U8(field);
    } else if (marker == 0xDA) {
      size = reader_.Be<uint16_t>(field);
    } else if (marker == 0xDB) {
      size = reader_.Be<uint32_t>(field);
    } else if ((marker & 0xE0) != 0xA0) {
      reader_.Fail(field, "is no text");
      return {};
    }
    const Bytes text = reader_.Take(size, field);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }

  // Reads a number that is not negative.
  int64_t Number(std::string_view field) {
    const uint8_t marker = reader_.U8(field);
    if (marker < 0x80) return marker;
    int64_t value = -1;
    if (marker == 0xCC) value = reader_.U8(field);
    if (marker == 0xCD) value = reader_.Be<uint16_t>(field);
    if (marker == 0xCE) value = reader_.Be<uint32_t>(field);
    if (marker == 0xCF || marker == 0xD3) value = reader_.Be<int64_t>(field);
    if (marker == 0xD0) value = reader_.Be<int8_t>(field);
    if (marker == 0xD1) value = reader_.Be<int16_t>(field);
    if (marker == 0xD2) value = reader_.Be<int32_t>(field);
    if (value < 0) reader_.Fail(field, "is no count");
    return value < 0 ? 0 : value;
  }

  void Skip(int depth = 0) {
    const uint8_t marker = reader_.U8("value");
    if (depth > kMostDepth) return reader_.Fail("value", "is nested too deep");
    const bool is_map = (marker & 0xF0) == 0x80 || marker == 0xDE || marker == 0xDF;
    const bool is_array = (marker & 0xF0) == 0x90 || marker == 0xDC || marker == 0xDD;
    if (!is_map && !is_array) return SkipPlain(marker);
    uint64_t count = marker & 0x0F;
    if (marker == 0xDC || marker == 0xDE) count = reader_.Be<uint16_t>("count");
    if (marker == 0xDD || marker == 0xDF) count = reader_.Be<uint32_t>("count");
    for (uint64_t left = is_map ? 2 * count : count; left > 0 && ok(); --left) Skip(depth + 1);
  }

 private:
  // Skips what follows the marker of a value without parts.
  void SkipPlain(uint8_t marker) {
    if (marker < 0x80 || marker >= 0xE0 || marker == 0xC0 || marker == 0xC2 || marker == 0xC3)
      return;
    uint64_t size = 0;
    if ((marker & 0xE0) == 0xA0) {
      size = marker & 0x1F;
    } else if (marker >= 0xCA && marker <= 0xD3) {
      constexpr uint8_t kSizes[] = {4, 8, 1, 2, 4, 8, 1, 2, 4, 8};
      size = kSizes[marker - 0xCA];
    } else if (marker >= 0xD4 && marker <= 0xD8) {
      size = 1 + (uint64_t{1} << (marker - 0xD4));
    } else if (marker >= 0xC4 && marker <= 0xC9) {
      const int width = (marker - 0xC4) % 3;
      size = SizeOfWidth(width) + (marker >= 0xC7 ? 1 : 0);
    } else if (marker >= 0xD9 && marker <= 0xDB) {
      size = SizeOfWidth(marker - 0xD9);
    } else {
      return reader_.Fail("value", "has an unknown type");
    }
    reader_.Take(size, "value");
  }

  uint64_t SizeOfWidth(int width) {
    if (width == 0) return reader_.U8("size");
    return width == 1 ? reader_.Be<uint16_t>("size") : reader_.Be<uint32_t>("size");
  }

  ByteReader reader_;
};

EmbeddedValue ReadValue(MsgpackReader& reader) {
  EmbeddedValue value;
  bool has_place = false;
  for (uint64_t left = reader.MapSize("value"); left > 0 && reader.ok(); --left) {
    const std::string key = reader.Text("key of a value");
    if (key == "offset") {
      value.offset = reader.Number("offset");
      has_place = true;
    } else if (key == "length") {
      value.length = reader.Number("length");
    } else {
      value.is_elsewhere = value.is_elsewhere || key == "urlbase";
      reader.Skip();
    }
  }
  if (!has_place && !value.is_elsewhere) reader.Fail("value", "has no offset");
  return value;
}

}  // namespace

absl::StatusOr<EmbeddedValues> ParseEmbeddedValues(Bytes layer) {
  MsgpackReader reader(layer);
  EmbeddedValues values;
  for (uint64_t left = reader.MapSize("layer"); left > 0 && reader.ok(); --left) {
    if (reader.Text("key") != "embed_map") {
      reader.Skip();
      continue;
    }
    for (uint64_t names = reader.MapSize("embed_map"); names > 0 && reader.ok(); --names) {
      std::string name = reader.Text("name");
      values.insert_or_assign(std::move(name), ReadValue(reader));
    }
  }
  if (reader.ok() && !reader.at_end()) reader.Fail("layer", "is followed by more");
  CAIRN_RETURN_IF_ERROR(reader.status());
  return values;
}

}  // namespace cairn::collection
