#include "engine/frame/read/block_cursor.h"

#include <algorithm>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/frame/read/chunk_reader.h"

namespace cairn::frame {

absl::Status BlockCursor::MoveTo(int64_t nchunk) {
  chunk_.reset();
  block_ = {};
  CAIRN_ASSIGN_OR_RETURN(chunk_,
                         ChunkReader::Open(state_, nchunk, state_.env()->verify, lease_->stored));
  nchunk_ = nchunk;
  return absl::OkStatus();
}

absl::Status BlockCursor::KeepBlock(const chunk::BlockPlace& place) {
  block_ = {};
  CAIRN_RETURN_IF_ERROR(chunk_->DecoderAt(place.begin)->CheckMemory(place));
  block_bytes_ = lease_->gathered.Get(static_cast<size_t>(place.nbytes));
  CAIRN_RETURN_IF_ERROR(chunk_->Read(place.begin, block_bytes_, *lease_));
  block_ = place;
  return absl::OkStatus();
}

// Reads what of dst the block at `begin` holds; returns how many bytes that is.
absl::StatusOr<size_t> BlockCursor::ReadFromBlock(int64_t begin, MutableBytes dst) {
  if (begin < block_.begin || begin >= block_.begin + block_.nbytes) {
    const chunk::Decoder* decoder = chunk_->DecoderAt(begin);
    // Parts of a chunk without blocks are cheap to read.
    if (decoder == nullptr || decoder->nblocks() == 0) {
      CAIRN_RETURN_IF_ERROR(chunk_->Read(begin, dst, *lease_));
      return dst.size();
    }
    CAIRN_ASSIGN_OR_RETURN(const chunk::BlockPlace place,
                           decoder->PlaceOf(decoder->BlockAt(begin)));
    const int64_t n =
        std::min(static_cast<int64_t>(dst.size()), place.begin + place.nbytes - begin);
    // A complete block needs no copy.
    if (n == place.nbytes) {
      CAIRN_RETURN_IF_ERROR(chunk_->Read(begin, dst.first(static_cast<size_t>(n)), *lease_));
      return static_cast<size_t>(n);
    }
    CAIRN_RETURN_IF_ERROR(KeepBlock(place));
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
  const chunk::Decoder* decoder = chunk_->DecoderAt(begin);
  if (decoder == nullptr || decoder->nblocks() == 0) return begin;
  const absl::StatusOr<chunk::BlockPlace> place = decoder->PlaceOf(decoder->BlockAt(begin));
  if (!place.ok()) return AnnotateChunk(nchunk_, place.status());
  // The bytes that are wanted of a block lie beside all of it.
  return decoder->CheckMemory(*place, place->nbytes).ok() ? place->begin + place->nbytes : begin;
}

absl::StatusOr<Bytes> BlockCursor::ReadWithin(int64_t begin, int64_t end) {
  block_ = {};
  block_bytes_ = lease_->gathered.Get(static_cast<size_t>(end - begin));
  if (absl::Status status = chunk_->Read(begin, block_bytes_, *lease_); !status.ok()) {
    return AnnotateChunk(nchunk_, status);
  }
  return Bytes(block_bytes_);
}

}  // namespace cairn::frame
