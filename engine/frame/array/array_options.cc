#include "engine/frame/array/array_options.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "cairn/dtype.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/chunk/encode_options.h"
#include "engine/codec/codec_set.h"
#include "engine/format/b2nd.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/array/array_geometry.h"
#include "engine/frame/array/item_columns.h"

namespace cairn::frame {

namespace {

absl::Status CheckType(const ArrayInfo& array, int32_t typesize) {
  constexpr size_t kMaxSize = 1 << 20;
  if (array.dtype_format > 127) {
    return InvalidArgument("array: dtype_format: expected 0 to 127, got %d", array.dtype_format);
  }
  if (array.dtype.size() > kMaxSize) {
    return InvalidArgument("array: dtype: at most %d bytes, got %d", kMaxSize, array.dtype.size());
  }
  if (array.dtype_format == kNumPyDtype) {
    const absl::Status dtype = Dtype::Parse(array.dtype).status();
    if (!dtype.ok()) return InvalidArgument("array: %s", dtype.message());
  }
  return CheckDtype(array, typesize);
}

absl::Status CheckOptions(const CreateOptions& options) {
  if (options.array->shape.size() > kMaxDimensions) {
    return InvalidArgument("array: %d dimensions, at most %d", options.array->shape.size(),
                           kMaxDimensions);
  }
  if (options.compression.typesize < 1) {
    return InvalidArgument("typesize: expected 1 or more, got %d", options.compression.typesize);
  }
  if (options.chunksize == ChunkSize::Variable()) {
    return InvalidArgument("array: its chunks have one size, so they cannot be variable");
  }
  if (const int32_t nbytes = options.chunksize.nbytes().value_or(0); nbytes < 1) {
    return InvalidArgument("array: chunksize: expected 1 or more, got %d", nbytes);
  }
  for (const Metalayer& layer : options.metalayers) {
    if (layer.name == format::kB2ndLayer || layer.name == format::kCatervaLayer) {
      return InvalidArgument("metalayer %s: the array makes it", layer.name);
    }
  }
  return absl::OkStatus();
}

// Readers of other libraries refuse a block that is larger than its chunk.
absl::Status CheckBlocks(const ArrayInfo& array) {
  for (size_t d = 0; d < array.shape.size(); ++d) {
    if (array.blockshape[d] <= array.chunkshape[d]) continue;
    return InvalidArgument(
        "array: dimension %d has chunks of %d and blocks of %d: expected up to %d", d,
        array.chunkshape[d], array.blockshape[d], array.chunkshape[d]);
  }
  return absl::OkStatus();
}

// The extent of a dimension that has no items yet.
constexpr int64_t kGrowing = std::numeric_limits<int64_t>::max();

// Returns the edge of a cube of at most this many items.
int64_t EdgeOf(int64_t nitems, size_t ndim) {
  const auto edge = std::pow(static_cast<double>(nitems), 1.0 / static_cast<double>(ndim));
  return std::max<int64_t>(1, static_cast<int64_t>(edge + 1e-9));
}

// Returns cells of at most `most` items (but at least one) for a grid over `shape`. They have the
// edges of a cube. Shorter dimensions are whole, and all edges are as even as the number of cells
// allows.
std::vector<int32_t> CutEvenly(const std::vector<int64_t>& shape, int64_t most) {
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // The shortest dimension comes first, because the others get what it leaves over.
  std::ranges::stable_sort(order, {}, [&](size_t d) { return shape[d]; });
  std::vector<int32_t> cells(shape.size(), 1);
  int64_t rest = std::max<int64_t>(most, 1);
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t extent = shape[order[i]];
    const int64_t edge = std::min(extent, EdgeOf(rest, order.size() - i));
    const int64_t even = CeilDiv(extent, CeilDiv(extent, edge));
    cells[order[i]] = static_cast<int32_t>(extent == kGrowing ? edge : even);
    rest = std::max<int64_t>(rest / cells[order[i]], 1);
  }
  return cells;
}

std::vector<int32_t> ChunkshapeOf(const ArrayInfo& array, int64_t nitems) {
  std::vector<int64_t> extents = array.shape;
  for (int64_t& extent : extents) extent = extent > 0 ? extent : kGrowing;
  std::vector<int32_t> chunkshape = CutEvenly(extents, nitems);
  if (array.blockshape.size() != extents.size()) return chunkshape;
  // The extents are rounded to complete blocks if these fit.
  for (size_t d = 0; d < extents.size(); ++d) {
    const int64_t block = std::max(array.blockshape[d], 1);
    const int64_t rounded = CeilDiv<int64_t>(chunkshape[d], block) * block;
    const int64_t most = std::min<int64_t>(extents[d], std::numeric_limits<int32_t>::max());
    chunkshape[d] = static_cast<int32_t>(std::min(rounded, most));
  }
  return chunkshape;
}

std::vector<int32_t> BlockshapeOf(const ArrayInfo& array, CompressionOptions compression) {
  int64_t nbytes = compression.typesize;
  for (const int32_t extent : array.chunkshape) {
    // No chunk fits, which the check of the array reports.
    if (extent < 1 || nbytes > kMaxChunkBytes / extent) return array.chunkshape;
    nbytes *= extent;
  }
  const int64_t typesize = compression.typesize;
  compression.typesize = chunk::HeaderTypesize(compression.typesize);
  const int32_t blocksize = chunk::ChooseBlockSize(compression, static_cast<int32_t>(nbytes));
  return CutEvenly({array.chunkshape.begin(), array.chunkshape.end()}, blocksize / typesize);
}

}  // namespace

ArrayInfo ChooseShapes(ArrayInfo array, const CompressionOptions& compression, int32_t chunksize) {
  if (array.chunkshape.empty()) {
    array.chunkshape = ChunkshapeOf(array, chunksize / compression.typesize);
  }
  if (array.blockshape.empty()) array.blockshape = BlockshapeOf(array, compression);
  return array;
}

absl::StatusOr<CreateOptions> ResolveArray(const CreateOptions& options) {
  CreateOptions resolved = options;
  resolved.compression.blockshape.clear();
  if (!options.array.has_value()) {
    // The copy of an array has a metalayer instead.
    const Codec codec = options.compression.codec;
    const auto& filters = options.compression.filters;
    if (codec::IsOfArrays(codec) || CodesNumbers(codec) ||
        std::ranges::any_of(filters, NeedsBlockshape, &FilterStage::filter)) {
      const auto array = format::FindB2nd(options.metalayers);
      if (array.ok()) resolved.compression.blockshape = array->blockshape;
      if (array.ok()) SetColumns(*array, resolved.compression);
    }
    return resolved;
  }
  CAIRN_RETURN_IF_ERROR(CheckOptions(options));
  ArrayInfo& array = *resolved.array;
  const int32_t typesize = options.compression.typesize;
  // NumPy takes this type for bytes of which nothing is known.
  if (array.dtype.empty()) array.dtype = typesize == 1 ? "|u1" : absl::StrFormat("|V%d", typesize);
  CAIRN_RETURN_IF_ERROR(CheckType(array, typesize));
  SetColumns(array, resolved.compression);
  CompressionOptions plain = resolved.compression;
  // A codec or filter of arrays is checked when the shape of blocks is known.
  if (codec::IsOfArrays(plain.codec)) plain.codec = Codec::kLz4;
  std::erase_if(plain.filters,
                [](const FilterStage& stage) { return NeedsBlockshape(stage.filter); });
  CAIRN_RETURN_IF_ERROR(chunk::CheckOptions(plain));
  array =
      ChooseShapes(std::move(array), plain, std::min(*options.chunksize.nbytes(), kMaxChunkBytes));
  CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry geometry, ArrayGeometry::Make(array, typesize));
  if (geometry.chunksize() == 0 || geometry.blocksize() == 0) {
    return InvalidArgument("array: chunks and blocks need an item in every dimension");
  }
  CAIRN_RETURN_IF_ERROR(CheckBlocks(array));
  resolved.chunksize = geometry.chunksize();
  resolved.compression.blocksize = geometry.blocksize();
  resolved.compression.blockshape = array.blockshape;
  resolved.metalayers.insert(resolved.metalayers.begin(),
                             {std::string(format::kB2ndLayer), format::EncodeB2nd(array)});
  return resolved;
}

}  // namespace cairn::frame
