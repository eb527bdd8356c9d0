#include "tools/cairn/streams/append_input.h"

#include <algorithm>
#include <cstddef>

#include "tools/status.h"

namespace cairn::tool {

absl::StatusOr<int64_t> AppendInput(Input& input, Writer& writer, int32_t chunksize,
                                    Progress& progress) {
  constexpr size_t kPiece = 4 << 20;
  const auto chunk = static_cast<size_t>(chunksize);
  const Buffer buffer(chunk * std::max<size_t>(1, kPiece / chunk));
  int64_t total = 0;
  for (;;) {
    ASSIGN_OR_RETURN(const size_t got, input.Read(buffer.bytes()));
    if (got > 0) {
      RETURN_IF_ERROR(writer.Append(buffer.first(got)));
    }
    total += static_cast<int64_t>(got);
    progress.Show(total);
    if (got < buffer.bytes().size()) return total;
  }
}

}  // namespace cairn::tool
