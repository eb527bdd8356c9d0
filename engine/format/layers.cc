#include "engine/format/layers.h"

#include <algorithm>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/format/msgpack.h"

namespace cairn::format {

namespace {

constexpr int64_t kListOverhead = 1 + (1 + 2) + (1 + 2) + (1 + 2);
constexpr int64_t kNameOverhead = 1 + (1 + 4);

// Returns true if layers overlap. They must not, so that nobody who reads or copies all of them
// pays for the same bytes many times.
bool Overlap(std::vector<LayerPlace> layers) {
  std::ranges::sort(layers, {}, &LayerPlace::begin);
  const auto run_into = [](const LayerPlace& a, const LayerPlace& b) {
    return b.begin < a.begin + a.size;
  };
  return std::ranges::adjacent_find(layers, run_into) != layers.end();
}

// Returns the layers that share no byte with another one, in the order of their values.
std::vector<LayerPlace> WithoutOverlaps(std::vector<LayerPlace> layers) {
  std::ranges::sort(layers, {}, &LayerPlace::begin);
  std::vector<LayerPlace> alone;
  int64_t end = 0;  // end of the values so far
  for (size_t i = 0; i < layers.size(); ++i) {
    LayerPlace& layer = layers[i];
    const bool next_is_apart =
        i + 1 == layers.size() || layers[i + 1].begin >= layer.begin + layer.size;
    const bool is_alone = layer.begin >= end && next_is_apart;
    end = std::max(end, layer.begin + layer.size);
    if (is_alone) alone.push_back(std::move(layer));
  }
  return alone;
}

}  // namespace

Bytes ContentOf(const LayerPlace& place, Bytes around) {
  return around.subspan(static_cast<size_t>(place.begin), static_cast<size_t>(place.size));
}

const LayerPlace* FindLayer(const std::vector<LayerPlace>& layers, std::string_view name) {
  const auto layer = std::ranges::find(layers, name, &LayerPlace::name);
  return layer == layers.end() ? nullptr : &*layer;
}

std::vector<LayerPlace> ReadLayers(ByteReader& reader, int max_layers) {
  reader.Expect(msgpack::FixArray(3), "layers");
  reader.Expect(msgpack::kUint16, "map_size");
  reader.Be<uint16_t>("map_size");
  reader.Expect(msgpack::kMap16, "layer names");
  const uint16_t count = reader.Be<uint16_t>("layer count");
  reader.AtMost(count, max_layers, "layer count");
  std::vector<LayerPlace> layers;
  for (int i = 0; i < count && reader.ok(); ++i) {
    LayerPlace& layer = layers.emplace_back();
    layer.name = msgpack::ReadShortString(reader, "layer name");
    layer.begin = msgpack::ReadInt<int32_t>(reader, "layer offset");
    if (reader.ok() && layer.begin < 0) reader.Fail("layer offset", "is negative");
  }
  // A wrong count would hide layers, perhaps Cairn's own.
  reader.Expect(msgpack::kArray16, "layer values");
  const uint16_t values = reader.Be<uint16_t>("layer count");
  if (reader.ok() && values != count) {
    reader.Fail("layer count", "expected %d as of names, got %d", count, values);
  }
  const size_t values_begin = reader.offset();
  for (LayerPlace& layer : layers) {
    reader.Seek(static_cast<uint64_t>(layer.begin), "layer offset");
    reader.Expect(msgpack::kBin32, "layer content");
    layer.size = reader.Be<uint32_t>("layer length");
    layer.begin = static_cast<int64_t>(reader.offset());
    reader.Take(static_cast<uint64_t>(layer.size), "layer content");
    // The bytes before the values are ones that a writer changes for other reasons.
    if (reader.ok() && layer.begin < static_cast<int64_t>(values_begin)) {
      reader.Fail("layer offset", "leads before the values");
    }
  }
  if (reader.ok() && Overlap(layers)) reader.Fail("layer content", "layers overlap");
  reader.Seek(values_begin, "layer values");
  return layers;
}

std::vector<LayerPlace> ScanLayers(Bytes around, size_t from) {
  constexpr uint8_t kMaxFixStr = msgpack::kFixStr + 31;
  std::vector<LayerPlace> layers;
  // The end of the names. No value lies before it.
  constexpr size_t kMostNames = size_t{UINT16_MAX} * (kNameOverhead + 31);
  size_t end = std::min(around.size(), from + kMostNames);
  for (size_t at = from; at < end; ++at) {
    const auto head = std::to_integer<uint8_t>(around[at]);
    if (head < msgpack::kFixStr || head > kMaxFixStr) continue;
    ByteReader reader(around.subspan(at), "layer");
    LayerPlace layer;
    layer.name = msgpack::ReadShortString(reader, "layer name");
    const auto offset = static_cast<uint64_t>(msgpack::ReadInt<int32_t>(reader, "layer offset"));
    const size_t next = at + reader.offset();
    if (!reader.ok() || offset < next || !CheckLayerName(layer.name).ok()) continue;
    ByteReader value(around, "layer");
    value.Seek(offset, "layer offset");
    value.Expect(msgpack::kBin32, "layer content");
    layer.size = value.Be<uint32_t>("layer length");
    layer.begin = static_cast<int64_t>(value.offset());
    value.Take(static_cast<uint64_t>(layer.size), "layer content");
    if (!value.ok()) continue;
    layers.push_back(std::move(layer));
    end = std::min(end, static_cast<size_t>(offset));
    at = next - 1;
  }
  return WithoutOverlaps(std::move(layers));
}

LayerNames ScanLayerNames(Bytes around, size_t from) {
  LayerNames found;
  ByteReader reader(around.subspan(std::min(from, around.size())), "layers");
  reader.Expect(msgpack::FixArray(3), "layers");
  reader.Expect(msgpack::kUint16, "map_size");
  reader.Be<uint16_t>("map_size");
  reader.Expect(msgpack::kMap16, "layer names");
  const uint16_t count = reader.Be<uint16_t>("layer count");
  for (uint16_t i = 0; i < count && reader.ok(); ++i) {
    std::string name = msgpack::ReadShortString(reader, "layer name");
    msgpack::ReadInt<int32_t>(reader, "layer offset");
    if (reader.ok() && CheckLayerName(name).ok()) found.names.push_back(std::move(name));
  }
  reader.Expect(msgpack::kArray16, "layer values");
  const uint16_t values = reader.Be<uint16_t>("layer count");
  found.is_complete = reader.ok() && values == count;
  return found;
}

std::vector<LayerPlace> WriteLayers(std::span<const NamedBytes> layers, MapSizeOrigin origin,
                                    ByteWriter& writer) {
  int64_t names_size = 0;
  for (const NamedBytes& layer : layers) {
    names_size += kNameOverhead + static_cast<int64_t>(layer.name.size());
  }
  // The map ends where the array of values begins.
  const int64_t map_size = (origin == MapSizeOrigin::kArray ? 1 : 0) + 3 + 3 + names_size;
  int64_t at = static_cast<int64_t>(writer.size()) + kListOverhead + names_size;
  const auto count = static_cast<uint16_t>(layers.size());

  int64_t written = at;
  std::vector<LayerPlace> places;
  writer.U8(msgpack::FixArray(3));
  writer.U8(msgpack::kUint16);
  writer.Be(static_cast<uint16_t>(map_size));
  writer.U8(msgpack::kMap16);
  writer.Be(count);
  for (const NamedBytes& layer : layers) {
    writer.U8(static_cast<uint8_t>(msgpack::kFixStr | layer.name.size()));
    writer.Append(AsBytes(layer.name));
    msgpack::WriteInt<int32_t>(writer, static_cast<int32_t>(at));
    places.push_back(
        {std::string(layer.name), written + kValueOverhead, std::ssize(layer.content)});
    written += kValueOverhead + std::ssize(layer.content);
    at += kValueOverhead + layer.size();
  }
  writer.U8(msgpack::kArray16);
  writer.Be(count);
  for (const NamedBytes& layer : layers) {
    writer.U8(msgpack::kBin32);
    writer.Be(static_cast<uint32_t>(layer.size()));
    writer.Append(layer.content);
  }
  return places;
}

int64_t LayersSize(std::span<const NamedBytes> layers) {
  int64_t size = kListOverhead;
  for (const NamedBytes& layer : layers) {
    size += kNameOverhead + static_cast<int64_t>(layer.name.size()) + kValueOverhead + layer.size();
  }
  return size;
}

absl::Status CheckLayerName(std::string_view name) {
  if (name.size() > kMaxMetalayerName) {
    return InvalidArgument("name of a metalayer: at most %d bytes, got %d", kMaxMetalayerName,
                           name.size());
  }
  // C-Blosc2 takes a NUL for the end of the name, and then writes something that is not a frame.
  if (name.find('\0') != std::string_view::npos) {
    return InvalidArgument("name of a metalayer: has a NUL");
  }
  return absl::OkStatus();
}

}  // namespace cairn::format
