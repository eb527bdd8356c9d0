#include "engine/frame/array/array_fit.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "engine/base/status.h"
#include "engine/chunk/encode_options.h"
#include "engine/format/b2nd.h"
#include "engine/frame/array/item_columns.h"

namespace cairn::frame {

namespace {

// C-Blosc2 writes this dtype for items of any size if it is given none.
constexpr std::string_view kUntold = "|u1";

// Returns the bytes of one item of a plain type such as "<f4", or nothing for all other types.
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

}  // namespace

absl::StatusOr<ArrayGeometry> GeometryOf(const State& state) {
  if (!state.metadata->array.has_value()) {
    // A metalayer that cannot be parsed makes no array either, but its error says why.
    const absl::Status status = format::FindB2nd(state.metadata->metalayers).status();
    return absl::IsNotFound(status) ? WithCode(absl::StatusCode::kFailedPrecondition, status)
                                    : status;
  }
  absl::StatusOr<ArrayGeometry> geometry =
      ArrayGeometry::Make(*state.metadata->array, state.header().typesize);
  if (absl::IsInvalidArgument(geometry.status())) {
    return WithCode(absl::StatusCode::kDataLoss, geometry.status());
  }
  CAIRN_RETURN_IF_ERROR(geometry.status());
  if (CountChunks(state) != geometry->nchunks()) {
    return DataLoss("array: needs %d chunks, the frame has %d", geometry->nchunks(),
                    CountChunks(state));
  }
  if (geometry->nchunks() == 0) return geometry;
  if (state.chunksize != geometry->chunksize()) {
    return DataLoss("array: needs chunks of %d bytes, the frame's chunksize is %d",
                    geometry->chunksize(), state.chunksize);
  }
  // The frame must have as many chunks, the last of them short.
  if (state.nbytes != geometry->nchunks() * geometry->chunksize()) {
    return DataLoss("array: needs %d bytes in %d chunks, the frame holds %d",
                    geometry->nchunks() * geometry->chunksize(), geometry->nchunks(), state.nbytes);
  }
  return geometry;
}

bool IsArray(const State& state) {
  return state.metadata->array.has_value() && GeometryOf(state).ok();
}

void FitToArray(const State& state, CompressionOptions& compression) {
  compression.blockshape.clear();
  compression.columns.clear();
  if (!state.metadata->array.has_value()) return;
  const auto geometry = ArrayGeometry::Make(*state.metadata->array, state.header().typesize);
  if (!geometry.ok()) return;
  compression.blocksize = geometry->blocksize();
  if (geometry->blocksize() > 0) compression.blockshape = state.metadata->array->blockshape;
  SetColumns(*state.metadata->array, compression);
}

absl::Status CheckDtype(const ArrayInfo& array, int32_t typesize) {
  if (array.dtype_format != kNumPyDtype) return absl::OkStatus();
  const std::optional<int32_t> size = SizeOfDtype(array.dtype);
  if (!size.has_value() || *size == typesize) return absl::OkStatus();
  return InvalidArgument("array: dtype %s has items of %d bytes, the typesize is %d", array.dtype,
                         *size, typesize);
}

absl::StatusOr<ArrayGeometry> CheckArray(const State& state) {
  CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry geometry, GeometryOf(state));
  const absl::Status dtype = CheckDtype(*state.metadata->array, state.header().typesize);
  if (!dtype.ok() && state.metadata->array->dtype != kUntold)
    return WithCode(absl::StatusCode::kDataLoss, dtype);
  const int32_t blocksize = state.header().blocksize;
  if (geometry.nchunks() > 0 && blocksize > 0 && blocksize != geometry.blocksize()) {
    return DataLoss("array: needs blocks of %d bytes, the frame's blocksize is %d",
                    geometry.blocksize(), blocksize);
  }
  return geometry;
}

absl::Status CheckArrayChunk(const chunk::Header& chunk, const ArrayGeometry& geometry,
                             int32_t typesize) {
  if (chunk.special != SpecialValue::kNone) return absl::OkStatus();
  if (chunk.blocksize != geometry.blocksize()) {
    return DataLoss("array: needs blocks of %d bytes, got %d", geometry.blocksize(),
                    chunk.blocksize);
  }
  if (chunk.typesize == chunk::HeaderTypesize(typesize)) return absl::OkStatus();
  return DataLoss("array: needs items of %d bytes, got %d", chunk::HeaderTypesize(typesize),
                  chunk.typesize);
}

}  // namespace cairn::frame
