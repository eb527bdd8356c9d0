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

// The header of the chunk at `position`, and the bytes that it was read from: where the frame can
// be reached in place they go on to the end of the chunk area.
struct Found {
  Bytes bytes;
  chunk::Header header;
};

absl::StatusOr<Found> FindHeader(const State& state, int64_t position,
                                 chunk::ScratchBuffer& scratch) {
  const int64_t available = state.chunks_end - position;
  const int64_t wanted =
      state.region.in_place() ? available : std::min<int64_t>(available, chunk::kHeaderSize);
  Found found;
  CAIRN_ASSIGN_OR_RETURN(found.bytes, state.region.Read(position, wanted, scratch));
  CAIRN_ASSIGN_OR_RETURN(found.header, chunk::ParseHeader(found.bytes, available));
  return found;
}

absl::StatusOr<Bytes> FindChunk(const State& state, int64_t position,
                                chunk::ScratchBuffer& scratch) {
  CAIRN_ASSIGN_OR_RETURN(const Found found, FindHeader(state, position, scratch));
  if (state.region.in_place()) return found.bytes.first(static_cast<size_t>(found.header.cbytes));
  return state.region.Read(position, found.header.cbytes, scratch);
}

chunk::DecodeContext ContextOf(const State& state) {
  chunk::DecodeContext context;
  context.registry = state.env->registry;
  context.executor = state.env->executor;
  context.pool = &state.env->pool;
  context.frame_typesize = state.header.typesize;
  if (state.array.has_value()) context.blockshape = state.array->blockshape;
  return context;
}

absl::Status CheckFingerprint(const State& state, int64_t nchunk, const IndexEntry& entry,
                              VerifyPolicy policy, Bytes stored) {
  if (entry.fingerprint == 0 || policy == VerifyPolicy::kNever) return absl::OkStatus();
  if (policy == VerifyPolicy::kFirstTouch && state.chunks.IsVerified(nchunk)) {
    return absl::OkStatus();
  }
  if (const uint64_t got = format::HashChunk(stored); got != entry.fingerprint) {
    return DataLoss("fingerprint: expected %016x, got %016x", entry.fingerprint, got);
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

absl::Status CheckLimit(const State& state, int32_t nbytes) {
  if (nbytes <= state.env->limits.max_chunk_nbytes) return absl::OkStatus();
  return ResourceExhausted("nbytes %d passes the limit of %d for a chunk", nbytes,
                           state.env->limits.max_chunk_nbytes);
}

absl::StatusOr<chunk::SpecialContent> SpecialContentOf(const State& state, int64_t entry,
                                                       int32_t nbytes) {
  CAIRN_ASSIGN_OR_RETURN(const SpecialValue special, format::SpecialOfEntry(entry));
  if (nbytes == 0) {
    return DataLoss("the size of a special chunk is not known in a frame of variable chunks");
  }
  return chunk::SpecialContent{.kind = special, .typesize = state.header.typesize, .value = {}};
}

std::string NameOf(int64_t nchunk) { return absl::StrFormat("chunk %d", nchunk); }

// What a frame of variable chunks says of their sizes.
class StoredSizes final : public ChunkSizes {
 public:
  explicit StoredSizes(const State& state) : state_(state) {}
  int64_t nchunks() const override { return CountChunks(state_); }
  int64_t nbytes() const override { return state_.info.nbytes; }
  absl::StatusOr<int32_t> SizeOf(int64_t nchunk) const override {
    return ChunkNbytes(state_, nchunk);
  }
  absl::Status Check(int64_t nchunk) const override {
    chunk::ScratchBuffer scratch;
    return ReadStored(state_, nchunk, VerifyPolicy::kAlways, scratch).status();
  }

 private:
  const State& state_;
};

}  // namespace

int64_t CountChunks(const State& state) {
  const bool tail = state.tail != nullptr && !state.tail->empty();
  return state.chunks.size() + (tail ? 1 : 0);
}

bool IsTail(const State& state, int64_t nchunk) { return nchunk == state.chunks.size(); }

absl::Status CheckChunkNumber(const State& state, int64_t nchunk) {
  if (nchunk >= 0 && nchunk < CountChunks(state)) return absl::OkStatus();
  return OutOfRange("chunk %d of %d", nchunk, CountChunks(state));
}

absl::StatusOr<int64_t> PositionOf(const State& state, int64_t nchunk, int64_t entry) {
  const int64_t area = state.chunks_end - state.header.header_len;
  if (entry < 0 || entry > area - chunk::kBlosc1HeaderSize) {
    return DataLoss("%s: index: offset %d lies outside the %d bytes of chunks", NameOf(nchunk),
                    entry, area);
  }
  return state.header.header_len + entry;
}

absl::StatusOr<Bytes> ReadStored(const State& state, int64_t nchunk, VerifyPolicy policy,
                                 chunk::ScratchBuffer& scratch) {
  CAIRN_ASSIGN_OR_RETURN(const IndexEntry entry, state.chunks.Get(nchunk));
  CAIRN_ASSIGN_OR_RETURN(const int64_t position, PositionOf(state, nchunk, entry.value));
  absl::StatusOr<Bytes> stored = FindChunk(state, position, scratch);
  absl::Status status = stored.status();
  // A version that nobody knows is no future where Cairn itself vouched for the chunk.
  if (absl::IsUnimplemented(status) && entry.fingerprint != 0) {
    status = absl::DataLossError(status.message());
  }
  if (status.ok()) status = CheckFingerprint(state, nchunk, entry, policy, *stored);
  if (!status.ok()) return At(absl::StrFormat("chunk %d at byte %d", nchunk, position), status);
  return stored;
}

absl::StatusOr<OpenChunk> OpenChunk::Open(const State& state, int64_t nchunk, VerifyPolicy policy,
                                          chunk::ScratchBuffer& scratch) {
  CAIRN_RETURN_IF_ERROR(CheckChunkNumber(state, nchunk));
  if (IsTail(state, nchunk)) {
    return OpenChunk(Bytes(*state.tail), static_cast<int32_t>(state.tail->size()));
  }
  CAIRN_ASSIGN_OR_RETURN(const IndexEntry entry, state.chunks.Get(nchunk));
  const int32_t fixed = FixedNbytes(state, nchunk);
  if (absl::Status status = CheckLimit(state, fixed); !status.ok()) {
    return At(NameOf(nchunk), status);
  }
  if (format::IsSpecialEntry(entry.value)) {
    const absl::StatusOr<chunk::SpecialContent> content =
        SpecialContentOf(state, entry.value, fixed);
    if (!content.ok()) return At(NameOf(nchunk), content.status());
    return OpenChunk(*content, fixed);
  }
  CAIRN_ASSIGN_OR_RETURN(const Bytes stored, ReadStored(state, nchunk, policy, scratch));
  absl::StatusOr<chunk::Decoder> decoder = chunk::Decoder::Make(stored, ContextOf(state));
  if (!decoder.ok()) return At(NameOf(nchunk), decoder.status());
  const int32_t nbytes = decoder->nbytes();
  if (absl::Status status = CheckLimit(state, nbytes); !status.ok()) {
    return At(NameOf(nchunk), status);
  }
  if (fixed != 0 && nbytes != fixed) {
    return DataLoss("%s: nbytes: expected %d, got %d", NameOf(nchunk), fixed, nbytes);
  }
  return OpenChunk(*std::move(decoder), nbytes);
}

absl::Status OpenChunk::Read(int64_t begin, MutableBytes dst) const {
  if (!RangeFits(begin, static_cast<int64_t>(dst.size()), nbytes_)) {
    return OutOfRange("chunk: %d bytes from byte %d on, of %d", dst.size(), begin, nbytes_);
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
  chunk::ScratchBuffer scratch;
  const absl::StatusOr<Found> found = FindHeader(state, position, scratch);
  if (!found.ok()) return At(NameOf(nchunk), found.status());
  return found->header.nbytes;
}

absl::StatusOr<ChunkStarts::Place> FindByte(const State& state, int64_t position) {
  const int64_t chunksize = state.header.chunksize;
  if (chunksize <= 0) return state.starts.Find(position, StoredSizes(state));
  return ChunkStarts::Place{.nchunk = position / chunksize,
                            .begin = position / chunksize * chunksize};
}

absl::Status ReadRange(const State& state, int64_t begin, MutableBytes dst) {
  const auto size = static_cast<int64_t>(dst.size());
  if (!RangeFits(begin, size, state.info.nbytes)) {
    return OutOfRange("%d bytes from byte %d on, of %d", size, begin, state.info.nbytes);
  }
  const chunk::WorkspacePool::Lease lease = state.env->pool.Acquire();
  int64_t done = 0;
  while (done < size) {
    CAIRN_ASSIGN_OR_RETURN(const ChunkStarts::Place at, FindByte(state, begin + done));
    CAIRN_ASSIGN_OR_RETURN(const OpenChunk chunk,
                           OpenChunk::Open(state, at.nchunk, state.env->verify, lease->stored));
    const int64_t from = begin + done - at.begin;
    const int64_t n = std::min(size - done, chunk.nbytes() - from);
    if (n <= 0) {
      return DataLoss("chunk %d: holds %d bytes, needed from byte %d on", at.nchunk, chunk.nbytes(),
                      from);
    }
    if (absl::Status status =
            chunk.Read(from, dst.subspan(static_cast<size_t>(done), static_cast<size_t>(n)));
        !status.ok()) {
      return At(NameOf(at.nchunk), status);
    }
    done += n;
  }
  return absl::OkStatus();
}

}  // namespace cairn::frame
