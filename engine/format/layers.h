// The list of named values that both header (metalayers) and trailer (vlmetalayers) hold:
//
//   93 | CD map_size | DE count, {name, D2 offset}… | DC count, {C6 length, content}…
//
// `offset` leads to the C6 of a value and counts from the start of the structure around the list.
#ifndef CAIRN_ENGINE_FORMAT_LAYERS_H_
#define CAIRN_ENGINE_FORMAT_LAYERS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "cairn/types.h"
#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"

namespace cairn::format {

// C6 length, before each value.
inline constexpr int64_t kValueOverhead = 1 + 4;

// A named value that lies at [begin, begin + size) of the structure around it.
struct LayerPlace {
  std::string name;
  int64_t begin = 0;
  int64_t size = 0;
};

// The value, in the structure around the list.
Bytes ContentOf(const LayerPlace& place, Bytes around);
// Null when there is none of the name.
const LayerPlace* FindLayer(const std::vector<LayerPlace>& layers, std::string_view name);

// Reads the list at the reader's place. Values are found by their offsets, which may lead anywhere
// inside the structure, so the reader ends where the values should begin.
std::vector<LayerPlace> ReadLayers(ByteReader& reader, int max_layers);

// The layers of a list that is damaged, `from` bytes into the structure `around` it: those whose
// name and offset lead to a value that fits. The damage may have hidden any other, and made up a
// name.
std::vector<LayerPlace> ScanLayers(Bytes around, size_t from);

struct NamedBytes {
  std::string_view name;
  Bytes content;
  int64_t omitted = 0;  // bytes of the content that the caller puts after these

  int64_t size() const { return std::ssize(content) + omitted; }
};

// From where map_size counts: the header's from the 93, the trailer's from the CD after it.
enum class MapSizeOrigin { kArray, kMapSize };

// Appends the list; `writer` began with the structure around it. Returns where the values lie in
// what was written.
std::vector<LayerPlace> WriteLayers(std::span<const NamedBytes> layers, MapSizeOrigin origin,
                                    ByteWriter& writer);

// Bytes that WriteLayers will append.
int64_t LayersSize(std::span<const NamedBytes> layers);

// kInvalidArgument for a name that the format cannot hold.
absl::Status CheckLayerName(std::string_view name);

}  // namespace cairn::format

#endif  // CAIRN_ENGINE_FORMAT_LAYERS_H_
