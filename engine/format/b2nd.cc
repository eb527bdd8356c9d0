#include "engine/format/b2nd.h"

#include <algorithm>
#include <utility>

#include "engine/base/byte_reader.h"
#include "engine/base/byte_writer.h"
#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/format/msgpack.h"

namespace cairn::format {

namespace {

constexpr int kFields = 7;
constexpr uint8_t kLayerVersion = 0;
constexpr uint8_t kStr32 = 0xDB;

template <typename T>
std::vector<T> ReadExtents(ByteReader& reader, int ndim, std::string_view field) {
  reader.U8(field);  // an array of ndim; 16 does not fit its nibble and reads as another marker
  std::vector<T> extents;
  for (int i = 0; i < ndim; ++i) extents.push_back(msgpack::ReadInt<T>(reader, field));
  return extents;
}

template <typename T>
void WriteExtents(ByteWriter& writer, const std::vector<T>& extents) {
  writer.U8(msgpack::FixArray(static_cast<int>(extents.size())));
  for (const T extent : extents) msgpack::WriteInt<T>(writer, extent);
}

absl::Status CheckExtents(const ArrayInfo& array) {
  for (size_t d = 0; d < array.shape.size(); ++d) {
    if (array.shape[d] < 0 || array.chunkshape[d] < 0 || array.blockshape[d] < 0 ||
        (array.shape[d] > 0 && (array.chunkshape[d] == 0 || array.blockshape[d] == 0))) {
      return DataLoss("metalayer b2nd: dimension %d has shape %d, chunks of %d, blocks of %d", d,
                      array.shape[d], array.chunkshape[d], array.blockshape[d]);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ArrayInfo> ParseB2nd(Bytes content) {
  ByteReader reader(content, "metalayer b2nd");
  reader.U8("array");
  reader.U8("version");
  const int ndim = reader.U8("dimensions");
  reader.AtMost(ndim, kMaxB2ndDimensions, "dimensions");
  CAIRN_RETURN_IF_ERROR(reader.status());
  ArrayInfo array;
  array.shape = ReadExtents<int64_t>(reader, ndim, "shape");
  array.chunkshape = ReadExtents<int32_t>(reader, ndim, "chunkshape");
  array.blockshape = ReadExtents<int32_t>(reader, ndim, "blockshape");
  CAIRN_RETURN_IF_ERROR(reader.status());
  CAIRN_RETURN_IF_ERROR(CheckExtents(array));
  if (reader.remaining() == 0) return array;
  array.dtype_format = reader.U8("dtype format");
  reader.Expect(kStr32, "dtype");
  array.dtype = AsText(reader.Take(reader.Be<uint32_t>("dtype length"), "dtype"));
  CAIRN_RETURN_IF_ERROR(reader.status());
  return array;
}

std::vector<std::byte> EncodeB2nd(const ArrayInfo& array) {
  ByteWriter writer;
  writer.U8(msgpack::FixArray(kFields));
  writer.U8(kLayerVersion);
  writer.U8(static_cast<uint8_t>(array.shape.size()));
  WriteExtents(writer, array.shape);
  WriteExtents(writer, array.chunkshape);
  WriteExtents(writer, array.blockshape);
  writer.U8(array.dtype_format);
  writer.U8(kStr32);
  writer.Be(static_cast<uint32_t>(array.dtype.size()));
  writer.Append(AsBytes(array.dtype));
  return std::move(writer).Take();
}

std::vector<std::byte> WithShape(Bytes content, std::span<const int64_t> shape) {
  constexpr size_t kShapeBegin = 3 + 1;  // after the dimensions and the marker of the shape
  ByteWriter writer;
  writer.Append(content.first(kShapeBegin));
  for (const int64_t extent : shape) msgpack::WriteInt<int64_t>(writer, extent);
  writer.Append(content.subspan(writer.size()));
  return std::move(writer).Take();
}

const Metalayer* FindB2ndLayer(const std::vector<Metalayer>& metalayers) {
  for (const std::string_view name : {kB2ndLayer, kCatervaLayer}) {
    const auto layer = std::ranges::find(metalayers, name, &Metalayer::name);
    if (layer != metalayers.end()) return &*layer;
  }
  return nullptr;
}

absl::StatusOr<ArrayInfo> FindB2nd(const std::vector<Metalayer>& metalayers) {
  const Metalayer* const layer = FindB2ndLayer(metalayers);
  if (layer != nullptr) return ParseB2nd(layer->content);
  return absl::NotFoundError("the frame holds no n-dimensional array");
}

}  // namespace cairn::format
