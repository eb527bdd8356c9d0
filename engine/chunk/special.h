// Chunks that store no data: zeros, NaNs, a repeated value, uninitialised.
#ifndef CAIRN_ENGINE_CHUNK_SPECIAL_H_
#define CAIRN_ENGINE_CHUNK_SPECIAL_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "cairn/types.h"

namespace cairn::chunk {

struct SpecialContent {
  SpecialValue kind = SpecialValue::kZeros;
  int32_t typesize = 1;  // decides which NaN
  Bytes value;           // of kRepeat
};

// Writes bytes [begin, begin + dst.size()) of what such a chunk stands for. kDataLoss for NaNs of a
// typesize that has none.
absl::Status FillSpecial(const SpecialContent& content, int64_t begin, MutableBytes dst);

}  // namespace cairn::chunk

#endif  // CAIRN_ENGINE_CHUNK_SPECIAL_H_
