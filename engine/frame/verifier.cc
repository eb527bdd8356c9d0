#include "engine/frame/verifier.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"
#include "engine/frame/chunk_reader.h"
#include "engine/frame/vl_layers.h"

namespace cairn::frame {

namespace {

// How many chunks go by between two calls of `progress`.
constexpr int64_t kProgressStep = 64;

std::string ReasonOf(const absl::Status& status) { return std::string(status.message()); }

class Verifier {
 public:
  Verifier(const State& state, VerifyDepth depth) : state_(state), depth_(depth) {
    report_.sealed = state.info.sealed;
  }

  void CheckIndex();
  void CheckChunk(int64_t nchunk);
  void CheckVlMetalayers();
  void AddNotes();
  VerifyReport Take() && { return std::move(report_); }

 private:
  void Add(Extent extent, std::string section, const absl::Status& status) {
    report_.findings.push_back({extent.begin, extent.end, std::move(section), ReasonOf(status)});
  }

  absl::Status CheckStored(int64_t nchunk, const IndexEntry& entry, Extent& extent);
  absl::Status CheckContent(const OpenChunk& chunk);

  const State& state_;
  VerifyDepth depth_;
  VerifyReport report_;
  chunk::ScratchBuffer stored_;
  chunk::ScratchBuffer decoded_;
};

void Verifier::CheckIndex() {
  if (depth_ == VerifyDepth::kStructure || !state_.info.sealed || state_.index.size() == 0) return;
  const absl::StatusOr<Bytes> bytes =
      state_.region.Read(state_.index.begin, state_.index.size(), stored_);
  if (!bytes.ok()) return Add(state_.index, "index", bytes.status());
  report_.bytes_read += state_.index.size();
  if (const uint64_t got = Xxh3(*bytes); got != state_.seal->index_hash) {
    Add(state_.index, "index",
        DataLoss("fingerprint: expected %016x, got %016x", state_.seal->index_hash, got));
  }
}

absl::Status Verifier::CheckContent(const OpenChunk& chunk) {
  if (chunk.nbytes() > state_.env->limits.max_chunk_nbytes) {
    return ResourceExhausted("nbytes %d passes the limit of %d", chunk.nbytes(),
                             state_.env->limits.max_chunk_nbytes);
  }
  // One value shows whether a special chunk of the index can be read.
  const bool stored = chunk.decoder() != nullptr;
  const int32_t size = stored ? chunk.nbytes() : std::min(chunk.nbytes(), state_.header.typesize);
  return chunk.Read(0, decoded_.Get(static_cast<size_t>(size)));
}

absl::Status Verifier::CheckStored(int64_t nchunk, const IndexEntry& entry, Extent& extent) {
  CAIRN_ASSIGN_OR_RETURN(const int64_t position, PositionOf(state_, nchunk, entry.value));
  const int64_t available = state_.chunks_end - position;
  extent = {position, position + std::min<int64_t>(available, chunk::kHeaderSize)};
  CAIRN_ASSIGN_OR_RETURN(const Bytes head, state_.region.Read(position, extent.size(), stored_));
  CAIRN_ASSIGN_OR_RETURN(const chunk::Header header, chunk::ParseHeader(head, available));
  extent.end = position + header.cbytes;
  if (depth_ == VerifyDepth::kStructure || entry.fingerprint == 0) return absl::OkStatus();
  CAIRN_ASSIGN_OR_RETURN(const Bytes bytes, state_.region.Read(position, header.cbytes, stored_));
  report_.bytes_read += header.cbytes;
  if (const uint64_t got = format::HashChunk(bytes); got != entry.fingerprint) {
    return DataLoss("fingerprint: expected %016x, got %016x", entry.fingerprint, got);
  }
  return absl::OkStatus();
}

void Verifier::CheckChunk(int64_t nchunk) {
  const std::string section = absl::StrFormat("chunk %d", nchunk);
  const absl::StatusOr<IndexEntry> entry = state_.chunks.Get(nchunk);
  if (!entry.ok()) return Add(state_.index, section, entry.status());
  Extent extent = state_.index;
  if (!format::IsSpecialEntry(entry->value)) {
    if (absl::Status status = CheckStored(nchunk, *entry, extent); !status.ok()) {
      return Add(extent, section, status);
    }
  }
  const absl::StatusOr<OpenChunk> chunk = OpenChunk::Open(state_, nchunk, stored_);
  absl::Status status = chunk.status();
  if (status.ok() && depth_ == VerifyDepth::kContents) status = CheckContent(*chunk);
  if (!status.ok()) Add(extent, section, status);
}

void Verifier::CheckVlMetalayers() {
  if (depth_ != VerifyDepth::kContents) return;
  for (const VlLayer& layer : state_.vlmetalayers) {
    if (absl::Status status = DecodeVlLayer(*state_.env, layer).status(); !status.ok()) {
      Add(state_.trailer, "vlmetalayer " + layer.name, status);
    }
  }
}

void Verifier::AddNotes() {
  if (state_.info.sealed) return;
  const std::optional<format::Seal>& seal = state_.seal;
  if (state_.header_changed_outside) {
    report_.notes.push_back("not sealed: another Blosc2 changed metalayers in the header");
  } else if (seal.has_value() && state_.info.fingerprint != FingerprintType::kNone) {
    report_.notes.push_back(absl::StrFormat(
        "not sealed: %d chunks by another Blosc2 have no fingerprint", seal->uncovered));
  } else if (seal.has_value() && seal->type != FingerprintType::kNone) {
    report_.notes.push_back(absl::StrFormat(
        "not sealed: changed by another Blosc2 after generation %d", seal->generation));
  } else if (!LeavesRoomForSeal(state_.vlmetalayers.size())) {
    report_.notes.push_back(absl::StrFormat(
        "not sealed: %d vlmetalayers leave no room for the seal", state_.vlmetalayers.size()));
  } else {
    report_.notes.push_back("not sealed: there are no fingerprints");
  }
}

}  // namespace

absl::StatusOr<VerifyReport> VerifyState(const State& state, VerifyDepth depth,
                                         absl::FunctionRef<bool(int64_t)> progress) {
  Verifier verifier(state, depth);
  verifier.CheckIndex();
  const int64_t nchunks = state.chunks.size();
  for (int64_t i = 0; i < nchunks; ++i) {
    verifier.CheckChunk(i);
    if (i % kProgressStep == 0 && !progress(i)) return absl::CancelledError("verify: stopped");
  }
  verifier.CheckVlMetalayers();
  verifier.AddNotes();
  VerifyReport report = std::move(verifier).Take();
  report.nchunks = nchunks;
  return report;
}

}  // namespace cairn::frame
