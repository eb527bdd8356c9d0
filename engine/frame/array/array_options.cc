#include "engine/frame/array/array_options.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/base/status.h"
#include "engine/chunk/encode_options.h"
#include "engine/format/b2nd.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/array/array_geometry.h"
#include "engine/frame/array/array_shapes.h"

namespace cairn::frame {

namespace {

// What NumPy would take for bytes of which nothing is known.
std::string DefaultDtype(int32_t typesize) {
  return typesize == 1 ? "|u1" : absl::StrFormat("|V%d", typesize);
}

absl::Status CheckType(const ArrayInfo& array, int32_t typesize) {
  constexpr size_t kMaxSize = 1 << 20;
  if (array.dtype_format > 127) {
    return InvalidArgument("array: dtype_format: expected 0 to 127, got %d", array.dtype_format);
  }
  if (array.dtype.size() > kMaxSize) {
    return InvalidArgument("array: dtype: at most %d bytes, got %d", kMaxSize, array.dtype.size());
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
  if (options.chunksize == CreateOptions::kVariableChunks) {
    return InvalidArgument("array: its chunks have one size, so they cannot be variable");
  }
  for (const Metalayer& layer : options.metalayers) {
    if (layer.name == format::kB2ndLayer || layer.name == format::kCatervaLayer) {
      return InvalidArgument("metalayer %s: the array makes it", layer.name);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CreateOptions> ResolveArray(const CreateOptions& options) {
  if (!options.array.has_value()) return options;
  CAIRN_RETURN_IF_ERROR(CheckOptions(options));
  CreateOptions resolved = options;
  ArrayInfo& array = *resolved.array;
  const int32_t typesize = options.compression.typesize;
  if (array.dtype.empty()) array.dtype = DefaultDtype(typesize);
  CAIRN_RETURN_IF_ERROR(CheckType(array, typesize));
  CAIRN_RETURN_IF_ERROR(chunk::CheckOptions(options.compression));
  array = ChooseShapes(std::move(array), options.compression,
                       std::clamp(options.chunksize, 1, kMaxChunkBytes));
  CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry geometry, ArrayGeometry::Make(array, typesize));
  if (geometry.chunksize() == 0 || geometry.blocksize() == 0) {
    return InvalidArgument("array: chunks and blocks need an item in every dimension");
  }
  resolved.chunksize = geometry.chunksize();
  resolved.compression.blocksize = geometry.blocksize();
  resolved.metalayers.insert(resolved.metalayers.begin(),
                             {std::string(format::kB2ndLayer), format::EncodeB2nd(array)});
  return resolved;
}

}  // namespace cairn::frame
