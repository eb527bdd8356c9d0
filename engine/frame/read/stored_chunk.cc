#include "engine/frame/read/stored_chunk.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "engine/base/status.h"
#include "engine/format/seal.h"

namespace cairn::frame {

namespace {

std::string NameOf(int64_t nchunk) { return absl::StrFormat("chunk %d", nchunk); }

absl::Status CheckFingerprint(uint64_t expected, Bytes stored) {
  const uint64_t got = format::HashChunk(stored);
  if (got == expected) return absl::OkStatus();
  return DataLoss("fingerprint: expected %016x, got %016x", expected, got);
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

// `fingerprint`: 0 where it need not be checked.
absl::Status CheckRead(const absl::StatusOr<StoredChunk>& stored, uint64_t fingerprint) {
  if (!stored.ok()) return stored.status();
  return fingerprint != 0 ? CheckFingerprint(fingerprint, stored->bytes()) : absl::OkStatus();
}

// What is wrong with a chunk that cannot be read.
absl::Status Explain(const State& state, const ChunkRef& chunk, absl::Status status) {
  const int64_t entry = chunk.found.entry.value;
  if (absl::Status located = state.chunk_source->Locate(entry).status(); !located.ok()) {
    return AnnotateChunk(chunk.nchunk, located);
  }
  // Cairn fingerprinted this chunk, so it wrote a known version: an unknown one is damage, not a
  // newer format.
  if (absl::IsUnimplemented(status) && state.chunks.FingerprintOf(chunk.found) != 0) {
    status = absl::DataLossError(status.message());
  }
  return Annotate(absl::StrCat(NameOf(chunk.nchunk), " ", state.chunk_source->Describe(entry)),
                  status);
}

}  // namespace

absl::Status AnnotateChunk(int64_t nchunk, const absl::Status& status) {
  return Annotate(NameOf(nchunk), status);
}

absl::StatusOr<ChunkRef> FindChunk(const State& state, int64_t nchunk) {
  if (IsPartialChunk(state, nchunk)) {
    return ChunkRef{.nchunk = nchunk, .found = {.entry = state.partial.head->entry}};
  }
  const absl::StatusOr<FoundEntry> found = state.chunks.Find(nchunk);
  if (!found.ok()) return found.status();
  return ChunkRef{.nchunk = nchunk, .found = *found};
}

absl::StatusOr<StoredChunk> ReadStored(const State& state, const ChunkRef& chunk,
                                       VerifyPolicy policy, ScratchBuffer& scratch) {
  const int64_t entry = chunk.found.entry.value;
  const bool trusted = policy == VerifyPolicy::kNever ||
                       (policy == VerifyPolicy::kFirstTouch && IsVerified(state, chunk.found));
  const uint64_t fingerprint = trusted ? 0 : state.chunks.FingerprintOf(chunk.found);
  absl::StatusOr<StoredChunk> stored =
      chunk.header != nullptr ? state.chunk_source->ReadWithHeader(*chunk.header, entry, scratch)
                              : state.chunk_source->Read(entry, ReadMode::kMapped, scratch);
  absl::Status status = CheckRead(stored, fingerprint);
  // What the map shows is damage only if the file says the same.
  if (!status.ok()) {
    stored = state.chunk_source->Read(entry, ReadMode::kCopied, scratch);
    status = CheckRead(stored, fingerprint);
  }
  if (!status.ok()) return Explain(state, chunk, std::move(status));
  if (fingerprint != 0) MarkVerified(state, chunk.found);
  return stored;
}

absl::StatusOr<StoredChunk> ReadStored(const State& state, int64_t nchunk, VerifyPolicy policy,
                                       ScratchBuffer& scratch) {
  CAIRN_ASSIGN_OR_RETURN(const ChunkRef chunk, FindChunk(state, nchunk));
  return ReadStored(state, chunk, policy, scratch);
}

}  // namespace cairn::frame
