#include "tools/bench/costs/frames.h"

#include <cstddef>

#include "cairn/frame.h"
#include "tools/status.h"

namespace cairn::bench {

CreateOptions FrameOf(DataSet set, int32_t chunk_nbytes) {
  CreateOptions options;
  options.compression = UsualCompression(set);
  options.chunksize = chunk_nbytes;
  return options;
}

absl::Status MakeFrame(const std::string& path, DataSet set, int32_t chunk_nbytes,
                       int64_t nchunks) {
  ASSIGN_OR_RETURN(Writer writer, Frame::BeginCreate(path, FrameOf(set, chunk_nbytes)));
  DataSource source(set, static_cast<size_t>(chunk_nbytes));
  for (int64_t i = 0; i < nchunks; ++i) RETURN_IF_ERROR(writer.Append(source.Next()));
  return writer.Close();
}

}  // namespace cairn::bench
