#include "engine/frame/read/scattered_reader.h"

#include <algorithm>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/read/block_cursor.h"
#include "engine/frame/read/chunk_reader.h"
#include "engine/frame/read/range_reader.h"

namespace cairn::frame {

namespace {

// An item that is wanted, and where it goes.
struct Wanted {
  int64_t position = 0;  // of its first byte in the decoded data
  size_t place = 0;      // in dst, counted in items
};

// Reads items in ascending order, those of one block at a time.
class ItemReader {
 public:
  ItemReader(const State& state, MutableBytes dst)
      : state_(state),
        typesize_(static_cast<size_t>(state.header().typesize)),
        dst_(dst),
        blocks_(state) {}

  // Reads the first items, as many as one block gives; returns how many.
  absl::StatusOr<size_t> ReadSome(std::span<const Wanted> items);

 private:
  absl::Status MoveTo(int64_t position);
  MutableBytes PlaceOf(const Wanted& item) const {
    return dst_.subspan(item.place * typesize_, typesize_);
  }

  const State& state_;
  const size_t typesize_;
  const MutableBytes dst_;
  BlockCursor blocks_;
  int64_t chunk_begin_ = 0;
};

absl::Status ItemReader::MoveTo(int64_t position) {
  if (position >= chunk_begin_ && position < chunk_begin_ + blocks_.nbytes()) {
    return absl::OkStatus();
  }
  CAIRN_ASSIGN_OR_RETURN(const DecodedOffsets::Place at, FindByte(state_, position));
  CAIRN_RETURN_IF_ERROR(blocks_.MoveTo(at.nchunk));
  chunk_begin_ = at.begin;
  return absl::OkStatus();
}

absl::StatusOr<size_t> ItemReader::ReadSome(std::span<const Wanted> items) {
  const Wanted& first = items.front();
  const auto size = static_cast<int64_t>(typesize_);
  CAIRN_RETURN_IF_ERROR(MoveTo(first.position));
  CAIRN_ASSIGN_OR_RETURN(int64_t block_end, blocks_.BlockEnd(first.position - chunk_begin_));
  block_end += chunk_begin_;
  size_t count = 0;
  while (count < items.size() && items[count].position + size <= block_end) ++count;
  if (count == 0) {  // it lies across a border, or there are no blocks
    if (first.position + size > chunk_begin_ + blocks_.nbytes()) {
      CAIRN_RETURN_IF_ERROR(ReadRange(state_, first.position, PlaceOf(first)));
      return 1;
    }
    count = 1;
  }
  const int64_t end = items[count - 1].position + size;
  CAIRN_ASSIGN_OR_RETURN(const Bytes bytes,
                         blocks_.ReadWithin(first.position - chunk_begin_, end - chunk_begin_));
  for (const Wanted& item : items.first(count)) {
    CopyBytes(bytes.subspan(static_cast<size_t>(item.position - first.position), typesize_),
              PlaceOf(item));
  }
  return count;
}

}  // namespace

absl::Status GatherItems(const State& state, std::span<const int64_t> items, MutableBytes dst) {
  const int64_t typesize = state.header().typesize;
  if (dst.size() / static_cast<size_t>(typesize) != items.size() ||
      dst.size() % static_cast<size_t>(typesize) != 0) {
    return InvalidArgument("a buffer of %d bytes does not hold %d items of %d", dst.size(),
                           items.size(), typesize);
  }
  const int64_t nitems = state.nbytes / typesize;
  std::vector<Wanted> wanted(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i] < 0 || items[i] >= nitems) return OutOfRange("item %d of %d", items[i], nitems);
    wanted[i] = {.position = items[i] * typesize, .place = i};
  }
  std::ranges::sort(wanted, {}, &Wanted::position);
  ItemReader reader(state, dst);
  for (std::span<const Wanted> rest = wanted; !rest.empty();) {
    CAIRN_ASSIGN_OR_RETURN(const size_t count, reader.ReadSome(rest));
    rest = rest.subspan(count);
  }
  return absl::OkStatus();
}

absl::Status ReadBox(const State& state, std::span<const int64_t> start,
                     std::span<const int64_t> shape, MutableBytes dst) {
  CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry geometry, GeometryOf(state));
  CAIRN_ASSIGN_OR_RETURN(const Box box, geometry.MakeBox(start, shape));
  if (static_cast<int64_t>(dst.size()) != geometry.NbytesOf(box)) {
    return InvalidArgument("box: has %d bytes, the buffer %d", geometry.NbytesOf(box), dst.size());
  }
  BlockCursor cursor(state);
  return geometry.ForEachChunk(box, [&](const ChunkPart& part) {
    CAIRN_RETURN_IF_ERROR(cursor.MoveTo(part.nchunk));
    return geometry.ForEachRun(box, part, [&](const Run& run) {
      return cursor.Read(run.in_chunk, dst.subspan(static_cast<size_t>(run.in_box),
                                                   static_cast<size_t>(run.nbytes)));
    });
  });
}

}  // namespace cairn::frame
