// The parameters of new n-dimensional arrays, and arrays themselves.
#ifndef CAIRN_ENGINE_BLOSC2_API_ARRAYS_B2ND_CONTEXT_H_
#define CAIRN_ENGINE_BLOSC2_API_ARRAYS_B2ND_CONTEXT_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/schunks/schunk_reader.h"

struct b2nd_context_s {
  int8_t ndim = 0;
  std::array<int64_t, B2ND_MAX_DIM> shape{};
  std::array<int32_t, B2ND_MAX_DIM> chunkshape{};
  std::array<int32_t, B2ND_MAX_DIM> blockshape{};
  std::string dtype;
  int8_t dtype_format = 0;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;  // which points to cparams
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  std::vector<blosc2_metalayer> metalayers;  // the caller keeps what they point to
};

namespace cairn::blosc2_api {

struct FreeArray {
  void operator()(b2nd_array_t* array) const { b2nd_free(array); }
};
using ArrayPtr = std::unique_ptr<b2nd_array_t, FreeArray>;

// Makes an array without a super-chunk. Returns null if its shape is wrong.
ArrayPtr MakeArray(const b2nd_context_t& context);

// Makes a new array full of a special value. Returns 0 or an error code.
int NewArray(const b2nd_context_t& context, int special, ArrayPtr& array);

// Makes the shape of an array what its metalayer says. Returns 1 if that has changed, 0, or an
// error code.
int FollowMetalayer(b2nd_array_t& array, const FieldsLock& lock);

// Writes the shape of an array into its metalayer. Returns 0 or an error code.
int PublishShape(b2nd_array_t& array);

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_ARRAYS_B2ND_CONTEXT_H_
