#include "engine/frame/read/stored_chunk.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "engine/format/seal.h"
#include "engine/frame/read/read_ahead.h"

namespace cairn::frame {

namespace {

// Returns true if the committed index remembers whether the chunk was verified.
bool HasMark(const State& state, const FoundEntry& found) {
  return found.committed >= 0 && state.chunks.base()->keeps_marks();
}

bool IsVerified(const State& state, const FoundEntry& found) {
  if (HasMark(state, found)) return state.chunks.base()->IsVerified(found.committed);
  return state.checkpoint_id() != 0 &&
         state.env()->verified.Has(state.checkpoint_id(), found.entry);
}

void MarkVerified(const State& state, const FoundEntry& found) {
  if (HasMark(state, found)) return state.chunks.base()->MarkVerified(found.committed);
  if (state.checkpoint_id() != 0) state.env()->verified.Add(state.checkpoint_id(), found.entry);
}

// Checks a chunk that was read. A `fingerprint` of 0 is not checked.
absl::Status CheckRead(const absl::StatusOr<StoredChunk>& stored, uint64_t fingerprint) {
  if (!stored.ok() || fingerprint == 0) return stored.status();
  const uint64_t got = format::HashChunk(stored->bytes());
  if (got == fingerprint) return absl::OkStatus();
  return DataLoss("fingerprint: expected %016x, got %016x", fingerprint, got);
}

// Returns the fingerprint that a chunk must be checked against, or 0.
uint64_t FingerprintToCheck(const State& state, const FoundEntry& found, VerifyPolicy policy) {
  const bool trusted = policy == VerifyPolicy::kNever ||
                       (policy == VerifyPolicy::kFirstTouch && IsVerified(state, found));
  return trusted ? 0 : state.chunks.FingerprintOf(found);
}

// Returns the error of a chunk that cannot be read.
absl::Status Explain(const State& state, const ChunkRef& chunk, absl::Status status) {
  const int64_t entry = chunk.found.entry.value;
  const absl::StatusOr<ChunkLocation> place = state.chunk_source->Locate(entry);
  CAIRN_RETURN_IF_ERROR(AnnotateChunk(chunk.nchunk, place.status()));
  // Cairn fingerprinted this chunk, so it wrote a known version. An unknown one is damage, not a
  // newer format.
  if (absl::IsUnimplemented(status) && state.chunks.FingerprintOf(chunk.found) != 0) {
    status = WithCode(absl::StatusCode::kDataLoss, status);
  }
  const std::optional<int64_t> offset = place->offset;
  return offset.has_value()
             ? Annotate(status, "chunk %d at byte %d", chunk.nchunk, *offset)
             : Annotate(status, "chunk %d %s", chunk.nchunk, state.chunk_source->Describe(entry));
}

}  // namespace

absl::StatusOr<ChunkRef> FindChunk(const State& state, int64_t nchunk) {
  if (IsPartialChunk(state, nchunk)) {
    return ChunkRef{.nchunk = nchunk, .found = {.entry = state.partial.head->entry}};
  }
  CAIRN_ASSIGN_OR_RETURN(const FoundEntry found, state.chunks.Find(nchunk));
  return ChunkRef{.nchunk = nchunk, .found = found};
}

namespace {

// Reads a chunk in that mode and checks it.
absl::StatusOr<StoredChunk> ReadChecked(const State& state, const ChunkRef& chunk,
                                        VerifyPolicy policy, ReadMode mode,
                                        ScratchBuffer& scratch) {
  const int64_t entry = chunk.found.entry.value;
  const uint64_t fingerprint = FingerprintToCheck(state, chunk.found, policy);
  // A chunk that is verified is read as a whole, even if reading is quick.
  const bool verifies = fingerprint != 0 && policy == VerifyPolicy::kFirstTouch;
  if (verifies || ReadAhead::IsUseful(state)) AnnounceChunk(state, chunk.nchunk, chunk.found);
  absl::StatusOr<StoredChunk> stored = state.chunk_source->Read(entry, mode, scratch, chunk.header);
  absl::Status status = CheckRead(stored, fingerprint);
  // Bytes that the mapping shows are damaged only if the file says the same.
  if (!status.ok()) {
    stored = state.chunk_source->Read(entry, ReadMode::kCopied, scratch);
    status = CheckRead(stored, fingerprint);
  }
  if (!status.ok()) return Explain(state, chunk, std::move(status));
  if (fingerprint != 0) MarkVerified(state, chunk.found);
  return stored;
}

}  // namespace

absl::StatusOr<StoredChunk> ReadStored(const State& state, const ChunkRef& chunk,
                                       VerifyPolicy policy, ScratchBuffer& scratch) {
  return ReadChecked(state, chunk, policy, ReadMode::kMapped, scratch);
}

absl::StatusOr<StoredChunk> ReadStored(const State& state, int64_t nchunk, VerifyPolicy policy,
                                       ScratchBuffer& scratch) {
  CAIRN_ASSIGN_OR_RETURN(const ChunkRef chunk, FindChunk(state, nchunk));
  return ReadStored(state, chunk, policy, scratch);
}

absl::StatusOr<StoredChunk> PinStored(const State& state, int64_t nchunk, VerifyPolicy policy,
                                      ScratchBuffer& scratch,
                                      const std::span<const ByteRange>* needed) {
  CAIRN_ASSIGN_OR_RETURN(const ChunkRef chunk, FindChunk(state, nchunk));
  if (needed != nullptr && FingerprintToCheck(state, chunk.found, policy) == 0) {
    absl::StatusOr<StoredChunk> stored =
        state.chunk_source->ReadBlocks(chunk.found.entry.value, *needed, scratch);
    if (stored.ok()) return stored;
  }
  return ReadChecked(state, chunk, policy, ReadMode::kPinned, scratch);
}

BlockKey BlockKeyOf(const State& state, const FoundEntry& found, int64_t block) {
  const Checkpoint& checkpoint = *state.checkpoint;
  BlockKey key = {
      .entry = {.value = found.entry.value, .fingerprint = state.chunks.FingerprintOf(found)},
      .block = block};
  const bool keeps =
      !checkpoint.delta_reference.has_value() && state.env()->verify != VerifyPolicy::kAlways;
  if (!keeps || state.checkpoint_id() == 0) return key;
  // The nonce belongs to the frame. Bytes that do not fit their fingerprint are not remembered.
  const bool is_sure = key.entry.fingerprint != 0 && checkpoint.seal_holds &&
                       state.env()->verify == VerifyPolicy::kFirstTouch;
  key.owner = is_sure ? checkpoint.seal->nonce : state.checkpoint_id();
  return key;
}

ReadBudget::ReadBudget(const State& state)
    : state_(state), available_(state.header().layout == Layout::kSparse ? 0 : state.chunks_end) {}

absl::Status ReadBudget::Spend(int64_t nchunk, int64_t stored) {
  constexpr int64_t kMaxOverlaps = 4;
  if (stored == 0) return absl::OkStatus();
  spent_ += stored;
  if (state_.header().layout == Layout::kSparse) {
    CAIRN_ASSIGN_OR_RETURN(const ChunkRef chunk, FindChunk(state_, nchunk));
    if (files_.insert(chunk.found.entry.value).second) available_ += stored;
  }
  if (spent_ / kMaxOverlaps <= available_) return absl::OkStatus();
  return DataLoss("index: chunks overlap: they take over %d times the %d bytes that they lie in",
                  kMaxOverlaps, available_);
}

}  // namespace cairn::frame
