#include "engine/frame/read/scattered_reader.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/read/chunk_reader.h"
#include "engine/frame/read/range_reader.h"

namespace cairn::frame {

namespace {

// Keeps the chunk and the decoded block that were read last. So reading in ascending order opens
// each chunk once and decodes each block once. The state must outlive it. Not thread-safe.
class BlockCursor {
 public:
  BlockCursor(const State& state, ReadAhead ahead)
      : state_(state), ahead_(std::move(ahead)), lease_(state.env()->pool.Acquire()) {}

  // Opens a chunk.
  absl::Status MoveTo(int64_t nchunk);
  // Opens the chunk that holds a byte of the decoded data, unless it is open.
  absl::Status MoveToByte(int64_t position);
  // Returns where the open chunk begins in the decoded data.
  int64_t chunk_begin() const { return chunk_begin_; }
  // Returns the bytes of the open chunk, decoded, or 0 if none is open.
  int32_t nbytes() const { return chunk_.has_value() ? chunk_->nbytes() : 0; }
  // Reads bytes [begin, begin + dst.size()) of the open chunk, which holds them.
  absl::Status Read(int64_t begin, MutableBytes dst);
  // Returns where the block ends that holds a byte of the open chunk, if it has blocks. Otherwise
  // returns `begin`.
  absl::StatusOr<int64_t> BlockEnd(int64_t begin) const;
  // Returns up to how many bytes lie between items of a block that are read together, if the open
  // chunk has a block at this byte.
  int64_t MaxGap(int64_t begin);
  // Returns bytes [begin, end) of the open chunk and decodes as little as that needs. Valid until
  // the next call.
  absl::StatusOr<Bytes> ReadWithin(int64_t begin, int64_t end);

 private:
  absl::StatusOr<size_t> ReadFromBlock(int64_t begin, MutableBytes dst);
  // Returns an empty place if no block of a stored chunk holds the byte.
  absl::StatusOr<chunk::BlockPlace> PlaceAt(int64_t begin) const;

  const State& state_;
  ReadAhead ahead_;
  chunk::WorkspacePool::Lease lease_;
  int64_t nchunk_ = -1;
  int64_t chunk_begin_ = 0;
  std::optional<ChunkReader> chunk_;
  std::optional<int64_t> max_gap_;  // of the open chunk
  chunk::BlockPlace block_;         // the block that is kept; empty if there is none
  MutableBytes block_bytes_;
};

absl::Status BlockCursor::MoveTo(int64_t nchunk) {
  chunk_.reset();
  max_gap_.reset();
  block_ = {};
  ahead_.Reach(nchunk);
  CAIRN_ASSIGN_OR_RETURN(chunk_,
                         ChunkReader::Open(state_, nchunk, state_.env()->verify, lease_->stored));
  nchunk_ = nchunk;
  return absl::OkStatus();
}

absl::Status BlockCursor::MoveToByte(int64_t position) {
  if (RangeFits(position - chunk_begin_, 1, nbytes())) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(const DecodedOffsets::Place at, FindByte(state_, position));
  chunk_begin_ = at.begin;
  return MoveTo(at.nchunk);
}

absl::StatusOr<chunk::BlockPlace> BlockCursor::PlaceAt(int64_t begin) const {
  const chunk::Decoder* decoder = chunk_->DecoderAt(begin);
  if (decoder == nullptr || decoder->nblocks() == 0) return chunk::BlockPlace{};
  return decoder->PlaceOf(decoder->BlockAt(begin));
}

// Reads the bytes of dst that the block at `begin` holds. Returns how many.
absl::StatusOr<size_t> BlockCursor::ReadFromBlock(int64_t begin, MutableBytes dst) {
  if (begin < block_.begin || begin >= block_.begin + block_.nbytes) {
    CAIRN_ASSIGN_OR_RETURN(const chunk::BlockPlace place, PlaceAt(begin));
    // Parts of a chunk without blocks are cheap to read, and a complete block needs no copy.
    const int64_t rest = place.begin + place.nbytes - begin;
    const int64_t n =
        place.nbytes == 0 ? std::ssize(dst) : std::min<int64_t>(std::ssize(dst), rest);
    if (place.nbytes == 0 || n == place.nbytes) {
      CAIRN_RETURN_IF_ERROR(chunk_->Read(begin, dst.first(static_cast<size_t>(n)), *lease_));
      return static_cast<size_t>(n);
    }
    block_ = {};
    CAIRN_RETURN_IF_ERROR(chunk_->DecoderAt(begin)->CheckMemory(place));
    block_bytes_ = lease_->gathered.Get(static_cast<size_t>(place.nbytes));
    CAIRN_RETURN_IF_ERROR(chunk_->Read(place.begin, block_bytes_, *lease_));
    block_ = place;
  }
  const Bytes rest = Bytes(block_bytes_).subspan(static_cast<size_t>(begin - block_.begin));
  const size_t n = std::min(dst.size(), rest.size());
  CopyBytes(rest.first(n), dst);
  return n;
}

absl::Status BlockCursor::Read(int64_t begin, MutableBytes dst) {
  while (!dst.empty()) {
    const absl::StatusOr<size_t> n = ReadFromBlock(begin, dst);
    if (!n.ok()) return AnnotateChunk(nchunk_, n.status());
    begin += static_cast<int64_t>(*n);
    dst = dst.subspan(*n);
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> BlockCursor::BlockEnd(int64_t begin) const {
  const absl::StatusOr<chunk::BlockPlace> place = PlaceAt(begin);
  if (!place.ok()) return AnnotateChunk(nchunk_, place.status());
  // The wanted bytes of a block take memory in addition to the whole block.
  const bool fits =
      place->nbytes > 0 && chunk_->DecoderAt(begin)->CheckMemory(*place, place->nbytes).ok();
  return fits ? place->begin + place->nbytes : begin;
}

int64_t BlockCursor::MaxGap(int64_t begin) {
  const chunk::Decoder* const decoder = chunk_->DecoderAt(begin);
  if (decoder == nullptr) return 0;
  if (!max_gap_.has_value()) max_gap_ = chunk::MaxGap(*decoder);
  return *max_gap_;
}

absl::StatusOr<Bytes> BlockCursor::ReadWithin(int64_t begin, int64_t end) {
  block_ = {};
  block_bytes_ = lease_->gathered.Get(static_cast<size_t>(end - begin));
  CAIRN_RETURN_IF_ERROR(AnnotateChunk(nchunk_, chunk_->Read(begin, block_bytes_, *lease_)));
  return Bytes(block_bytes_);
}

// An item that is wanted, and the place where it goes.
struct Wanted {
  int64_t position = 0;  // place of its first byte in the decoded data
  size_t place = 0;      // in dst, counted in items
};

// Reads the first of some items in ascending order, as many as one block gives. Returns how many.
absl::StatusOr<size_t> ReadSome(const State& state, std::span<const Wanted> items,
                                BlockCursor& blocks, MutableBytes dst) {
  const int64_t typesize = state.header().typesize;
  const auto place_of = [&](const Wanted& item) {
    const auto size = static_cast<size_t>(typesize);
    return dst.subspan(item.place * size, size);
  };
  const int64_t begin = items.front().position;
  CAIRN_RETURN_IF_ERROR(blocks.MoveToByte(begin));
  const int64_t chunk_begin = blocks.chunk_begin();
  CAIRN_ASSIGN_OR_RETURN(const int64_t block_end, blocks.BlockEnd(begin - chunk_begin));
  const int64_t max_gap = blocks.MaxGap(begin - chunk_begin);
  size_t count = 0;
  int64_t last = begin;
  while (count < items.size() && items[count].position + typesize <= chunk_begin + block_end &&
         items[count].position - last <= max_gap) {
    last = items[count++].position + typesize;
  }
  if (count == 0) {  // the item lies across a border, or there are no blocks
    if (begin + typesize > chunk_begin + blocks.nbytes()) {
      CAIRN_RETURN_IF_ERROR(ReadRange(state, begin, place_of(items.front())));
      return 1;
    }
    count = 1;
  }
  const int64_t end = items[count - 1].position + typesize;
  CAIRN_ASSIGN_OR_RETURN(const Bytes bytes,
                         blocks.ReadWithin(begin - chunk_begin, end - chunk_begin));
  for (const Wanted& item : items.first(count)) {
    CopyBytes(
        bytes.subspan(static_cast<size_t>(item.position - begin), static_cast<size_t>(typesize)),
        place_of(item));
  }
  return count;
}

// Announces the chunks of items in ascending order.
ReadAhead AheadOf(const State& state, std::span<const Wanted> items) {
  if (!ReadAhead::IsUseful(state)) return {};
  std::vector<int64_t> nchunks;
  for (const Wanted& item : items) {
    const absl::StatusOr<DecodedOffsets::Place> at = FindByte(state, item.position);
    if (!at.ok()) break;
    if (nchunks.empty() || nchunks.back() != at->nchunk) nchunks.push_back(at->nchunk);
  }
  return ReadAhead(state, std::move(nchunks));
}

// Announces the chunks of a box.
ReadAhead AheadOf(const State& state, const ArrayGeometry& geometry, const Box& box) {
  if (!ReadAhead::IsUseful(state)) return {};
  std::vector<int64_t> nchunks;
  const absl::Status status = geometry.ForEachChunk(box, [&](const ChunkPart& part) {
    nchunks.push_back(part.nchunk);
    return absl::OkStatus();
  });
  return status.ok() ? ReadAhead(state, std::move(nchunks)) : ReadAhead();
}

}  // namespace

absl::Status GatherItems(const State& state, std::span<const int64_t> items, MutableBytes dst) {
  const int64_t typesize = state.header().typesize;
  if (dst.size() / static_cast<size_t>(typesize) != items.size() ||
      dst.size() % static_cast<size_t>(typesize) != 0) {
    return InvalidArgument("a buffer of %d bytes does not hold %d items of %d", dst.size(),
                           items.size(), typesize);
  }
  const int64_t nitems = CountItems(state);
  std::vector<Wanted> wanted(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i] < 0 || items[i] >= nitems) return OutOfRange("item %d of %d", items[i], nitems);
    wanted[i] = {.position = items[i] * typesize, .place = i};
  }
  if (!LiesInOrder(state)) {
    CAIRN_ASSIGN_OR_RETURN(const ArrayGeometry geometry, GeometryOf(state));
    for (Wanted& item : wanted) item.position = geometry.PositionOf(items[item.place]);
  }
  std::ranges::sort(wanted, {}, &Wanted::position);
  BlockCursor blocks(state, AheadOf(state, wanted));
  for (std::span<const Wanted> rest = wanted; !rest.empty();) {
    CAIRN_ASSIGN_OR_RETURN(const size_t count, ReadSome(state, rest, blocks, dst));
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
  // A part of a block may be kept from earlier reads, or be decoded alone.
  if (const std::optional<int64_t> position = geometry.PositionOfRun(box)) {
    return ReadRange(state, *position, dst);
  }
  BlockCursor cursor(state, AheadOf(state, geometry, box));
  return geometry.ForEachChunk(box, [&](const ChunkPart& part) {
    CAIRN_RETURN_IF_ERROR(cursor.MoveTo(part.nchunk));
    return geometry.ForEachRun(box, part, [&](const Run& run) {
      return cursor.Read(run.in_chunk, dst.subspan(static_cast<size_t>(run.in_box),
                                                   static_cast<size_t>(run.nbytes)));
    });
  });
}

}  // namespace cairn::frame
