// What the options of a new frame become when it is to hold an n-dimensional array.
#ifndef CAIRN_ENGINE_FRAME_ARRAY_ARRAY_OPTIONS_H_
#define CAIRN_ENGINE_FRAME_ARRAY_ARRAY_OPTIONS_H_

#include "absl/status/statusor.h"

#include "cairn/options.h"

namespace cairn::frame {

// The same options with chunksize, blocksize and the metalayer as the array asks for, and its dtype
// filled in; as they are when there is no array. kInvalidArgument.
absl::StatusOr<CreateOptions> ResolveArray(const CreateOptions& options);

}  // namespace cairn::frame

#endif  // CAIRN_ENGINE_FRAME_ARRAY_ARRAY_OPTIONS_H_
