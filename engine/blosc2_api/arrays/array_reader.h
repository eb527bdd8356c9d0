// Arrays as calls read them.
#ifndef CAIRN_ENGINE_BLOSC2_API_ARRAYS_ARRAY_READER_H_
#define CAIRN_ENGINE_BLOSC2_API_ARRAYS_ARRAY_READER_H_

#include <algorithm>

#include "engine/blosc2_api/arrays/b2nd_context.h"
#include "engine/blosc2_api/process/api.h"
#include "engine/blosc2_api/schunks/schunk_reader.h"

namespace cairn::blosc2_api {

// The newest state of an array, which one call reads. Other threads that refresh the array do not
// change it.
class ArrayReader {
 public:
  explicit ArrayReader(b2nd_array_t& array) : ArrayReader(array, FieldsLock(*array.sc)) {}

  // Returns 0, or an error code if the file cannot be read.
  int code() const { return code_; }
  // Returns a copy of the array, whose pointers are those of the array itself.
  const b2nd_array_t& array() const { return array_; }
  const SchunkReader& schunk() const { return schunk_; }

 private:
  ArrayReader(b2nd_array_t& array, const FieldsLock& lock)
      : schunk_(*array.sc, lock),
        code_(std::min(schunk_.code() < 0 ? schunk_.code() : FollowMetalayer(array, lock), 0)),
        array_(array) {}

  SchunkReader schunk_;
  int code_;
  b2nd_array_t array_;
};

}  // namespace cairn::blosc2_api

#endif  // CAIRN_ENGINE_BLOSC2_API_ARRAYS_ARRAY_READER_H_
