#include "engine/frame/new_array.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "engine/base/status.h"
#include "engine/format/b2nd.h"
#include "engine/frame/array_geometry.h"

namespace cairn::frame {

namespace {

constexpr uint8_t kNumPy = 0;  // dtype_format

// What NumPy would take for bytes of which nothing is known.
std::string DefaultDtype(int32_t typesize) {
  return typesize == 1 ? "|u1" : absl::StrFormat("|V%d", typesize);
}

// Bytes of one item of a plain type such as "<f4"; empty for all others.
std::optional<int32_t> SizeOfDtype(std::string_view dtype) {
  if (!dtype.empty() && std::string_view("<>=|").find(dtype[0]) != std::string_view::npos) {
    dtype.remove_prefix(1);
  }
  if (dtype.size() < 2 || std::string_view("biufcSV").find(dtype[0]) == std::string_view::npos) {
    return std::nullopt;
  }
  int32_t size = 0;
  const char* const end = dtype.data() + dtype.size();
  const auto [parsed, error] = std::from_chars(dtype.data() + 1, end, size);
  if (error != std::errc() || parsed != end) return std::nullopt;
  return size;
}

absl::Status CheckDtype(const ArrayInfo& array, int32_t typesize) {
  constexpr size_t kMaxSize = 1 << 20;
  if (array.dtype_format > 127) {
    return InvalidArgument("array: dtype_format: expected 0 to 127, got %d", array.dtype_format);
  }
  if (array.dtype.size() > kMaxSize) {
    return InvalidArgument("array: dtype: at most %d bytes, got %d", kMaxSize, array.dtype.size());
  }
  if (array.dtype_format != kNumPy) return absl::OkStatus();
  const std::optional<int32_t> size = SizeOfDtype(array.dtype);
  if (!size.has_value() || *size == typesize) return absl::OkStatus();
  return InvalidArgument("array: dtype %s has items of %d bytes, the typesize is %d", array.dtype,
                         *size, typesize);
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
  CAIRN_RETURN_IF_ERROR(CheckDtype(array, typesize));
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
