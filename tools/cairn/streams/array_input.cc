#include "tools/cairn/streams/array_input.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "cairn/array.h"
#include "tools/cairn/text/shape.h"
#include "tools/status.h"

namespace cairn::tool {

namespace {

constexpr int64_t kSlicesSize = 4 << 20;
constexpr int64_t kMostInMemory = int64_t{1} << 40;

// Returns the bytes of one slice along axis 0, or kMostInMemory if no memory holds them.
int64_t SliceSize(const ArrayInfo& array, int64_t typesize) {
  int64_t size = typesize;
  for (size_t d = 1; d < array.shape.size(); ++d) {
    if (array.shape[d] == 0) return 0;
    size = size > kMostInMemory / array.shape[d] ? kMostInMemory : size * array.shape[d];
  }
  return size;
}

// Returns the slices that make complete chunks, of about kSlicesSize bytes.
int64_t SlicesAtOnce(const ArrayInfo& array, int64_t slice) {
  const int64_t chunk = array.chunkshape[0];
  if (slice > kMostInMemory / chunk) return 1;
  return chunk * std::max<int64_t>(1, kSlicesSize / std::max<int64_t>(slice * chunk, 1));
}

// Appends pieces that end where chunks do, so that each chunk is made once.
absl::StatusOr<int64_t> AppendInSlices(Input& input, Writer& writer, const ArrayInfo& array,
                                       int64_t slice, Progress& progress) {
  const int64_t most = SlicesAtOnce(array, slice);
  const Buffer buffer(static_cast<size_t>(most * slice));
  int64_t total = 0;
  int64_t wanted = most - array.shape[0] % array.chunkshape[0];
  for (;;) {
    const MutableBytes piece =
        buffer.first(static_cast<size_t>(std::max<int64_t>(wanted, 1) * slice));
    ASSIGN_OR_RETURN(const size_t got, input.Read(piece));
    RETURN_IF_ERROR(writer.AppendSlices(0, piece.first(got)));
    total += static_cast<int64_t>(got);
    progress.Show(total);
    if (got < piece.size()) return total;
    wanted = most;
  }
}

absl::Status Unfit(const Input& input, std::string_view has, const ArrayInfo& array,
                   int64_t needed) {
  return absl::InvalidArgumentError(absl::StrFormat("%s: has %s, but an array of %s needs %d",
                                                    input.name(), has, DescribeShape(array.shape),
                                                    needed));
}

}  // namespace

absl::StatusOr<int64_t> FillArray(Input& input, Writer& writer, Progress& progress) {
  ASSIGN_OR_RETURN(const Snapshot snapshot, writer.StagedSnapshot());
  const ArrayInfo& array = *snapshot.array();
  std::vector<int64_t> start(array.shape.size());
  std::vector<int64_t> shape = array.shape;
  const bool one = array.shape.empty();
  const int64_t slice = SliceSize(array, snapshot.info().typesize);
  const int64_t slices = one ? 1 : array.shape[0];
  const int64_t most = one ? 1 : SlicesAtOnce(array, slice);
  const int64_t needed = slices * slice;  // this fits, or there would be no array
  const Buffer buffer(static_cast<size_t>(std::min(most, slices) * slice));
  for (int64_t done = 0; done < slices && slice > 0; done += most) {
    const int64_t count = std::min(most, slices - done);
    const MutableBytes piece = buffer.first(static_cast<size_t>(count * slice));
    ASSIGN_OR_RETURN(const size_t got, input.Read(piece));
    if (got < piece.size()) {
      const int64_t total = done * slice + static_cast<int64_t>(got);
      return Unfit(input, absl::StrCat(total, " bytes"), array, needed);
    }
    if (!one) {
      start[0] = done;
      shape[0] = count;
    }
    RETURN_IF_ERROR(writer.WriteBox(start, shape, piece));
    progress.Show((done + count) * slice);
  }
  std::byte more[1];
  ASSIGN_OR_RETURN(const size_t rest, input.Read(more));
  if (rest > 0) return Unfit(input, "more bytes", array, needed);
  return needed;
}

absl::StatusOr<int64_t> AppendSlices(int axis, Input& input, Writer& writer, Progress& progress) {
  ASSIGN_OR_RETURN(const Snapshot snapshot, writer.StagedSnapshot());
  const std::optional<ArrayInfo>& array = snapshot.array();
  if (axis == 0 && array.has_value() && !array->shape.empty() && array->chunkshape[0] > 0) {
    const int64_t slice = SliceSize(*array, snapshot.info().typesize);
    if (slice > 0 && slice < kMostInMemory)
      return AppendInSlices(input, writer, *array, slice, progress);
  }
  ASSIGN_OR_RETURN(const std::vector<std::byte> all, input.ReadAll(size_t{kMostInMemory}));
  RETURN_IF_ERROR(writer.AppendSlices(axis, all));
  return static_cast<int64_t>(all.size());
}

}  // namespace cairn::tool
