#include "engine/blosc2_api/chunks/array_shape.h"

#include <span>
#include <string_view>

#include "engine/base/byte_reader.h"
#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/blosc2_api/files/frame_store.h"

namespace cairn::blosc2_api {

namespace {

// Each number follows a marker of its type, and all follow one of their count.
template <typename T>
void ReadExtents(ByteReader& reader, std::string_view field, std::span<T> extents) {
  reader.U8(field);
  for (T& extent : extents) {
    reader.U8(field);
    extent = reader.Be<T>(field);
  }
}

}  // namespace

absl::StatusOr<ArrayLayer> ReadArrayLayer(Bytes content, bool with_dtype) {
  constexpr uint8_t kText = 0xDB;
  ByteReader reader(content, "metalayer b2nd");
  ArrayLayer layer;
  reader.U8("array");
  reader.U8("version");
  const uint8_t ndim = reader.U8("dimensions");
  reader.AtMost(ndim, B2ND_MAX_DIM, "dimensions");
  CAIRN_RETURN_IF_ERROR(reader.status());
  layer.ndim = static_cast<int8_t>(ndim);
  ReadExtents(reader, "shape", std::span(layer.shape).first(ndim));
  ReadExtents(reader, "chunkshape", std::span(layer.chunkshape).first(ndim));
  ReadExtents(reader, "blockshape", std::span(layer.blockshape).first(ndim));
  if (with_dtype && reader.remaining() > 0) {
    layer.dtype_format = static_cast<int8_t>(reader.U8("dtype format"));
    reader.Expect(kText, "dtype");
    const auto length = reader.Be<uint32_t>("dtype length");
    layer.dtype = AsText(reader.Take(length, "dtype"));
  }
  CAIRN_RETURN_IF_ERROR(reader.status());
  layer.nbytes = static_cast<int>(content.size()) - static_cast<int>(reader.remaining());
  return layer;
}

std::vector<int32_t> BlockshapeOf(const blosc2_schunk* schunk) {
  if (schunk == nullptr) return {};
  const FieldsLock lock(*schunk);
  for (int i = 0; i < schunk->nmetalayers; ++i) {
    const blosc2_metalayer& layer = *schunk->metalayers[i];
    const std::string_view name = layer.name;
    if (name != "b2nd" && name != "caterva") continue;
    const auto read = ReadArrayLayer(BytesAt(layer.content, layer.content_len), false);
    if (!read.ok()) return {};
    return {read->blockshape.begin(), read->blockshape.begin() + read->ndim};
  }
  return {};
}

}  // namespace cairn::blosc2_api
