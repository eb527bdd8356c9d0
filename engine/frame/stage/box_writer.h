// Overwrites boxes of n-dimensional arrays.
#ifndef CAIRN_ENGINE_FRAME_STAGE_BOX_WRITER_H_
#define CAIRN_ENGINE_FRAME_STAGE_BOX_WRITER_H_

#include <cstdint>
#include <span>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

#include "cairn/types.h"
#include "engine/frame/array/array_geometry.h"
#include "engine/frame/state/state.h"

namespace cairn::frame {

// A box and its items in C order.
struct BoxItems {
  std::span<const int64_t> start;
  std::span<const int64_t> shape;
  Bytes items;
};

// Gives the new content of a chunk away.
using UpdateChunk = absl::FunctionRef<absl::Status(int64_t nchunk, Bytes items)>;

// Makes the chunks that the box touches anew, one at a time: out of zeros where the box covers all
// that the chunk holds of the array, else out of what `state` holds. Refused arguments update
// nothing.
absl::Status WriteBox(const State& state, const BoxItems& box, UpdateChunk update);

// Before the array `from` of the state becomes `to`: makes the chunks anew, numbered as in `from`,
// of which more or less becomes visible and which hold something but zeros where `from` or `to`
// does not show it.
absl::Status ClearPadding(const State& state, const ArrayGeometry& from, const ArrayGeometry& to,
                          UpdateChunk update);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_STAGE_BOX_WRITER_H_
