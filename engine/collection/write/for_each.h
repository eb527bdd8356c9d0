// Work on many files of a collection, which mostly waits for the disk.
#ifndef CAIRN_ENGINE_COLLECTION_WRITE_FOR_EACH_H_
#define CAIRN_ENGINE_COLLECTION_WRITE_FOR_EACH_H_

#include <cstddef>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace cairn::collection {

// Works on all numbers below `count`, on some of them at the same time. Each may open four files.
absl::Status ForEachOf(size_t count, absl::FunctionRef<absl::Status(size_t)> work);

}  // namespace cairn::collection

#endif  // CAIRN_ENGINE_COLLECTION_WRITE_FOR_EACH_H_
