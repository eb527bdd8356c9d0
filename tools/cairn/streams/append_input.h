// Streams an input of any size into a frame.
#ifndef CAIRN_TOOLS_CAIRN_STREAMS_APPEND_INPUT_H_
#define CAIRN_TOOLS_CAIRN_STREAMS_APPEND_INPUT_H_

#include <cstdint>

#include "absl/status/statusor.h"

#include "cairn/writer.h"
#include "tools/cairn/io/io.h"
#include "tools/cairn/io/progress.h"

namespace cairn::tool {

// Appends all of the input and returns its size. Reads it in pieces of complete chunks of
// `chunksize` bytes, so that the writer need not gather them.
absl::StatusOr<int64_t> AppendInput(Input& input, Writer& writer, int32_t chunksize,
                                    Progress& progress);

}  // namespace cairn::tool

#endif  // CAIRN_TOOLS_CAIRN_STREAMS_APPEND_INPUT_H_
