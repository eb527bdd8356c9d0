#include "engine/frame/read/verifier.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "engine/base/checked.h"
#include "engine/base/hash.h"
#include "engine/base/status.h"
#include "engine/format/b2nd.h"
#include "engine/format/index_entry.h"
#include "engine/format/seal.h"
#include "engine/frame/array/array_fit.h"
#include "engine/frame/read/chunk_reader.h"
#include "engine/frame/read/read_ahead.h"
#include "engine/frame/read/stored_chunk.h"
#include "engine/frame/state/vlmetalayers.h"

namespace cairn::frame {

namespace {

// Chunks between two calls of `progress`.
constexpr int64_t kProgressStep = 64;
// Further findings tell nothing new.
constexpr size_t kMaxFindings = 1000;
// Contents are decoded in pieces of about this size.
constexpr int64_t kPieceSize = 16 << 20;

// Describes the part of the header that differs from the sealed one.
std::string WhatChanged(const std::vector<std::string>& metalayers) {
  if (metalayers.empty()) return "the thread counts in the header";
  return absl::StrCat(metalayers.size() == 1 ? "the metalayer " : "the metalayers ",
                      absl::StrJoin(metalayers, ", "));
}

absl::Status IsStopped() { return absl::CancelledError("verify: stopped"); }

bool IsHeaderOld(const State& state) {
  return state.damage.has_value() && state.damage->newer.has_value();
}

class Verifier {
 public:
  Verifier(const State& state, const JournalCheck& journal, VerifyDepth depth)
      : state_(state),
        replayed_(journal.replayed != nullptr && !IsHeaderOld(state) ? *journal.replayed : state),
        depth_(depth),
        budget_(state) {
    report_.findings = journal.summaries;
  }

  absl::StatusOr<VerifyReport> Run(absl::FunctionRef<bool(int64_t)> progress);

 private:
  void Add(Extent extent, std::string section, const absl::Status& status);
  void CheckIndex();
  // Checks that a frame that says it is empty has no chunks.
  void CheckEmptyFrame();
  // Checks that the chunks are those of the frame's array, if it says that it is one.
  void CheckArray();
  void CheckChunk(int64_t nchunk);
  void AddNotes();
  Extent ExtentOf(int64_t nchunk);
  absl::StatusOr<chunk::Header> ReadHeader(int64_t nchunk);
  absl::StatusOr<int32_t> ReadNbytes(int64_t nchunk);
  absl::Status CheckHeader(int64_t nchunk);
  absl::Status CheckStored(int64_t nchunk);
  absl::Status CheckContent(const ChunkReader& chunk);
  absl::Status CheckBlocks(const chunk::Header& header) const;
  void AddNbytes(std::optional<int64_t> nbytes);
  void Spend(int64_t nchunk, int64_t stored);

  const State& state_;
  const State& replayed_;  // tells which part of the journal is damaged
  const VerifyDepth depth_;
  bool headers_only_ = depth_ == VerifyDepth::kStructure;  // for the chunks to come
  VerifyReport report_;
  std::optional<ArrayGeometry> array_;
  int64_t not_decoded_ = 0;  // chunks that need a codec or filter that this build lacks
  // Decoded bytes of the chunks so far, or nothing if the size of one is not known.
  std::optional<int64_t> nbytes_ = 0;
  ReadBudget budget_;
  ScratchBuffer stored_;
  ScratchBuffer decoded_;
};

void Verifier::Add(Extent extent, std::string section, const absl::Status& status) {
  if (report_.findings.size() == kMaxFindings) {
    ++report_.omitted;
    return;
  }
  report_.findings.push_back(
      {extent.begin, extent.end, std::move(section), std::string(status.message())});
}

void Verifier::CheckIndex() {
  const Extent index = state_.index();
  if (depth_ == VerifyDepth::kStructure || !state_.sealed() || index.size() == 0) return;
  const absl::StatusOr<Bytes> bytes = state_.region.Read(index.begin, index.size(), stored_);
  if (!bytes.ok()) return Add(index, "index", bytes.status());
  report_.bytes_read += index.size();
  const uint64_t expected = state_.checkpoint->seal->index_hash;
  if (const uint64_t got = Xxh3(*bytes); got != expected) {
    Add(index, "index", DataLoss("fingerprint: expected %016x, got %016x", expected, got));
  }
}

void Verifier::CheckEmptyFrame() {
  const format::FrameHeader& header = state_.header();
  const Checkpoint& checkpoint = *state_.checkpoint;
  // A sealed header is as Cairn wrote it.
  if (header.nbytes != 0 || checkpoint.seal_holds || checkpoint.era != Era::kCurrent) return;
  const Extent place = {0, header.header_len};
  const Extent area = {header.header_len, checkpoint.trailer.begin};
  // C-Blosc2 does not change cbytes when it removes the last chunk.
  if (area.size() == 0) return;
  const bool chunks_before = header.layout == Layout::kContiguous;
  const int64_t chunks = chunks_before ? header.cbytes : 0;
  if (!RangeFits(0, chunks, area.size())) {
    const absl::Status status =
        DataLoss("cbytes: expected 0 to %d, got %d", area.size(), header.cbytes);
    return Add(place, "header", status);
  }
  // An index comes next, if there is one.
  const int64_t available = area.size() - chunks;
  if (available == 0) return;
  const absl::StatusOr<Bytes> bytes = state_.region.Read(
      area.begin + chunks, std::min<int64_t>(available, chunk::kHeaderSize), stored_);
  if (!bytes.ok()) return Add(area, "index", bytes.status());
  const absl::StatusOr<chunk::Header> index = chunk::ParseHeader(*bytes, available);
  if (index.ok() && index->nbytes == 0) return;
  if (!index.ok() || index->cbytes != available || index->typesize != format::kIndexTypesize) {
    const absl::Status status = DataLoss("nbytes 0 and cbytes %d, but %d bytes precede the trailer",
                                         header.cbytes, area.size());
    return Add(place, "header", status);
  }
  Add(place, "header",
      DataLoss("nbytes 0, but the index has %d chunks", index->nbytes / format::kIndexTypesize));
}

void Verifier::CheckArray() {
  const Metalayer* const layer = format::FindB2ndLayer(state_.metadata->metalayers);
  if (layer == nullptr) return;
  const absl::StatusOr<ArrayGeometry> array = frame::CheckArray(state_);
  if (array.ok()) {
    array_ = *array;
  } else if (absl::IsUnimplemented(array.status())) {
    report_.notes.push_back(
        absl::StrFormat("not checked whether the chunks fit the %s", array.status().message()));
  } else {
    Add({0, state_.header().header_len}, absl::StrFormat("metalayer %s", layer->name),
        array.status());
  }
}

absl::Status Verifier::CheckBlocks(const chunk::Header& header) const {
  if (!array_.has_value()) return absl::OkStatus();
  return CheckArrayChunk(header, *array_, state_.header().typesize);
}

absl::Status Verifier::CheckContent(const ChunkReader& chunk) {
  const chunk::Decoder* decoder = chunk.decoder();
  const bool blocks = decoder != nullptr && decoder->nblocks() > 0;
  const bool partial = decoder == nullptr && !chunk.stored().empty();
  // A single value shows whether a chunk without blocks can be read, unless it is part of the
  // partial chunk.
  const int64_t nbytes =
      blocks || partial ? chunk.nbytes() : std::min(chunk.nbytes(), state_.header().typesize);
  const int64_t most = std::max<int64_t>(state_.env()->limits.max_decode_memory, 1);
  for (int64_t begin = 0; begin < nbytes;) {
    int64_t end = std::min(begin + std::min(kPieceSize, most), nbytes);
    if (blocks) {
      CAIRN_ASSIGN_OR_RETURN(end, decoder->PieceEnd(begin, kPieceSize));
    }
    const auto size = static_cast<size_t>(end - begin);
    CAIRN_RETURN_IF_ERROR(chunk.Read(begin, decoded_.Get(size)));
    begin = end;
  }
  return absl::OkStatus();
}

// Returns where a chunk is stored, as far as it is known.
Extent Verifier::ExtentOf(int64_t nchunk) {
  if (IsPartialChunk(state_, nchunk) && !state_.partial.head.has_value()) {
    return state_.journal.has_value() ? Extent{state_.journal->begin, state_.journal->end}
                                      : Extent{};
  }
  const absl::StatusOr<ChunkRef> chunk = FindChunk(state_, nchunk);
  if (!chunk.ok() || format::IsSpecialEntry(chunk->found.entry.value)) return state_.index();
  const int64_t entry = chunk->found.entry.value;
  const absl::StatusOr<ChunkLocation> place = state_.chunk_source->Locate(entry);
  if (!place.ok()) return state_.index();
  const absl::StatusOr<chunk::Header> header = state_.chunk_source->ReadHeader(entry, stored_);
  const int64_t size = header.ok() ? header->cbytes : int64_t{chunk::kHeaderSize};
  if (!place->offset.has_value()) return {0, size};  // extent in a file of its own
  return {*place->offset, std::min(*place->offset + size, state_.chunks_end)};
}

// Errors: any for a chunk without a header.
absl::StatusOr<chunk::Header> Verifier::ReadHeader(int64_t nchunk) {
  if (IsPartialChunk(state_, nchunk)) return absl::NotFoundError("the partial chunk has no header");
  CAIRN_ASSIGN_OR_RETURN(const IndexEntry entry, state_.chunks.Get(nchunk));
  if (format::IsSpecialEntry(entry.value)) return absl::NotFoundError("is in the index");
  return state_.chunk_source->ReadHeader(entry.value, stored_);
}

// Returns the decoded size of a chunk. Reads only its header, however large the chunk is.
absl::StatusOr<int32_t> Verifier::ReadNbytes(int64_t nchunk) {
  if (const auto header = ReadHeader(nchunk); header.ok()) {
    CAIRN_RETURN_IF_ERROR(AnnotateChunk(nchunk, CheckChunkNbytes(state_, header->nbytes)));
    CAIRN_ASSIGN_OR_RETURN(const int32_t expected, ChunkNbytes(state_, nchunk));
    if (header->nbytes != expected) {
      return DataLoss("chunk %d: nbytes: expected %d, got %d", nchunk, expected, header->nbytes);
    }
    CAIRN_RETURN_IF_ERROR(AnnotateChunk(nchunk, CheckBlocks(*header)));
    return expected;
  }
  // A chunk without a header of its own costs nothing, and neither does a damaged one.
  const absl::StatusOr<ChunkReader> chunk =
      ChunkReader::Open(state_, nchunk, VerifyPolicy::kNever, stored_);
  if (!chunk.ok()) return chunk.status();
  return chunk->nbytes();
}

absl::Status Verifier::CheckHeader(int64_t nchunk) {
  const absl::StatusOr<int32_t> nbytes = ReadNbytes(nchunk);
  AddNbytes(nbytes.ok() ? std::optional<int64_t>(*nbytes) : std::nullopt);
  return nbytes.status();
}

absl::Status Verifier::CheckStored(int64_t nchunk) {
  const absl::StatusOr<ChunkReader> chunk =
      ChunkReader::Open(state_, nchunk, VerifyPolicy::kAlways, stored_);
  AddNbytes(chunk.ok() ? std::optional<int64_t>(chunk->nbytes()) : std::nullopt);
  if (!chunk.ok()) {
    const absl::StatusOr<chunk::Header> header = ReadHeader(nchunk);
    Spend(nchunk, header.ok() ? header->cbytes : 0);
    return chunk.status();
  }
  const int64_t stored = std::ssize(chunk->stored());
  report_.bytes_read += stored;
  absl::Status status = depth_ == VerifyDepth::kContents ? CheckContent(*chunk) : absl::OkStatus();
  Spend(nchunk, stored);
  if (!status.ok() || chunk->decoder() == nullptr) return status;
  return AnnotateChunk(nchunk, CheckBlocks(chunk->decoder()->header()));
}

void Verifier::AddNbytes(std::optional<int64_t> nbytes) {
  nbytes_ =
      nbytes_.has_value() && nbytes.has_value() ? CheckedAdd(*nbytes_, *nbytes) : std::nullopt;
}

void Verifier::CheckChunk(int64_t nchunk) {
  const absl::Status status = headers_only_ ? CheckHeader(nchunk) : CheckStored(nchunk);
  if (absl::IsUnimplemented(status)) {
    ++not_decoded_;
  } else if (!status.ok()) {
    Add(ExtentOf(nchunk), absl::StrFormat("chunk %d", nchunk), status);
  }
}

// Reads only headers once chunks overlap.
void Verifier::Spend(int64_t nchunk, int64_t stored) {
  const absl::Status status = budget_.Spend(nchunk, stored);
  if (status.ok()) return;
  Add(state_.index(), "index", status);
  headers_only_ = true;
}

void Verifier::AddNotes() {
  std::vector<std::string>& notes = report_.notes;
  const Checkpoint& checkpoint = *state_.checkpoint;
  if (const Extent& skipped = replayed_.journal_skipped; skipped.size() > 0) {
    notes.push_back(absl::StrFormat("journal: no commit needs bytes %d to %d, which cannot be read",
                                    skipped.begin, skipped.end));
  }
  if (not_decoded_ > 0) {
    notes.push_back(absl::StrFormat(
        "%d chunks need a codec or filter that is not here: not decoded", not_decoded_));
  }
  if (state_.sealed() || !checkpoint.trailer_damage.ok() || replayed_.damage.has_value()) return;
  const std::optional<format::Seal>& seal = checkpoint.seal;
  if (checkpoint.header_changed_outside) {
    notes.push_back(absl::StrFormat("not sealed: another Blosc2, or damage, changed %s",
                                    WhatChanged(state_.info().changed_metalayers)));
  } else if (seal.has_value() && checkpoint.fingerprint != FingerprintType::kNone) {
    notes.push_back(absl::StrFormat("not sealed: %d chunks by another Blosc2 have no fingerprint",
                                    seal->uncovered));
  } else if (seal.has_value() && seal->type != FingerprintType::kNone) {
    notes.push_back(absl::StrFormat("not sealed: changed by another Blosc2 after generation %d",
                                    seal->generation));
  } else if (!LeavesRoomForSeal(state_.metadata->vlmetalayers.size())) {
    notes.push_back(absl::StrFormat("not sealed: %d vlmetalayers leave no space for the seal",
                                    state_.metadata->vlmetalayers.size()));
  } else {
    notes.push_back("not sealed: there are no fingerprints");
  }
}

absl::StatusOr<VerifyReport> Verifier::Run(absl::FunctionRef<bool(int64_t)> progress) {
  const Checkpoint& checkpoint = *state_.checkpoint;
  report_.sealed = state_.sealed() && !replayed_.damage.has_value();
  report_.nchunks = CountChunks(state_);
  if (!checkpoint.trailer_damage.ok())
    Add(checkpoint.trailer, "trailer", checkpoint.trailer_damage);
  CheckIndex();
  CheckEmptyFrame();
  if (replayed_.damage.has_value()) {
    Add(replayed_.damage->bytes, IsHeaderOld(replayed_) ? "header" : "journal",
        replayed_.JournalStatus());
  }
  CheckArray();
  ReadAhead ahead(state_, 0, report_.nchunks,
                  headers_only_ ? ReadAhead::Part::kHeader : ReadAhead::Part::kAll);
  for (int64_t i = 0; i < report_.nchunks; ++i) {
    ahead.Reach(i);
    CheckChunk(i);
    const bool last = i + 1 == report_.nchunks;
    if ((last || i % kProgressStep == 0) && !progress(i + 1)) return IsStopped();
  }
  if (nbytes_.has_value() && *nbytes_ != state_.nbytes) {
    Add({0, state_.header().header_len}, "header",
        DataLoss("nbytes %d, but the chunks hold %d", state_.nbytes, *nbytes_));
  }
  for (const VlMetalayer& layer : state_.metadata->vlmetalayers) {
    if (depth_ == VerifyDepth::kContents && checkpoint.trailer_damage.ok()) {
      const absl::Status status = DecodeVlLayer(*state_.env(), layer, false).status();
      if (absl::IsResourceExhausted(status)) {
        report_.notes.push_back(absl::StrFormat("not checked: %s", status.message()));
      } else if (!status.ok()) {
        Add(checkpoint.trailer, DescribeVlLayer(layer), status);
      }
    }
    if (!progress(report_.nchunks)) return IsStopped();
  }
  AddNotes();
  return std::move(report_);
}

}  // namespace

absl::StatusOr<VerifyReport> VerifyState(const State& state, const JournalCheck& journal,
                                         VerifyDepth depth,
                                         absl::FunctionRef<bool(int64_t)> progress) {
  return Verifier(state, journal, depth).Run(progress);
}

}  // namespace cairn::frame
