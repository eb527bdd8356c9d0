// The chunks that HDF5's Blosc2 filter stores. Each is a frame of its own.
#ifndef CAIRN_TOOLS_HDF5_CHUNK_FRAME_H_
#define CAIRN_TOOLS_HDF5_CHUNK_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn::hdf5 {

// The numbers that a file stores with the filter. Those at the end may be missing. A shape follows
// them if chunks have more than one dimension.
enum Parameter : size_t {
  kRevision,
  kBlockSize,
  kTypesize,
  kChunkSize,
  kLevel,
  kFilter,
  kCodec,
  kDimensions,
  kShape,
};
inline constexpr unsigned kThisRevision = 1;

using Parameters = std::span<const unsigned>;
using Allocate = absl::FunctionRef<MutableBytes(size_t size)>;  // gives no bytes on failure

// Fills in defaults for the missing parameters, for chunks of this shape.
std::vector<unsigned> CompleteParameters(Parameters given, size_t typesize, size_t item_size,
                                         std::span<const uint64_t> chunkshape);

// Makes a frame of the chunk's items, or the items of a frame, in memory from `allocate`, which is
// called once the size is known. Returns that memory.
absl::StatusOr<MutableBytes> EncodeChunk(Bytes items, Parameters parameters, Allocate allocate);
absl::StatusOr<MutableBytes> DecodeChunk(Bytes frame, Parameters parameters, Allocate allocate);

}  // namespace cairn::hdf5

#endif  // CAIRN_TOOLS_HDF5_CHUNK_FRAME_H_
