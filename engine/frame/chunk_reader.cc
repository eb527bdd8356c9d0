#include "engine/frame/chunk_reader.h"

#include <algorithm>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"

namespace cairn::frame {

namespace {

// The bytes from `position` on that hold a whole chunk: all of the chunk area where they can be
// reached in place, else the chunk alone.
absl::StatusOr<Bytes> ReadStored(const State& state, int64_t position,
                                 chunk::ScratchBuffer& scratch) {
  const int64_t available = state.chunks_end - position;
  if (state.region.in_place()) return state.region.Read(position, available, scratch);
  CAIRN_ASSIGN_OR_RETURN(
      const Bytes head,
      state.region.Read(position, std::min<int64_t>(available, chunk::kHeaderSize), scratch));
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, chunk::ParseHeader(head, available));
  return state.region.Read(position, header.cbytes, scratch);
}

chunk::DecodeContext ContextOf(const State& state) {
  return {.registry = state.env->registry,
          .executor = state.env->executor,
          .pool = &state.env->pool,
          .frame_typesize = state.header.typesize,
          .blockshape = state.blockshape};
}

absl::Status CheckFingerprint(const State& state, int64_t nchunk, uint64_t expected, Bytes stored) {
  const VerifyPolicy policy = state.env->verify;
  if (expected == 0 || policy == VerifyPolicy::kNever) return absl::OkStatus();
  if (policy == VerifyPolicy::kFirstTouch && state.chunks.IsVerified(nchunk)) {
    return absl::OkStatus();
  }
  if (const uint64_t got = format::HashChunk(stored); got != expected) {
    return DataLoss("fingerprint: expected %016x, got %016x", expected, got);
  }
  state.chunks.MarkVerified(nchunk);
  return absl::OkStatus();
}

// What the frame says of a chunk's size; 0 when chunks differ in size.
int32_t FixedNbytes(const State& state, int64_t nchunk) {
  const int64_t chunksize = state.header.chunksize;
  if (chunksize <= 0) return 0;
  return static_cast<int32_t>(std::min(chunksize, state.info.nbytes - nchunk * chunksize));
}

bool IsTail(const State& state, int64_t nchunk) { return nchunk == state.chunks.size(); }

}  // namespace

int64_t CountChunks(const State& state) {
  const bool tail = state.tail != nullptr && !state.tail->empty();
  return state.chunks.size() + (tail ? 1 : 0);
}

absl::Status CheckChunkNumber(const State& state, int64_t nchunk) {
  if (nchunk >= 0 && nchunk < CountChunks(state)) return absl::OkStatus();
  return OutOfRange("chunk %d of %d", nchunk, CountChunks(state));
}

absl::StatusOr<int64_t> PositionOf(const State& state, int64_t nchunk, int64_t entry) {
  const int64_t area = state.chunks_end - state.header.header_len;
  if (entry < 0 || entry > area - chunk::kBlosc1HeaderSize) {
    return DataLoss("chunk %d: index: offset %d lies outside the %d bytes of chunks", nchunk, entry,
                    area);
  }
  return state.header.header_len + entry;
}

absl::StatusOr<OpenChunk> OpenChunk::Open(const State& state, int64_t nchunk,
                                          chunk::ScratchBuffer& scratch) {
  CAIRN_RETURN_IF_ERROR(CheckChunkNumber(state, nchunk));
  if (IsTail(state, nchunk)) {
    return OpenChunk(state, Bytes(*state.tail), static_cast<int32_t>(state.tail->size()));
  }
  CAIRN_ASSIGN_OR_RETURN(const IndexEntry entry, state.chunks.Get(nchunk));
  const int32_t fixed = FixedNbytes(state, nchunk);
  if (format::IsSpecialEntry(entry.value)) {
    absl::StatusOr<SpecialValue> special = format::SpecialOfEntry(entry.value);
    if (!special.ok()) return At(absl::StrFormat("chunk %d", nchunk), special.status());
    if (fixed == 0) {
      return DataLoss(
          "chunk %d: the size of a special chunk is not known in a frame of variable "
          "chunks",
          nchunk);
    }
    return OpenChunk(
        state,
        chunk::SpecialContent{.kind = *special, .typesize = state.header.typesize, .value = {}},
        fixed);
  }
  CAIRN_ASSIGN_OR_RETURN(const int64_t position, PositionOf(state, nchunk, entry.value));
  const auto open = [&]() -> absl::StatusOr<OpenChunk> {
    CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, ReadStored(state, position, scratch));
    CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, chunk::ParseHeader(bytes));
    CAIRN_RETURN_IF_ERROR(CheckFingerprint(state, nchunk, entry.fingerprint,
                                           bytes.first(static_cast<size_t>(header.cbytes))));
    if (fixed != 0 && header.nbytes != fixed) {
      return DataLoss("nbytes: expected %d, got %d", fixed, header.nbytes);
    }
    CAIRN_ASSIGN_OR_RETURN(chunk::Decoder decoder, chunk::Decoder::Make(bytes, ContextOf(state)));
    return OpenChunk(state, std::move(decoder), header.nbytes);
  };
  absl::StatusOr<OpenChunk> chunk = open();
  if (!chunk.ok()) {
    return At(absl::StrFormat("chunk %d at byte %d", nchunk, position), chunk.status());
  }
  return chunk;
}

absl::Status OpenChunk::Read(int64_t begin, MutableBytes dst) const {
  if (!RangeFits(begin, static_cast<int64_t>(dst.size()), nbytes_)) {
    return OutOfRange("chunk: bytes [%d, %d) of %d", begin,
                      begin + static_cast<int64_t>(dst.size()), nbytes_);
  }
  if (nbytes_ > max_nbytes_) {
    return ResourceExhausted("nbytes %d passes the limit of %d", nbytes_, max_nbytes_);
  }
  if (const auto* decoder = std::get_if<chunk::Decoder>(&content_)) {
    return decoder->DecodeRange(begin, dst);
  }
  if (const auto* special = std::get_if<chunk::SpecialContent>(&content_)) {
    return chunk::FillSpecial(*special, begin, dst);
  }
  CopyBytes(std::get<Bytes>(content_).subspan(static_cast<size_t>(begin), dst.size()), dst);
  return absl::OkStatus();
}

Bytes OpenChunk::stored() const {
  const chunk::Decoder* stored = decoder();
  return stored == nullptr ? Bytes() : stored->bytes();
}

absl::StatusOr<int32_t> ChunkNbytes(const State& state, int64_t nchunk) {
  CAIRN_RETURN_IF_ERROR(CheckChunkNumber(state, nchunk));
  if (IsTail(state, nchunk)) return static_cast<int32_t>(state.tail->size());
  if (const int32_t fixed = FixedNbytes(state, nchunk); fixed != 0) return fixed;
  CAIRN_ASSIGN_OR_RETURN(const IndexEntry entry, state.chunks.Get(nchunk));
  CAIRN_ASSIGN_OR_RETURN(const int64_t position, PositionOf(state, nchunk, entry.value));
  const int64_t available = state.chunks_end - position;
  chunk::ScratchBuffer scratch;
  CAIRN_ASSIGN_OR_RETURN(
      const Bytes head,
      state.region.Read(position, std::min<int64_t>(available, chunk::kHeaderSize), scratch));
  const absl::StatusOr<chunk::Header> header = chunk::ParseHeader(head, available);
  if (!header.ok()) return At(absl::StrFormat("chunk %d", nchunk), header.status());
  return header->nbytes;
}

absl::StatusOr<ChunkOfByte> FindByte(const State& state, int64_t position) {
  const int64_t chunksize = state.header.chunksize;
  if (chunksize > 0) {
    return ChunkOfByte{.nchunk = position / chunksize, .begin = position / chunksize * chunksize};
  }
  CAIRN_ASSIGN_OR_RETURN(const std::vector<int64_t>* starts,
                         state.starts.Get(CountChunks(state), [&](int64_t nchunk) {
                           return ChunkNbytes(state, nchunk);
                         }));
  const auto after = std::ranges::upper_bound(*starts, position);
  if (after == starts->end()) {
    return DataLoss("frame: its chunks hold %d of %d bytes", starts->back(), state.info.nbytes);
  }
  return ChunkOfByte{.nchunk = after - starts->begin() - 1, .begin = *(after - 1)};
}

absl::Status ReadRange(const State& state, int64_t begin, MutableBytes dst) {
  const auto size = static_cast<int64_t>(dst.size());
  if (!RangeFits(begin, size, state.info.nbytes)) {
    return OutOfRange("bytes [%d, %d) of %d", begin, begin + size, state.info.nbytes);
  }
  const chunk::WorkspacePool::Lease lease = state.env->pool.Acquire();
  int64_t done = 0;
  while (done < size) {
    CAIRN_ASSIGN_OR_RETURN(const ChunkOfByte at, FindByte(state, begin + done));
    CAIRN_ASSIGN_OR_RETURN(const OpenChunk chunk, OpenChunk::Open(state, at.nchunk, lease->stored));
    const int64_t from = begin + done - at.begin;
    const int64_t n = std::min(size - done, chunk.nbytes() - from);
    if (n <= 0) {
      return DataLoss("chunk %d: holds %d bytes, needed from byte %d on", at.nchunk, chunk.nbytes(),
                      from);
    }
    if (absl::Status status =
            chunk.Read(from, dst.subspan(static_cast<size_t>(done), static_cast<size_t>(n)));
        !status.ok()) {
      return At(absl::StrFormat("chunk %d", at.nchunk), status);
    }
    done += n;
  }
  return absl::OkStatus();
}

}  // namespace cairn::frame
