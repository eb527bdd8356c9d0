#include "engine/frame/read/chunk_reader.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checked.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"

namespace cairn::frame {

namespace {

constexpr int64_t kMaxOverlaps = 4;

chunk::DecodeContext ContextOf(const State& state) {
  chunk::DecodeContext context;
  context.registry = state.env()->registry;
  context.executor = state.env()->executor;
  context.pool = &state.env()->pool;
  context.max_memory = state.env()->limits.max_decode_memory;
  context.frame_typesize = state.header().typesize;
  context.whole_block_bitshuffle = state.checkpoint->whole_block_bitshuffle;
  if (state.metadata->array.has_value()) context.blockshape = state.metadata->array->blockshape;
  return context;
}

absl::Status CheckFingerprint(const IndexEntry& entry, Bytes stored) {
  const uint64_t got = format::HashChunk(stored);
  if (got == entry.fingerprint) return absl::OkStatus();
  return DataLoss("fingerprint: expected %016x, got %016x", entry.fingerprint, got);
}

bool IsVerified(const State& state, const FoundEntry& found) {
  if (found.committed >= 0) return state.chunks.IsVerified(found.committed);
  return state.checkpoint_id() != 0 &&
         state.env()->verified.Has(state.checkpoint_id(), found.entry);
}

void MarkVerified(const State& state, const FoundEntry& found) {
  if (found.committed >= 0) return state.chunks.MarkVerified(found.committed);
  if (state.checkpoint_id() != 0) state.env()->verified.Add(state.checkpoint_id(), found.entry);
}

absl::StatusOr<FoundEntry> FindEntry(const State& state, int64_t nchunk) {
  if (IsPartialChunk(state, nchunk)) return FoundEntry{.entry = state.tail.head->entry};
  return state.chunks.Find(nchunk);
}

// What the frame says of a chunk's size; 0 when chunks differ in size.
int32_t FixedNbytes(const State& state, int64_t nchunk) {
  if (IsPartialChunk(state, nchunk)) return static_cast<int32_t>(state.tail.head->nbytes);
  const int64_t chunksize = state.chunksize;
  if (chunksize <= 0) return 0;
  return static_cast<int32_t>(std::min(chunksize, state.nbytes - nchunk * chunksize));
}

absl::StatusOr<chunk::SpecialContent> SpecialContentOf(const State& state, int64_t entry,
                                                       int32_t nbytes) {
  CAIRN_ASSIGN_OR_RETURN(const SpecialValue special, format::SpecialOfEntry(entry));
  if (nbytes == 0) {
    return DataLoss("the size of a special chunk is not known in a frame of variable chunks");
  }
  return chunk::SpecialContent{.kind = special, .typesize = state.header().typesize, .value = {}};
}

// Undoes the DELTA of 2015: bytes of the chunk from `begin` on were stored without the reference's.
void AddReference(Bytes reference, int64_t begin, MutableBytes dst) {
  if (begin >= static_cast<int64_t>(reference.size())) return;
  reference = reference.subspan(static_cast<size_t>(begin));
  for (size_t i = 0; i < std::min(reference.size(), dst.size()); ++i) {
    const int sum = std::to_integer<int>(dst[i]) + std::to_integer<int>(reference[i]);
    dst[i] = static_cast<std::byte>(sum);
  }
}

std::string NameOf(int64_t nchunk) { return absl::StrFormat("chunk %d", nchunk); }

// What a frame of variable chunks says of their sizes.
class StoredSizes final : public ChunkSizeSource {
 public:
  explicit StoredSizes(const State& state) : state_(state) {}
  int64_t nchunks() const override { return CountChunks(state_); }
  int64_t nbytes() const override { return state_.nbytes; }
  absl::StatusOr<int32_t> SizeOf(int64_t nchunk) const override {
    return ChunkNbytes(state_, nchunk);
  }
  absl::Status Check(int64_t nchunk) const override {
    chunk::ScratchBuffer scratch;
    const absl::StatusOr<StoredChunk> stored =
        ReadStored(state_, nchunk, VerifyPolicy::kAlways, scratch);
    return stored.ok() ? budget_.Spend(nchunk, std::ssize(stored->bytes())) : stored.status();
  }

 private:
  const State& state_;
  mutable ReadBudget budget_{state_};
};

}  // namespace

absl::Status AtChunk(int64_t nchunk, const absl::Status& status) {
  return At(NameOf(nchunk), status);
}

absl::StatusOr<IndexEntry> EntryOf(const State& state, int64_t nchunk) {
  return IsPartialChunk(state, nchunk) ? state.tail.head->entry : state.chunks.Get(nchunk);
}

absl::Status CheckChunkNbytes(const State& state, int64_t nbytes) {
  const int64_t most = std::min<int64_t>(state.env()->limits.max_chunk_nbytes, kMaxChunkBytes);
  if (nbytes <= most) return absl::OkStatus();
  return ResourceExhausted("nbytes %d passes the limit of %d for a chunk", nbytes, most);
}

namespace {

absl::Status CheckRead(const absl::StatusOr<StoredChunk>& stored, const IndexEntry& entry,
                       bool check) {
  if (!stored.ok()) return stored.status();
  return check ? CheckFingerprint(entry, stored->bytes()) : absl::OkStatus();
}

// What is wrong with a chunk that cannot be had.
absl::Status Explain(const State& state, int64_t nchunk, const IndexEntry& entry,
                     absl::Status status) {
  if (absl::Status place = state.chunk_source->Locate(entry.value).status(); !place.ok()) {
    return AtChunk(nchunk, place);
  }
  // A version that nobody knows is no future where Cairn itself vouched for the chunk.
  if (absl::IsUnimplemented(status) && entry.fingerprint != 0) {
    status = absl::DataLossError(status.message());
  }
  return At(absl::StrCat(NameOf(nchunk), " ", state.chunk_source->Describe(entry.value)), status);
}

// `header`: of the chunk, when it was read; else null.
absl::StatusOr<StoredChunk> ReadFound(const State& state, int64_t nchunk, const FoundEntry& found,
                                      const chunk::Header* header, VerifyPolicy policy,
                                      chunk::ScratchBuffer& scratch) {
  const bool trusted = policy == VerifyPolicy::kNever ||
                       (policy == VerifyPolicy::kFirstTouch && IsVerified(state, found));
  IndexEntry entry = found.entry;
  if (!trusted) entry.fingerprint = state.chunks.FingerprintOf(found);
  const bool check = !trusted && entry.fingerprint != 0;
  absl::StatusOr<StoredChunk> stored =
      header != nullptr ? state.chunk_source->ReadWithHeader(*header, entry.value, scratch)
                        : state.chunk_source->Read(entry.value, ReadMode::kMapped, scratch);
  absl::Status status = CheckRead(stored, entry, check);
  // What the map shows is damage only if the file says the same.
  if (!status.ok()) {
    stored = state.chunk_source->Read(entry.value, ReadMode::kCopied, scratch);
    status = CheckRead(stored, entry, check);
  }
  if (!status.ok()) {
    entry.fingerprint = state.chunks.FingerprintOf(found);
    return Explain(state, nchunk, entry, std::move(status));
  }
  if (check) MarkVerified(state, found);
  return stored;
}

}  // namespace

absl::StatusOr<StoredChunk> ReadStored(const State& state, int64_t nchunk, VerifyPolicy policy,
                                       chunk::ScratchBuffer& scratch) {
  CAIRN_ASSIGN_OR_RETURN(const FoundEntry found, FindEntry(state, nchunk));
  return ReadFound(state, nchunk, found, nullptr, policy, scratch);
}

ReadBudget::ReadBudget(const State& state)
    : state_(state), room_(state.header().layout == Layout::kSparse ? 0 : state.chunks_end) {}

absl::Status ReadBudget::Spend(int64_t nchunk, int64_t stored) {
  if (stored == 0) return absl::OkStatus();
  spent_ += stored;
  if (state_.header().layout == Layout::kSparse) {
    CAIRN_ASSIGN_OR_RETURN(const IndexEntry entry, EntryOf(state_, nchunk));
    if (files_.insert(entry.value).second) room_ += stored;
  }
  if (spent_ / kMaxOverlaps <= room_) return absl::OkStatus();
  return DataLoss("index: chunks overlap: they take over %d times the %d bytes that they lie in",
                  kMaxOverlaps, room_);
}

bool DependsOnFrame(const State& state, const chunk::Header& header) {
  if (state.checkpoint->delta_reference.has_value()) return true;
  // The two rules differ only for blocks whose items are no multiple of 8.
  const auto is_odd = [&](int32_t block) { return block / header.typesize % 8 != 0; };
  if (!header.has_blocks() ||
      !(is_odd(header.blocksize) || is_odd(header.nbytes % header.blocksize))) {
    return false;
  }
  return state.checkpoint->whole_block_bitshuffle && header.version == chunk::kVersionBeta &&
         std::ranges::find(header.filters, Filter::kBitShuffle, &FilterStage::filter) !=
             header.filters.end();
}

absl::StatusOr<ChunkReader> ChunkReader::Open(const State& state, int64_t nchunk,
                                              VerifyPolicy policy, chunk::ScratchBuffer& scratch) {
  CAIRN_RETURN_IF_ERROR(CheckChunkNumber(state, nchunk));
  if (!IsPartialChunk(state, nchunk)) {
    const absl::StatusOr<FoundEntry> found = state.chunks.Find(nchunk);
    return found.ok() ? OpenStored(state, nchunk, *found, nullptr, policy, scratch)
                      : found.status();
  }
  absl::StatusOr<ChunkReader> chunk = ChunkReader(&state.env()->pool);
  if (const auto& head = state.tail.head; head.has_value()) {
    chunk = OpenStored(state, nchunk, {.entry = head->entry}, nullptr, policy, scratch);
  }
  if (chunk.ok()) chunk->more_ = state.tail.items.span();
  return chunk;
}

absl::StatusOr<ChunkReader> ChunkReader::OpenStored(const State& state, int64_t nchunk,
                                                    const FoundEntry& found,
                                                    const chunk::Header* header,
                                                    VerifyPolicy policy,
                                                    chunk::ScratchBuffer& scratch) {
  const int32_t fixed = FixedNbytes(state, nchunk);
  if (absl::Status status = CheckChunkNbytes(state, fixed); !status.ok()) {
    return AtChunk(nchunk, status);
  }
  // Filled in place, for it is large and chunks are many.
  absl::StatusOr<ChunkReader> chunk = ChunkReader(&state.env()->pool);
  if (format::IsSpecialEntry(found.entry.value)) {
    const absl::StatusOr<chunk::SpecialContent> content =
        SpecialContentOf(state, found.entry.value, fixed);
    if (!content.ok()) return AtChunk(nchunk, content.status());
    chunk->content_ = *content;
    chunk->nbytes_ = fixed;
    return chunk;
  }
  absl::StatusOr<StoredChunk> stored = ReadFound(state, nchunk, found, header, policy, scratch);
  if (!stored.ok()) return std::move(stored).status();
  auto& decoder = chunk->content_.emplace<chunk::Decoder>();
  if (absl::Status status = decoder.Open(stored->bytes(), stored->header, ContextOf(state));
      !status.ok()) {
    return AtChunk(nchunk, status);
  }
  const int32_t nbytes = decoder.nbytes();
  if (absl::Status status = CheckChunkNbytes(state, nbytes); !status.ok()) {
    return AtChunk(nchunk, status);
  }
  if (fixed != 0 && nbytes != fixed) {
    return DataLoss("%s: nbytes: expected %d, got %d", NameOf(nchunk), fixed, nbytes);
  }
  chunk->nbytes_ = nbytes;
  chunk->stored_ = std::move(stored->chunk);
  if (state.checkpoint->delta_reference.has_value())
    chunk->reference_ = *state.checkpoint->delta_reference;
  return chunk;
}

absl::Status ChunkReader::Read(int64_t begin, MutableBytes dst) const {
  const chunk::WorkspacePool::Lease lease = pool_->Acquire();
  return Read(begin, dst, *lease);
}

absl::Status ChunkReader::Read(int64_t begin, MutableBytes dst, chunk::Workspace& workspace) const {
  if (!RangeFits(begin, static_cast<int64_t>(dst.size()), nbytes())) {
    return OutOfRange("chunk: %d bytes from byte %d on, of %d", dst.size(), begin, nbytes());
  }
  const int64_t from_chunk = std::clamp<int64_t>(nbytes_ - begin, 0, std::ssize(dst));
  const MutableBytes behind = dst.subspan(static_cast<size_t>(from_chunk));
  if (!behind.empty()) {
    const int64_t skipped = std::max<int64_t>(begin - nbytes_, 0);
    CopyBytes(more_.subspan(static_cast<size_t>(skipped), behind.size()), behind);
  }
  return from_chunk == 0
             ? absl::OkStatus()
             : ReadContent(begin, dst.first(static_cast<size_t>(from_chunk)), workspace);
}

absl::Status ChunkReader::ReadContent(int64_t begin, MutableBytes dst,
                                      chunk::Workspace& workspace) const {
  if (const auto* decoder = std::get_if<chunk::Decoder>(&content_)) {
    CAIRN_RETURN_IF_ERROR(decoder->DecodeRange(begin, dst, workspace));
    AddReference(reference_, begin, dst);
    return absl::OkStatus();
  }
  if (const auto* special = std::get_if<chunk::SpecialContent>(&content_)) {
    return chunk::FillSpecial(*special, begin, dst);
  }
  return absl::OkStatus();
}

absl::StatusOr<int32_t> ChunkNbytes(const State& state, int64_t nchunk) {
  CAIRN_RETURN_IF_ERROR(CheckChunkNumber(state, nchunk));
  if (IsPartialChunk(state, nchunk)) return static_cast<int32_t>(state.tail.nbytes());
  if (const int32_t fixed = FixedNbytes(state, nchunk); fixed != 0) return fixed;
  CAIRN_ASSIGN_OR_RETURN(const IndexEntry entry, state.chunks.Get(nchunk));
  chunk::ScratchBuffer scratch;
  const absl::StatusOr<chunk::Header> header = state.chunk_source->ReadHeader(entry.value, scratch);
  if (!header.ok()) return AtChunk(nchunk, header.status());
  return header->nbytes;
}

absl::StatusOr<DecodedOffsets::Place> FindByte(const State& state, int64_t position) {
  const int64_t chunksize = state.chunksize;
  if (chunksize <= 0) return state.starts.Find(position, StoredSizes(state));
  return DecodedOffsets::Place{.nchunk = position / chunksize,
                               .begin = position / chunksize * chunksize};
}

namespace {

// A block of which a small part is wanted.
struct WantedBlock {
  FoundEntry found;  // its chunk
  chunk::Header header;
  int64_t block = 0;
  int64_t begin = 0;  // in the chunk
  int64_t nbytes = 0;
};

// The block that bytes [begin, begin + size) of a chunk are a small part of, if its place says what
// it holds. Filled in place: a kept block is read in less time than copies of this take.
std::optional<WantedBlock> FindWanted(const State& state, int64_t nchunk, int64_t begin,
                                      int64_t size, chunk::ScratchBuffer& scratch) {
  std::optional<WantedBlock> wanted;
  const bool lasting = state.checkpoint_id() != 0 &&
                       !state.checkpoint->delta_reference.has_value() &&
                       state.env()->verify != VerifyPolicy::kAlways;
  if (!lasting || nchunk >= state.chunks.size()) return wanted;
  const absl::StatusOr<FoundEntry> found = state.chunks.Find(nchunk);
  if (!found.ok() || format::IsSpecialEntry(found->entry.value)) return wanted;
  const absl::StatusOr<chunk::Header> header =
      state.chunk_source->ReadHeader(found->entry.value, scratch);
  if (!header.ok() || !header->has_blocks() || header->vlblocks) return wanted;
  WantedBlock& it = wanted.emplace();
  it.found = *found;
  it.header = *header;
  it.block = begin / header->blocksize;
  it.begin = it.block * header->blocksize;
  it.nbytes = std::min<int64_t>(header->blocksize, header->nbytes - it.begin);
  const bool small = size <= it.nbytes / 2 && begin + size <= it.begin + it.nbytes;
  if (!small) wanted.reset();
  return wanted;
}

// Reads bytes from `begin` on of a chunk, which are in the wanted block.
absl::Status ReadWanted(const State& state, int64_t nchunk, const WantedBlock& wanted,
                        int64_t begin, MutableBytes dst, chunk::Workspace& workspace) {
  BlockCache& blocks = state.env()->blocks;
  const int64_t in_block = begin - wanted.begin;
  const BlockKey key = {
      .checkpoint_id = state.checkpoint_id(), .entry = wanted.found.entry, .block = wanted.block};
  const BlockCache::Answer answer = blocks.Read(key, wanted.nbytes, in_block, dst);
  if (answer == BlockCache::Answer::kHit) return absl::OkStatus();
  const absl::StatusOr<ChunkReader> chunk = ChunkReader::Open(
      state, nchunk, wanted.found, wanted.header, state.env()->verify, workspace.stored);
  if (!chunk.ok()) return chunk.status();
  absl::Status status;
  const chunk::BlockPlace block_place = {.block = wanted.block,
                                         .nbytes = static_cast<int32_t>(wanted.nbytes)};
  if (answer == BlockCache::Answer::kMiss || !chunk->decoder()->CheckMemory(block_place).ok()) {
    status = chunk->Read(begin, dst, workspace);
  } else {
    const auto size = static_cast<size_t>(wanted.nbytes);
    auto block = std::make_unique_for_overwrite<std::byte[]>(size);
    status = chunk->Read(wanted.begin, {block.get(), size}, workspace);
    if (status.ok()) {
      CopyBytes({block.get() + in_block, dst.size()}, dst);
      blocks.Insert(key, wanted.nbytes, std::move(block));
    }
  }
  return status.ok() ? status : AtChunk(nchunk, status);
}

}  // namespace

absl::Status ReadRange(const State& state, int64_t begin, MutableBytes dst) {
  const auto size = static_cast<int64_t>(dst.size());
  if (!RangeFits(begin, size, state.nbytes)) {
    return OutOfRange("%d bytes from byte %d on, of %d", size, begin, state.nbytes);
  }
  const chunk::WorkspacePool::Lease lease = state.env()->pool.Acquire();
  int64_t done = 0;
  while (done < size) {
    CAIRN_ASSIGN_OR_RETURN(const DecodedOffsets::Place at, FindByte(state, begin + done));
    const int64_t from = begin + done - at.begin;
    const MutableBytes rest = dst.subspan(static_cast<size_t>(done));
    if (const auto wanted = FindWanted(state, at.nchunk, from, std::ssize(rest), lease->stored)) {
      return ReadWanted(state, at.nchunk, *wanted, from, rest, *lease);
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
    if (absl::Status status = chunk->Read(from, part, *lease); !status.ok()) {
      return AtChunk(at.nchunk, status);
    }
    done += n;
  }
  return absl::OkStatus();
}

}  // namespace cairn::frame
