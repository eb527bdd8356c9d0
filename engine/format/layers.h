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

// Each value begins with C6 and its length.
inline constexpr int64_t kValueOverhead = 1 + 4;

// A named value that lies at [begin, begin + size) of the structure around it.
struct LayerPlace {
  std::string name;
  int64_t begin = 0;
  int64_t size = 0;
};

// Returns the value, in the structure around the list.
Bytes ContentOf(const LayerPlace& place, Bytes around);
// Returns null if no layer has the name.
const LayerPlace* FindLayer(const std::vector<LayerPlace>& layers, std::string_view name);

// Reads the list at the reader's place. Values are found by their offsets, which may lead anywhere
// inside the structure, so the reader ends where the values should begin.
std::vector<LayerPlace> ReadLayers(ByteReader& reader, int max_layers);

// Finds the layers of a damaged list, `from` bytes into the structure `around` it: those whose name
// and offset lead to a value that fits. The damage may have hidden any other layer, and made up a
// name.
std::vector<LayerPlace> ScanLayers(Bytes around, size_t from);

struct LayerNames {
  std::vector<std::string> names;
  bool is_complete = false;  // there are no more
};
// Reads the names at the begin of a damaged list, as far as they can be read, `from` bytes into the
// structure `around` it.
LayerNames ScanLayerNames(Bytes around, size_t from);

struct NamedBytes {
  std::string_view name;
  Bytes content;
  int64_t omitted = 0;  // bytes of the content that the caller puts after these

  int64_t size() const { return std::ssize(content) + omitted; }
};

// The place from which map_size counts: the 93 in the header, the CD after it in the trailer.
enum class MapSizeOrigin { kArray, kMapSize };

// Appends the list. `writer` began with the structure around it. Returns the places of the values
// in the written bytes.
std::vector<LayerPlace> WriteLayers(std::span<const NamedBytes> layers, MapSizeOrigin origin,
                                    ByteWriter& writer);

// Returns the number of bytes that WriteLayers will append.
int64_t LayersSize(std::span<const NamedBytes> layers);

// Errors: kInvalidArgument if the format cannot hold the name.
absl::Status CheckLayerName(std::string_view name);

}  // namespace cairn::format

#endif  // CAIRN_ENGINE_FORMAT_LAYERS_H_
