#include "engine/frame/gather.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/frame/chunk_reader.h"

namespace cairn::frame {

namespace {

// The chunk and the block that were read last.
class Cursor {
 public:
  explicit Cursor(const State& state) : state_(state), lease_(state.env->pool.Acquire()) {}

  absl::Status Read(int64_t position, MutableBytes dst) {
    const auto size = static_cast<int64_t>(dst.size());
    if (!chunk_.has_value() || position < chunk_begin_ ||
        position >= chunk_begin_ + chunk_->nbytes()) {
      CAIRN_RETURN_IF_ERROR(MoveTo(position));
    }
    const int64_t begin = position - chunk_begin_;
    if (begin + size > chunk_->nbytes()) return ReadRange(state_, position, dst);
    if (begin < block_.begin || begin + size > block_.begin + block_.nbytes) {
      CAIRN_RETURN_IF_ERROR(DecodeBlock(begin));
    }
    if (begin + size > block_.begin + block_.nbytes) return chunk_->Read(begin, dst);
    CopyBytes(Bytes(block_bytes_).subspan(static_cast<size_t>(begin - block_.begin), dst.size()),
              dst);
    return absl::OkStatus();
  }

 private:
  absl::Status MoveTo(int64_t position) {
    chunk_.reset();
    block_ = {};
    CAIRN_ASSIGN_OR_RETURN(const ChunkStarts::Place at, FindByte(state_, position));
    CAIRN_ASSIGN_OR_RETURN(chunk_,
                           OpenChunk::Open(state_, at.nchunk, state_.env->verify, lease_->stored));
    chunk_begin_ = at.begin;
    return absl::OkStatus();
  }

  // Leaves block_ empty for chunks without blocks: their parts are cheap to read.
  absl::Status DecodeBlock(int64_t begin) {
    block_ = {};
    const chunk::Decoder* decoder = chunk_->decoder();
    if (decoder == nullptr || decoder->nblocks() == 0) return absl::OkStatus();
    CAIRN_ASSIGN_OR_RETURN(const chunk::BlockPlace place,
                           decoder->PlaceOf(decoder->BlockAt(begin)));
    block_bytes_ = lease_->gathered.Get(static_cast<size_t>(place.nbytes));
    CAIRN_RETURN_IF_ERROR(chunk_->Read(place.begin, block_bytes_));
    block_ = place;
    return absl::OkStatus();
  }

  const State& state_;
  chunk::WorkspacePool::Lease lease_;
  std::optional<OpenChunk> chunk_;
  int64_t chunk_begin_ = 0;
  chunk::BlockPlace block_;
  MutableBytes block_bytes_;
};

}  // namespace

absl::Status GatherItems(const State& state, std::span<const int64_t> items, MutableBytes dst) {
  const int64_t typesize = state.header.typesize;
  if (dst.size() / static_cast<size_t>(typesize) != items.size() ||
      dst.size() % static_cast<size_t>(typesize) != 0) {
    return InvalidArgument("a buffer of %d bytes does not hold %d items of %d", dst.size(),
                           items.size(), typesize);
  }
  const int64_t nitems = state.info.nbytes / typesize;
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return items[i]; });
  Cursor cursor(state);
  for (const size_t i : order) {
    if (items[i] < 0 || items[i] >= nitems) return OutOfRange("item %d of %d", items[i], nitems);
    CAIRN_RETURN_IF_ERROR(
        cursor.Read(items[i] * typesize,
                    dst.subspan(i * static_cast<size_t>(typesize), static_cast<size_t>(typesize))));
  }
  return absl::OkStatus();
}

}  // namespace cairn::frame
