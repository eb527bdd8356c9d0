#include "engine/format/b2nd.h"

#include "engine/base/byte_reader.h"
#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/format/msgpack.h"

namespace cairn::format {

namespace {

constexpr int kMaxDimensions = 16;
constexpr uint8_t kStr32 = 0xDB;

std::vector<int32_t> ReadExtents(ByteReader& reader, int ndim, std::string_view field) {
  reader.U8(field);  // an array of ndim; 16 does not fit its nibble and reads as another marker
  std::vector<int32_t> extents;
  for (int i = 0; i < ndim; ++i) extents.push_back(msgpack::ReadInt32(reader, field));
  return extents;
}

}  // namespace

absl::StatusOr<B2nd> ParseB2nd(Bytes content) {
  ByteReader reader(content, "metalayer b2nd");
  reader.U8("array");
  reader.U8("version");
  const int ndim = reader.U8("dimensions");
  if (reader.ok() && ndim > kMaxDimensions) {
    reader.Fail("dimensions", absl::StrFormat("expected up to %d, got %d", kMaxDimensions, ndim));
  }
  CAIRN_RETURN_IF_ERROR(reader.status());
  B2nd array;
  reader.U8("shape");
  for (int i = 0; i < ndim; ++i) array.shape.push_back(msgpack::ReadInt64(reader, "shape"));
  array.chunkshape = ReadExtents(reader, ndim, "chunkshape");
  array.blockshape = ReadExtents(reader, ndim, "blockshape");
  CAIRN_RETURN_IF_ERROR(reader.status());
  for (int i = 0; i < ndim; ++i) {
    const auto d = static_cast<size_t>(i);
    if (array.shape[d] < 0 || array.chunkshape[d] < 0 || array.blockshape[d] < 0 ||
        (array.shape[d] > 0 && (array.chunkshape[d] == 0 || array.blockshape[d] == 0))) {
      return DataLoss("metalayer b2nd: dimension %d has shape %d, chunks of %d, blocks of %d", i,
                      array.shape[d], array.chunkshape[d], array.blockshape[d]);
    }
  }
  if (reader.remaining() == 0) return array;
  reader.U8("dtype format");
  reader.Expect(kStr32, "dtype");
  const uint32_t size = reader.Be<uint32_t>("dtype length");
  array.dtype = AsText(reader.Take(size, "dtype"));
  CAIRN_RETURN_IF_ERROR(reader.status());
  return array;
}

}  // namespace cairn::format
