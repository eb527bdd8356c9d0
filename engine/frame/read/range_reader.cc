#include "engine/frame/read/range_reader.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/frame/read/chunk_reader.h"
#include "engine/frame/read/stored_chunk.h"

namespace cairn::frame {

namespace {

// A block if only a small part of it is wanted.
struct WantedBlock {
  int64_t nchunk = 0;
  FoundEntry found;  // entry of its chunk
  chunk::Header header;
  chunk::BlockPlace place;
};

// Separate, so that reads which need no announcement stay short.
[[gnu::noinline]] void AnnounceRead(const State& state, int64_t nchunk, const FoundEntry& found) {
  AnnounceChunk(state, nchunk, found);
  AnnounceNext(state, nchunk, nchunk + 1);
}

[[gnu::noinline]] std::unique_ptr<ReadAhead> NewReadAhead(const State& state, int64_t begin,
                                                          int64_t size) {
  return std::make_unique<ReadAhead>(AheadOf(state, begin, size));
}

// Finds the block if bytes [begin, begin + size) of a chunk are a small part of one, and it may be
// cached. Filled in place, because copies would cost more than reading a cached block.
std::optional<WantedBlock> FindWanted(const State& state, int64_t nchunk, int64_t begin,
                                      int64_t size, ScratchBuffer& scratch) {
  std::optional<WantedBlock> wanted;
  const bool cacheable = state.checkpoint_id() != 0 &&
                         !state.checkpoint->delta_reference.has_value() &&
                         state.env()->verify != VerifyPolicy::kAlways;
  if (!cacheable || nchunk >= state.chunks.size()) return wanted;
  // Parts of several chunks are announced together.
  if (state.chunksize > 0 && begin + size > state.chunksize) return wanted;
  const absl::StatusOr<FoundEntry> found = state.chunks.Find(nchunk);
  if (!found.ok() || format::IsSpecialEntry(found->entry.value)) return wanted;
  if (ReadAhead::IsUseful(state)) [[unlikely]]
    AnnounceRead(state, nchunk, *found);
  const absl::StatusOr<chunk::Header> header =
      state.chunk_source->ReadHeader(found->entry.value, scratch);
  if (!header.ok() || !header->has_blocks() || header->vlblocks) return wanted;
  WantedBlock& it = wanted.emplace();
  it.nchunk = nchunk;
  it.found = *found;
  it.header = *header;
  chunk::BlockPlace& place = it.place;
  place.block = begin / header->blocksize;
  place.begin = place.block * header->blocksize;
  place.nbytes =
      static_cast<int32_t>(std::min<int64_t>(header->blocksize, header->nbytes - place.begin));
  // A few numbers that are decoded alone take less time than their block, and no memory.
  constexpr int64_t kFew = 4;
  const bool alone = size <= kFew * header->typesize && chunk::DecodesSingleItems(*header);
  const bool small =
      !alone && size <= place.nbytes / 2 && begin + size <= place.begin + place.nbytes;
  if (!small) wanted.reset();
  return wanted;
}

// Reads bytes of a chunk from `begin` on, which lie in the wanted block.
absl::Status ReadWanted(const State& state, const WantedBlock& wanted, int64_t begin,
                        MutableBytes dst, chunk::Workspace& workspace) {
  BlockCache& blocks = state.env()->blocks;
  const chunk::BlockPlace& place = wanted.place;
  const int64_t in_block = begin - place.begin;
  const BlockKey key = BlockKeyOf(state, wanted.found, place.block);
  const BlockCache::Answer answer = blocks.Read(key, place.nbytes, in_block, dst);
  if (answer == BlockCache::Answer::kHit) return absl::OkStatus();
  const ChunkRef ref = {.nchunk = wanted.nchunk, .found = wanted.found, .header = &wanted.header};
  const absl::StatusOr<ChunkReader> chunk =
      ChunkReader::Open(state, ref, state.env()->verify, workspace.stored);
  if (!chunk.ok()) return chunk.status();
  absl::Status status;
  if (answer == BlockCache::Answer::kMiss || !chunk->decoder()->CheckMemory(place).ok()) {
    status = chunk->Read(begin, dst, workspace);
  } else {
    const auto size = static_cast<size_t>(place.nbytes);
    auto block = std::make_unique_for_overwrite<std::byte[]>(size);
    status = chunk->Read(place.begin, {block.get(), size}, workspace);
    if (status.ok()) {
      CopyBytes({block.get() + in_block, dst.size()}, dst);
      blocks.Insert(key, place.nbytes, std::move(block));
    }
  }
  return AnnotateChunk(wanted.nchunk, status);
}

// Reads a complete chunk that may be cached, and fills dst. Returns nothing for any other chunk.
// Chunks that are read one after the other are not looked for, so a scan does not become slower.
std::optional<absl::Status> ReadSmallChunk(const State& state, int64_t nchunk, MutableBytes dst,
                                           chunk::Workspace& workspace) {
  constexpr int64_t kMostBytes = 64 << 10;
  const int64_t size = state.chunksize;
  const int64_t last = std::exchange(workspace.last_chunk, nchunk);
  if (size <= 0 || size > kMostBytes || std::ssize(dst) != size || nchunk == last + 1) return {};
  if (nchunk < 0 || nchunk >= state.chunks.size() || nchunk >= state.nbytes / size) return {};
  const absl::StatusOr<FoundEntry> found = state.chunks.Find(nchunk);
  if (!found.ok() || format::IsSpecialEntry(found->entry.value)) return {};
  const BlockKey key = BlockKeyOf(state, *found, BlockKey::kWholeChunk);
  if (key.owner == 0) return {};
  BlockCache& blocks = state.env()->blocks;
  const BlockCache::Answer answer = blocks.Read(key, size, 0, dst);
  if (answer == BlockCache::Answer::kHit) return absl::OkStatus();
  const absl::StatusOr<ChunkReader> chunk = ChunkReader::Open(
      state, ChunkRef{.nchunk = nchunk, .found = *found}, state.env()->verify, workspace.stored);
  if (!chunk.ok()) return chunk.status();
  const absl::Status status = chunk->Read(0, dst, workspace);
  if (!status.ok()) return AnnotateChunk(nchunk, status);
  if (answer == BlockCache::Answer::kAgain) {
    auto bytes = std::make_unique_for_overwrite<std::byte[]>(dst.size());
    CopyBytes(dst, {bytes.get(), dst.size()});
    blocks.Insert(key, size, std::move(bytes));
  }
  return status;
}

}  // namespace

absl::StatusOr<DecodedOffsets::Place> FindByte(const State& state, int64_t position) {
  if (const int64_t chunksize = state.chunksize; chunksize > 0) {
    return DecodedOffsets::Place{.nchunk = position / chunksize,
                                 .begin = position / chunksize * chunksize};
  }
  ReadBudget budget(state);
  ReadAhead headers(state, 0, state.chunks.size(), ReadAhead::Part::kHeader);
  const auto size_of = [&](int64_t nchunk) {
    headers.Reach(nchunk);
    return ChunkNbytes(state, nchunk);
  };
  const auto check = [&](int64_t nchunk) -> absl::Status {
    ScratchBuffer scratch;
    CAIRN_ASSIGN_OR_RETURN(const StoredChunk stored,
                           ReadStored(state, nchunk, VerifyPolicy::kAlways, scratch));
    return budget.Spend(nchunk, std::ssize(stored.bytes()));
  };
  return state.starts.Find(
      position,
      {.nchunks = CountChunks(state), .nbytes = state.nbytes, .size_of = size_of, .check = check});
}

ReadAhead AheadOf(const State& state, int64_t begin, int64_t size) {
  if (!ReadAhead::IsUseful(state) || size <= 0) return {};
  const absl::StatusOr<DecodedOffsets::Place> first = FindByte(state, begin);
  const absl::StatusOr<DecodedOffsets::Place> last = FindByte(state, begin + size - 1);
  if (!first.ok() || !last.ok()) return {};
  ReadAhead ahead(state, first->nchunk, last->nchunk + 1);
  ahead.Reach(first->nchunk);
  AnnounceNext(state, first->nchunk, last->nchunk + 1);
  return ahead;
}

absl::Status CheckChunkBuffer(int64_t nchunk, int64_t nbytes, MutableBytes dst) {
  if (std::ssize(dst) == nbytes) return absl::OkStatus();
  return InvalidArgument("chunk %d has %d bytes, the buffer %d", nchunk, nbytes, dst.size());
}

absl::Status ReadChunk(const State& state, int64_t nchunk, MutableBytes dst) {
  AnnounceNext(state, nchunk, nchunk + 1);
  const chunk::WorkspacePool::Lease lease = state.env()->pool.Acquire();
  if (std::optional<absl::Status> read = ReadSmallChunk(state, nchunk, dst, *lease)) return *read;
  const absl::StatusOr<ChunkReader> chunk =
      ChunkReader::Open(state, nchunk, state.env()->verify, lease->stored);
  if (!chunk.ok()) return chunk.status();
  CAIRN_RETURN_IF_ERROR(CheckChunkBuffer(nchunk, chunk->nbytes(), dst));
  const absl::Status status = chunk->Read(0, dst, *lease);
  return status.ok() ? status : AnnotateChunk(nchunk, status);
}

absl::Status ReadRange(const State& state, int64_t begin, MutableBytes dst) {
  const auto size = static_cast<int64_t>(dst.size());
  if (!RangeFits(begin, size, state.nbytes)) {
    return OutOfRange("%d bytes from byte %d on, of %d", size, begin, state.nbytes);
  }
  const chunk::WorkspacePool::Lease lease = state.env()->pool.Acquire();
  std::unique_ptr<ReadAhead> ahead;  // set if it is useful
  int64_t done = 0;
  while (done < size) {
    CAIRN_ASSIGN_OR_RETURN(const DecodedOffsets::Place at, FindByte(state, begin + done));
    const int64_t from = begin + done - at.begin;
    const MutableBytes rest = dst.subspan(static_cast<size_t>(done));
    if (const auto wanted = FindWanted(state, at.nchunk, from, std::ssize(rest), lease->stored)) {
      return ReadWanted(state, *wanted, from, rest, *lease);
    }
    if (ReadAhead::IsUseful(state)) [[unlikely]] {
      if (ahead == nullptr) ahead = NewReadAhead(state, begin + done, size - done);
      ahead->Reach(at.nchunk);
    }
    if (from == 0 && state.chunksize > 0 && std::ssize(rest) >= state.chunksize) {
      const MutableBytes all = rest.first(static_cast<size_t>(state.chunksize));
      if (const auto read = ReadSmallChunk(state, at.nchunk, all, *lease)) {
        CAIRN_RETURN_IF_ERROR(*read);
        done += state.chunksize;
        continue;
      }
    }
    const absl::StatusOr<ChunkReader> chunk =
        ChunkReader::Open(state, at.nchunk, state.env()->verify, lease->stored);
    if (!chunk.ok()) return chunk.status();
    const int64_t n = std::min(size - done, chunk->nbytes() - from);
    if (n <= 0) {
      return DataLoss("chunk %d: holds %d bytes, needed from byte %d on", at.nchunk,
                      chunk->nbytes(), from);
    }
    const MutableBytes part = rest.first(static_cast<size_t>(n));
    CAIRN_RETURN_IF_ERROR(AnnotateChunk(at.nchunk, chunk->Read(from, part, *lease)));
    done += n;
  }
  return absl::OkStatus();
}

}  // namespace cairn::frame
